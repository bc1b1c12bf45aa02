'use strict';

// Stands in for jsdom's `living/nodes/HTMLFrameElement-impl.js`: iframes and frames, each with a window and a realm of
// its own. https://html.spec.whatwg.org/multipage/iframe-embed-object.html#process-the-iframe-attributes

const { thread } = require('../thread/thread.cjs');
const { parseURL, serializeURL } = require('whatwg-url');

const DOMTokenList = require('jsdom/lib/generated/idl/DOMTokenList.js');
const HTMLElementImpl = require('jsdom/lib/jsdom/living/nodes/HTMLElement-impl.js').implementation;
const { createElement } = require('jsdom/lib/jsdom/living/helpers/create-element.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { HTML_NS } = require('jsdom/lib/jsdom/living/helpers/namespaces.js');
const selectors = require('jsdom/lib/jsdom/living/css/helpers/selectors.js');

const { isAllowedWhenEmpty } = require('../../fetch/isolation-policy.cjs');
const { combine, readSandbox } = require('../../fetch/sandbox.cjs');
const { frameReferrer } = require('./frame-referrer.cjs');
const { evaluateJavaScriptURL } = require('../jsdom/navigation.cjs');
const { frameWindow, setAddress } = require('./remote-window.cjs');
const { unload } = require('../jsdom/unloading.cjs');

/** @typedef {import('./remote-window.cjs').WindowAddress} WindowAddress */

/** @typedef {import('../windows/page-window.cjs').ShownDocument} ShownDocument */

/**
 * How frames open documents. documents.cjs provides it: jsdom's window needs this file, so this file cannot require
 * that one.
 *
 * @typedef {object} Documents
 * @property {(window: Jsdom.Window) => void} closeWindow
 * @property {(document: ShownDocument, options: { referrer: string, parent: Jsdom.Window }) => Jsdom.Window} openWindow
 * @property {(window: Jsdom.Window, content: Uint8Array | string, contentType?: string) => void} parse
 * @property {(window: Jsdom.Window, document: ShownDocument, referrer: string) => void} replaceBlank
 */

/** @type {Documents} */
let documents;

/** Those of browsers. Two of them make a difference here: see fetch/sandbox.cjs. */
const SANDBOX_TOKENS = new Set([
  'allow-downloads',
  'allow-forms',
  'allow-modals',
  'allow-orientation-lock',
  'allow-pointer-lock',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-presentation',
  'allow-same-origin',
  'allow-scripts',
  'allow-storage-access-by-user-activation',
  'allow-top-navigation',
  'allow-top-navigation-by-user-activation',
  'allow-top-navigation-to-custom-protocols',
]);

/** How deep frames may be nested in one another: each is a realm with its own intrinsics. */
const MAX_DEPTH = 16;

/** Frame elements, by the numbers that other threads use for them. @type {Map<number, HTMLFrameElementImpl>} */
const numbered = new Map();
let nextNumber = 1;

class HTMLFrameElementImpl extends HTMLElementImpl {
  /** @type {Jsdom.DocumentImpl | null} */
  _contentDocument = null;
  #number = 0;
  /** The list `sandbox`, once it was asked for. @type {any} */
  #tokens;
  /** The window of another thread that the frame shows. @type {object | null} */
  #remote = null;
  /**
   * The same, or the one that it has shown before: what a page sees of windows of other origins in the frame.
   *
   * @type {object | null}
   */
  #proxy = null;
  /**
   * Lets the `load` event of the containing document happen, which waits for the remote window.
   *
   * @type {(() => void) | null}
   */
  #stopWaitingForRemote = null;
  /** Aborts the request of the pending navigation. @type {(() => void) | null} */
  #abort = null;
  /**
   * Lets the `load` event of the containing document happen, which waits for the request.
   *
   * @type {(() => void) | null}
   */
  #stopDelayingLoad = null;
  /** How often it was removed. */
  #removals = 0;
  /** Whether the last listeners of its document are running. */
  #isUnloading = false;
  /** Whether the window is still the one that was made with the frame; the first document is loaded into it. */
  #isFresh = false;

  /**
   * @param {string} localName
   * @param {string | null} oldValue
   * @param {string | null} value
   * @param {string | null} namespace
   */
  _attributeChangeSteps(localName, oldValue, value, namespace) {
    super._attributeChangeSteps(localName, oldValue, value, namespace);
    if (namespace === null && localName === 'sandbox') this.#tokens?.attrModified();
    if (namespace !== null || (localName !== 'src' && localName !== 'srcdoc')) return;
    if (this.isConnected && this._ownerDocument._defaultView && this.contentWindow !== null) this.#process(false);
  }

  _postConnectionSteps() {
    if (!this._ownerDocument._defaultView || this._contentDocument !== null || this.#remote !== null) return;
    this.#number = nextNumber++;
    numbered.set(this.#number, this);
    this.#process(true);
  }

  /**
   * @param {boolean} isSubtreeRoot
   * @param {object} oldAncestor
   */
  _removingSteps(isSubtreeRoot, oldAncestor) {
    super._removingSteps(isSubtreeRoot, oldAncestor);
    numbered.delete(this.#number);
    this.#removals += 1;
    this.#cancel();
    this.#proxy = null;
    this.#closeContent();
    refreshFrameAccessors(this._ownerDocument);
  }

  /** @param {boolean} isInitial whether the frame was just inserted */
  #process(isInitial) {
    const parent = this._ownerDocument;
    if (parent._isDestroyed || depthOf(parent) >= MAX_DEPTH) return;
    const blank = this.#localDocument('about:blank');
    if (isInitial && blank.sandbox?.allowsSameOrigin) this.#openBlank(blank);
    else if (isInitial) this.#openRemote();
    const srcdoc = this.#iframeAttribute('srcdoc');
    if (srcdoc !== null) {
      this.#cancel();
      if (this.#isRestricted) this.#fetch('about:srcdoc', { text: srcdoc });
      else this.#show(this.#localDocument('about:srcdoc'), srcdoc);
      return;
    }
    this.#navigate(this.#src ?? /** @type {Jsdom.UrlRecord} */ (parseURL('about:blank')), isInitial);
  }

  /**
   * Follows a link, or an assignment to `location`, inside the frame. A page can keep the window of one that was
   * removed.
   *
   * @param {Jsdom.UrlRecord} url
   */
  _navigate(url) {
    if (this.isConnected) this.#navigate(url, false);
  }

  /**
   * The same for a window in another thread, which has asked for it.
   *
   * @param {{ url: string, referrer: string, asker: number }} asked by which thread of the page
   */
  _navigateAsAsked(asked) {
    this.#fetch(asked.url, { asked });
  }

  /** The URL in the attribute `src`. */
  get #src() {
    const src = this.getAttributeNS(null, 'src') ?? '';
    return src === '' ? null : this._ownerDocument.encodingParseAURL(src);
  }

  /** An attribute that only iframes have. @param {string} name */
  #iframeAttribute(name) {
    return this._localName === 'iframe' ? this.getAttributeNS(null, name) : null;
  }

  /** What its attribute `sandbox` allows. */
  get #sandbox() {
    return readSandbox(this.#iframeAttribute('sandbox'));
  }

  /** The window around the frame. */
  get #around() {
    return thread.windows.get(this._ownerDocument._globalObject);
  }

  /** Whether the frame, or one around it, is sandboxed: then the host has to know about each document in it. */
  get #isRestricted() {
    return this.#iframeAttribute('sandbox') !== null || this.#around.isRestricted;
  }

  /** What an empty document in the frame, or one of `srcdoc`, may do. @param {string} url @returns {ShownDocument} */
  #localDocument(url) {
    const { document, client, isIsolated } = this.#around;
    return {
      url,
      embedderPolicy: client.embedderPolicy,
      isIsolated: isIsolated && isAllowedWhenEmpty(this.#iframeAttribute('allow')),
      isolated: document.isolated,
      sandbox: combine(document.sandbox, this.#sandbox),
    };
  }

  /** Shows a window of another thread, which a sandboxed frame has before the thread is there. */
  #openRemote() {
    this.#isFresh = false;
    this.#proxy ??= frameWindow(this._ownerDocument._globalObject, this.#remotePosition());
    this.#remote = this.#proxy;
    refreshFrameAccessors(this._ownerDocument);
    return this.#proxy;
  }

  _remoteLoaded() {
    if (this.#remote === null) return;
    fireAnEvent('load', this);
    this.#stopWaitingForRemote?.();
    this.#stopWaitingForRemote = null;
  }

  /**
   * @param {Jsdom.UrlRecord} url
   * @param {boolean} isInitial
   */
  #navigate(url, isInitial) {
    this.#cancel();
    if (url.scheme === 'javascript') {
      // Not in a window of another origin.
      if (this._contentDocument === null) {
        if (isInitial) this.#fetch('about:blank');
        return;
      }
      const { URL: shown, _globalObject: window } = this._contentDocument;
      const result = evaluateJavaScriptURL(window, url);
      // The script can have removed the frame, or shown something else in it.
      if (this._contentDocument?._globalObject !== window) return;
      if (typeof result === 'string') {
        const { sandbox } = thread.windows.get(window).document;
        this.#show({ ...this.#localDocument(shown), sandbox }, result);
      } else if (isInitial) {
        this.#completeBlank();
      }
      return;
    }
    if (/^about:(?:blank(?:[?#]|$)|srcdoc$)/.test(serializeURL(url))) {
      if (this.#isRestricted) {
        this.#fetch('about:blank');
        return;
      }
      if (isInitial) this.#completeBlank();
      else this.#show(this.#localDocument(serializeURL(url)), '<html><head></head><body></body></html>');
      return;
    }
    this.#fetch(serializeURL(url));
  }

  /** Opens an empty document at once. @param {ShownDocument} blank */
  #openBlank(blank) {
    this.#adopt(blank, this._ownerDocument.URL);
    this.#isFresh = true;
    const document = this.#document;
    const html = createElement(document, 'html', HTML_NS);
    document.appendChild(html);
    html.appendChild(createElement(document, 'head', HTML_NS));
    html.appendChild(createElement(document, 'body', HTML_NS));
  }

  #completeBlank() {
    this.#isFresh = false;
    this.#document.readyState = 'complete';
    this.#document._runIframeLoadEventSteps();
  }

  /** The document of this thread that the frame shows. */
  get #document() {
    if (this._contentDocument === null) throw new Error('the frame shows no document of this thread');
    return this._contentDocument;
  }

  /** Opens a window for a document in this frame. @param {ShownDocument} shown @param {string} referrer */
  #adopt(shown, referrer) {
    const parent = this._ownerDocument;
    const window = documents.openWindow(shown, { referrer, parent: parent._globalObject });
    const document = window._document;
    this._contentDocument = document;
    parent._childDocuments.add(document);
    document._parentDocument = parent;
    window._parent = parent._globalObject._globalProxy;
    window._top = parent._globalObject._top;
    window._frameElement = /** @type {any} */ (this);
    window._currentOriginData.windowsInSameOrigin.push(window);
    refreshFrameAccessors(parent);
  }

  /**
   * Loads a document into the frame: into its first window, or into a new one.
   *
   * @param {ShownDocument} shown
   * @param {Uint8Array | string} content
   * @param {string} [referrer]
   */
  #show(shown, content, referrer = this._ownerDocument.URL) {
    const window = this._contentDocument?._globalObject;
    // A window cannot change its clock.
    if (this.#isFresh && window && thread.windows.get(window).isIsolated === shown.isIsolated) {
      this.#isFresh = false;
      documents.replaceBlank(window, shown, referrer);
    } else {
      if (!this.#closeContent()) return;
      this.#isFresh = false;
      if (!this.isConnected) return;
      this.#adopt(shown, referrer);
    }
    documents.parse(this.#document._globalObject, content, shown.contentType);
  }

  /**
   * @param {string} url
   * @param {{ text?: string, asked?: { referrer: string, asker: number } }} [source] the document of about:srcdoc, or
   *   the window that asked
   */
  #fetch(url, { text = '', asked } = {}) {
    this.#cancel();
    const parent = this._ownerDocument;
    if (parent._isDestroyed) return;
    const stopDelayingLoad = parent._delayLoadEvent();
    const request = {
      url,
      text: text === '' ? undefined : new TextEncoder().encode(text),
      asker: asked?.asker,
      referrer: asked?.referrer ?? this.#around.referrerOf(frameReferrer(/** @type {any} */ (this), url)),
      base: asked === undefined ? parent.baseURLSerialized() : '',
      frame: this.#number,
      initiator: this._localName,
      sandbox: this.#sandbox,
      allow: this.#iframeAttribute('allow'),
      src: this.#src === null ? '' : serializeURL(this.#src),
    };
    this.#stopDelayingLoad = stopDelayingLoad;
    this.#abort = thread.loader.fetchFrame(request, this.#around, ({ document, content, remote, isUnchanged }) => {
      if (!parent._isDestroyed && this.isConnected) {
        this.#abort = null;
        if (remote !== undefined) {
          this.#showRemote(remote, stopDelayingLoad);
          return;
        }
        // Browsers show an error page, which is a document that has loaded.
        if (document !== undefined && content !== undefined) this.#show(document, content.body, content.referrer);
        else if (!isUnchanged) fireAnEvent('load', this);
      }
      stopDelayingLoad();
    });
  }

  /**
   * Shows a document of another origin, which lives in another thread.
   *
   * @param {WindowAddress} address
   * @param {() => void} stopDelayingLoad
   */
  #showRemote(address, stopDelayingLoad) {
    const number = this.#number;
    if (!this.#closeContent(false) || !this.isConnected) {
      thread.tell({ type: 'close remote', frame: number });
      stopDelayingLoad();
      return;
    }
    this.#stopWaitingForRemote = stopDelayingLoad;
    setAddress(this.#openRemote(), address);
  }

  /** @returns {import('./remote-window.cjs').WindowPosition} */
  #remotePosition() {
    const window = this._ownerDocument._globalObject;
    return {
      parent: window._globalProxy,
      top: window._top,
      navigate: (text) => {
        const url = this._ownerDocument.encodingParseAURL(text);
        if (this.isConnected && url !== null && url.scheme !== 'javascript') this.#fetch(serializeURL(url));
      },
    };
  }

  #cancel() {
    if (this.#abort === null) return;
    this.#abort();
    this.#abort = null;
    this.#stopDelayingLoad?.();
  }

  /** Lets the document of the frame run its last listeners, which may change the frame. */
  #unloadContent() {
    const document = this._contentDocument;
    if (this.#isUnloading || document === null || this.#isFresh) return;
    this.#isUnloading = true;
    try {
      unload(document, { isNavigation: this.isConnected });
    } finally {
      this.#isUnloading = false;
    }
  }

  /**
   * @param {boolean} [isForGood] whether the frame will show no other document of another thread
   * @returns {boolean} false if listeners of the document have removed the frame, which may be somewhere else now
   */
  #closeContent(isForGood = true) {
    const removals = this.#removals;
    this.#unloadContent();
    if (this.#removals !== removals) return false;
    this.#stopWaitingForRemote?.();
    this.#stopWaitingForRemote = null;
    if (this.#remote !== null && isForGood) thread.tell({ type: 'close remote', frame: this.#number });
    this.#remote = null;
    const document = this._contentDocument;
    this._contentDocument = null;
    if (document?._defaultView) documents.closeWindow(document._globalObject);
    return true;
  }

  get contentDocument() {
    return this._contentDocument;
  }

  /** https://html.spec.whatwg.org/multipage/iframe-embed-object.html#dom-iframe-sandbox */
  get _sandboxTokens() {
    this.#tokens ??= DOMTokenList.createImpl(this._ownerDocument._globalObject, [], {
      element: this,
      attributeLocalName: 'sandbox',
      supportedTokens: SANDBOX_TOKENS,
    });
    return this.#tokens;
  }

  /**
   * Where its window is, for programs that drive the page: in this thread, or in the one that shows the frame with this
   * number.
   */
  get _windowLocation() {
    if (this.#remote !== null) return { remote: this.#number };
    const window = this._contentDocument?._globalObject;
    return window && { window: thread.windows.find(window)?.frame };
  }

  get contentWindow() {
    return this.#remote ?? this._contentDocument?._defaultView ?? null;
  }
}

/** How deep a document is nested in frames. @param {Jsdom.DocumentImpl} document */
function depthOf(document) {
  let depth = 0;
  for (let outer = document._parentDocument; outer !== null; outer = outer._parentDocument) depth++;
  return depth;
}

/**
 * Defines `window[0]`, `window[1]` and so on anew: the frames of a document in tree order.
 * https://html.spec.whatwg.org/multipage/nav-history-apis.html#accessing-other-browsing-contexts
 *
 * @param {Jsdom.DocumentImpl} document
 */
function refreshFrameAccessors(document) {
  const window = document._globalObject;
  if (document._defaultView === null) return;
  for (let index = 0; index < window._length; index++) delete window[index];
  const frames = /** @type {(Jsdom.ElementImpl & { contentWindow: object | null })[]} */ ([
    ...selectors.query(document, 'iframe,frame', false),
  ]).filter((frame) => frame.contentWindow !== null);
  window._length = frames.length;
  frames.forEach((frame, index) => {
    Object.defineProperty(window, index, { configurable: true, enumerable: true, get: () => frame.contentWindow });
  });
}

module.exports = {
  implementation: HTMLFrameElementImpl,
  byNumber: (/** @type {number} */ number) => numbered.get(number),
  /** No document is left. */
  reset: () => numbered.clear(),
  /** @param {Documents} provided */
  serveFrames(provided) {
    documents = provided;
  },
};
