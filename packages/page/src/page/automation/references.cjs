'use strict';

// The references that WebDriver's clients have to elements, shadow roots and windows.
// https://www.w3.org/TR/webdriver2/#nodes
//
// A reference is `PAGE.DOCUMENT.FRAME.NUMBER`. The first three parts name the window and its document, and come from
// the host: see host/automation.cjs.

const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const Element = require('jsdom/lib/generated/idl/Element.js');
const FileList = require('jsdom/lib/generated/idl/FileList.js');
const HTMLCollection = require('jsdom/lib/generated/idl/HTMLCollection.js');
const NodeList = require('jsdom/lib/generated/idl/NodeList.js');
const ShadowRoot = require('jsdom/lib/generated/idl/ShadowRoot.js');

const { thread } = require('../thread/thread.cjs');
const { addressOf } = require('../frames/remote-window.cjs');

/** @typedef {import('../../window/contracts.js').WebDriverReferences} WebDriverReferences */

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const SHADOW = 'shadow-6066-11e4-a52e-4f735466cecf';
const WINDOW = 'window-fcc6-11e5-b4f8-330a88ab9d7f';
const FRAME = 'frame-075b-4da1-b6ba-e579c2d3230a';

/** A command failed, with the protocol's error code. */
class Refusal extends Error {
  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** @type {WeakMap<object, number>} */
const numbers = new WeakMap();
/** By number, as long as the node exists. @type {Map<number, WeakRef<Jsdom.NodeImpl>>} */
const nodes = new Map();
let nextNode = 1;

const cleanUp = new FinalizationRegistry((/** @type {number} */ number) => nodes.delete(number));

/** @param {Jsdom.NodeImpl} impl */
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

/**
 * @param {Jsdom.NodeImpl} impl
 * @param {Jsdom.Window} window
 */
function isStale(impl, window) {
  return impl.getRootNode({ composed: true }) !== window._document;
}

class References {
  #window;
  #prefix;
  #handle;

  /**
   * @param {Jsdom.Window} window whose elements are meant
   * @param {{ prefix: string, handle: string }} names the beginning of the window's references, and the handle of the
   *   page's outermost one
   */
  constructor(window, { prefix, handle }) {
    this.#window = window;
    this.#prefix = prefix;
    this.#handle = handle;
  }

  /** @param {Jsdom.NodeImpl} impl */
  toElement(impl) {
    return { [ELEMENT]: `${this.#prefix}.${numberOf(impl)}` };
  }

  /** @param {Jsdom.NodeImpl} impl */
  toShadowRoot(impl) {
    return { [SHADOW]: `${this.#prefix}.${numberOf(impl)}` };
  }

  /** https://www.w3.org/TR/webdriver2/#dfn-get-a-known-element @param {unknown} id @returns {Jsdom.ElementImpl} */
  element(id) {
    return /** @type {Jsdom.ElementImpl} */ (
      this.#node(id, 'element', Element, 'no such element', 'stale element reference')
    );
  }

  /** @param {unknown} id */
  shadowRoot(id) {
    return this.#node(id, 'shadow root', ShadowRoot, 'no such shadow root', 'detached shadow root');
  }

  /**
   * @param {unknown} id
   * @param {string} what for messages
   * @param {Jsdom.Interface} type
   * @param {string} missing the protocol's error code for a reference that does not exist
   * @param {string} stale the error code for a node that has left the document
   */
  #node(id, what, type, missing, stale) {
    const [page, document, frame, number, ...rest] = String(id).split('.');
    const [ownPage, ownDocument, ownFrame] = this.#prefix.split('.');
    if (rest.length > 0 || number === undefined || page !== ownPage)
      throw new Refusal(missing, `the reference names no ${what} of this page`);
    if (document !== ownDocument) throw new Refusal(stale, `the ${what} belongs to a document that was unloaded`);
    const impl = nodes.get(Number(number))?.deref();
    if (frame !== ownFrame) throw new Refusal(missing, `the ${what} belongs to another frame`);
    if (impl === undefined && Number(number) < nextNode && Number(number) > 0)
      throw new Refusal(stale, `the ${what} no longer exists`);
    if (impl === undefined || !type.isImpl(impl))
      throw new Refusal(missing, `the reference names no ${what} of this page`);
    if (isStale(impl, this.#window)) throw new Refusal(stale, `the ${what} is no longer in the document`);
    return impl;
  }

  /**
   * What window/webdriver-json.cjs gets. Errors are returned, so that nothing is thrown into the window's realm.
   *
   * @returns {WebDriverReferences}
   */
  forWindow() {
    return { describe: (value) => this.#describe(value), resolve: (object) => this.#resolve(object) };
  }

  /** @type {WebDriverReferences['describe']} */
  #describe(value) {
    const impl = idlUtils.implForWrapper(value);
    const isElement = Element.isImpl(impl);
    if (isElement || ShadowRoot.isImpl(impl)) {
      if (isStale(impl, this.#window)) {
        return {
          error: {
            code: isElement ? 'stale element reference' : 'detached shadow root',
            message: 'the node is not in the document',
          },
        };
      }
      return { text: JSON.stringify(isElement ? this.toElement(impl) : this.toShadowRoot(impl)) };
    }
    if (NodeList.isImpl(impl) || HTMLCollection.isImpl(impl) || FileList.isImpl(impl)) return { isCollection: true };
    const pageWindow = thread.windows.all().find(({ window }) => window === value || window._globalProxy === value);
    if (pageWindow !== undefined) {
      const isTop = pageWindow.window._top === pageWindow.window._globalProxy;
      return {
        text: JSON.stringify(isTop ? { [WINDOW]: this.#handle } : { [FRAME]: `${this.#prefix}.${pageWindow.frame}` }),
      };
    }
    const address = addressOf(this.#window, value);
    if (address !== undefined)
      return { text: JSON.stringify({ [FRAME]: `${this.#prefix}.${address.thread}/${address.frame}` }) };
    return {};
  }

  /** @type {WebDriverReferences['resolve']} */
  #resolve(object) {
    try {
      if (Object.hasOwn(object, ELEMENT)) return { value: idlUtils.wrapperForImpl(this.element(object[ELEMENT])) };
      if (Object.hasOwn(object, SHADOW)) return { value: idlUtils.wrapperForImpl(this.shadowRoot(object[SHADOW])) };
      if (Object.hasOwn(object, WINDOW)) {
        if (object[WINDOW] !== this.#handle) throw new Refusal('no such window', 'the reference names another window');
        return { value: this.#window._top };
      }
      if (Object.hasOwn(object, FRAME)) {
        const id = String(object[FRAME]);
        const number = Number(id.slice(id.lastIndexOf('.') + 1));
        const pageWindow = id.startsWith(this.#prefix.slice(0, this.#prefix.lastIndexOf('.') + 1))
          ? thread.windows.ofFrame(number)
          : undefined;
        if (pageWindow === undefined)
          throw new Refusal('no such frame', 'the frame was removed, or is of another origin');
        return { value: pageWindow.window._globalProxy };
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
    return undefined;
  }
}

module.exports = { References, Refusal };
