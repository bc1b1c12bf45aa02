'use strict';

// Elements, shadow roots and windows, and what WebDriver's clients call them. https://www.w3.org/TR/webdriver2/#nodes
//
// A reference is `PAGE.DOCUMENT.FRAME.NUMBER`, where the first three say which window of which document it belongs to, and
// come from the page's user: see page/automation.cjs.

const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const Element = require('jsdom/lib/generated/idl/Element.js');
const FileList = require('jsdom/lib/generated/idl/FileList.js');
const HTMLCollection = require('jsdom/lib/generated/idl/HTMLCollection.js');
const NodeList = require('jsdom/lib/generated/idl/NodeList.js');
const ShadowRoot = require('jsdom/lib/generated/idl/ShadowRoot.js');

const realms = require('../realms.cjs');
const { addressOf } = require('../remote-window.cjs');

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const SHADOW = 'shadow-6066-11e4-a52e-4f735466cecf';
const WINDOW = 'window-fcc6-11e5-b4f8-330a88ab9d7f';
const FRAME = 'frame-075b-4da1-b6ba-e579c2d3230a';

/** What cannot be done, with the protocol's code for it. */
class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const numbers = new WeakMap();
/** By number, as long as somebody has the node. */
const nodes = new Map();
let nextNode = 1;

const cleanUp = new FinalizationRegistry((number) => nodes.delete(number));

function numberOf(impl) {
  let number = numbers.get(impl);
  if (number === undefined) {
    number = nextNode++;
    numbers.set(impl, number);
    nodes.set(number, new WeakRef(impl));
    cleanUp.register(impl, number);
  }
  return number;
}

function isStale(impl, window) {
  return impl.getRootNode({ composed: true }) !== window._document;
}

class References {
  #window;
  #prefix;
  #handle;

  /**
   * @param {object} window whose elements are meant
   * @param {{ prefix: string, handle: string }} names of the window, and of the page's outermost one
   */
  constructor(window, { prefix, handle }) {
    this.#window = window;
    this.#prefix = prefix;
    this.#handle = handle;
  }

  /** A reference to an element of the window. @param {object} impl */
  toElement(impl) {
    return { [ELEMENT]: `${this.#prefix}.${numberOf(impl)}` };
  }

  toShadowRoot(impl) {
    return { [SHADOW]: `${this.#prefix}.${numberOf(impl)}` };
  }

  /** https://www.w3.org/TR/webdriver2/#dfn-get-a-known-element */
  element(id) {
    return this.#node(id, 'element', Element, 'no such element', 'stale element reference');
  }

  shadowRoot(id) {
    return this.#node(id, 'shadow root', ShadowRoot, 'no such shadow root', 'detached shadow root');
  }

  #node(id, what, type, missing, stale) {
    const [page, document, frame, number, ...rest] = String(id).split('.');
    const [ownPage, ownDocument, ownFrame] = this.#prefix.split('.');
    if (rest.length > 0 || number === undefined || page !== ownPage) throw new Refusal(missing, `there was never such an ${what}`);
    if (document !== ownDocument) throw new Refusal(stale, `the ${what} belongs to a document that is gone`);
    const impl = nodes.get(Number(number))?.deref();
    if (frame !== ownFrame) throw new Refusal(missing, `the ${what} belongs to another frame`);
    if (impl === undefined && Number(number) < nextNode && Number(number) > 0) throw new Refusal(stale, `the ${what} is gone`);
    if (impl === undefined || !type.isImpl(impl)) throw new Refusal(missing, `there was never such an ${what}`);
    if (isStale(impl, this.#window)) throw new Refusal(stale, `the ${what} is no longer in the document`);
    return impl;
  }

  /** What window/json.cjs asks about each object. Nothing is thrown over the border. */
  forWindow() {
    return { describe: (value) => this.#describe(value), resolve: (object) => this.#resolve(object) };
  }

  #describe(value) {
    const impl = idlUtils.implForWrapper(value);
    const isElement = Element.isImpl(impl);
    if (isElement || ShadowRoot.isImpl(impl)) {
      if (isStale(impl, this.#window)) {
        return { error: { code: isElement ? 'stale element reference' : 'detached shadow root', message: 'it is not in the document' } };
      }
      return { text: JSON.stringify(isElement ? this.toElement(impl) : this.toShadowRoot(impl)) };
    }
    if (NodeList.isImpl(impl) || HTMLCollection.isImpl(impl) || FileList.isImpl(impl)) return { isCollection: true };
    const realm = realms.all().find(({ window }) => window === value || window._globalProxy === value);
    if (realm !== undefined) {
      const isTop = realm.window._top === realm.window._globalProxy;
      return { text: JSON.stringify(isTop ? { [WINDOW]: this.#handle } : { [FRAME]: `${this.#prefix}.${realm.id}` }) };
    }
    const address = addressOf(this.#window, value);
    if (address !== undefined) return { text: JSON.stringify({ [FRAME]: `${this.#prefix}.${address.site}/${address.frame}` }) };
    return {};
  }

  #resolve(object) {
    try {
      if (Object.hasOwn(object, ELEMENT)) return { value: idlUtils.wrapperForImpl(this.element(object[ELEMENT])) };
      if (Object.hasOwn(object, SHADOW)) return { value: idlUtils.wrapperForImpl(this.shadowRoot(object[SHADOW])) };
      if (Object.hasOwn(object, WINDOW)) {
        if (object[WINDOW] !== this.#handle) throw new Refusal('no such window', 'it is not the window of this page');
        return { value: this.#window._top };
      }
      if (Object.hasOwn(object, FRAME)) {
        const id = String(object[FRAME]);
        const number = Number(id.slice(id.lastIndexOf('.') + 1));
        const realm = id.startsWith(this.#prefix.slice(0, this.#prefix.lastIndexOf('.'))) ? realms.byFrame(number) : undefined;
        if (realm === undefined) throw new Refusal('no such frame', 'the frame is gone, or of another origin');
        return { value: realm.window._globalProxy };
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
    return undefined;
  }
}

module.exports = { References, Refusal };
