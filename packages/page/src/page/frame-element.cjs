'use strict';

// Stands in for jsdom's `living/nodes/HTMLFrameElement-impl.js`: iframes and frames, each with a window and a realm of its own.
// https://html.spec.whatwg.org/multipage/iframe-embed-object.html#process-the-iframe-attributes

const { thread } = require('./thread.cjs');
const { parseURL, serializeURL } = require('whatwg-url');

const DOMTokenList = require('jsdom/lib/generated/idl/DOMTokenList.js');
const HTMLElementImpl = require('jsdom/lib/jsdom/living/nodes/HTMLElement-impl.js').implementation;
const { createElement } = require('jsdom/lib/jsdom/living/helpers/create-element.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { HTML_NS } = require('jsdom/lib/jsdom/living/helpers/namespaces.js');

const { isAllowedWhenEmpty } = require('../fetch/isolation-policy.cjs');
const { readSandbox } = require('../fetch/sandbox.cjs');
const { refreshFrameAccessors } = require('./frame-accessors.cjs');
const { frameReferrer } = require('./frame-referrer.cjs');
const { evaluateJavaScriptURL } = require('./navigation.cjs');
const { postToHost } = require('./post-to-host.cjs');
const realms = require('./window-realms.cjs');
const { pendingWindow, remoteWindow } = require('./remote-window.cjs');
const { unload } = require('./unloading.cjs');

/** @typedef {import('./remote-window.cjs').WindowAddress} WindowAddress */

/**
 * @typedef {object} WindowOptions
 * @property {number} document window-registry.cjs's number of the document; 0 is the empty one
 * @property {string} url
 * @property {string} origin as scripts see it
 * @property {string} [referrer]
 * @property {string} [encoding]
 * @property {Jsdom.Window} [parent] the window that contains it in a frame
 * @property {string} userAgent
 * @property {string} [base] of about:srcdoc in a thread of its own
 * @property {boolean} [isRestricted] by the `sandbox` attribute of a frame around it
 * @property {boolean} [allowsScripts]
 * @property {boolean} [allowsSameOrigin]
 * @property {boolean} [isIsolated] cross-origin isolated, of a document that was loaded
 * @property {boolean} [mayBeIsolated] whether the frame element allows that
 */

/**
 * How frames open documents. documents.cjs provides it: jsdom's window needs this file, so this file cannot require that one.
 *
 * @typedef {object} Documents
 * @property {(window: Jsdom.Window) => void} closeWindow
 * @property {(options: WindowOptions) => Jsdom.Window} openWindow
 * @property {(window: Jsdom.Window, content: Uint8Array | string, contentType: string) => void} parse
 * @property {(window: Jsdom.Window) => void} restartLoading
 * @property {(window: Jsdom.Window, url: string, origin: string) => void} setLocation
 * @property {(window: Jsdom.Window, sandbox: Pick<WindowOptions, 'isRestricted' | 'allowsScripts' | 'allowsSameOrigin'>) => void} setSandbox
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
  /** The window of a sandboxed frame before its thread is there. @type {ReturnType<typeof pendingWindow> | null} */
  #pending = null;
  /** Lets the `load` event of the containing document happen, which waits for the remote window. @type {(() => void) | null} */
  #stopWaitingForRemote = null;
  /** The request of the pending navigation, 0 for none. */
  #request = 0;
  /** Lets the `load` event of the containing document happen, which waits for the request. @type {(() => void) | null} */
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
    this.#closeContent();
    refreshFrameAccessors(this._ownerDocument);
  }

  /** @param {boolean} isInitial whether the frame was just inserted */
  #process(isInitial) {
    const parent = this._ownerDocument;
    if (parent._isDestroyed || depthOf(parent) >= MAX_DEPTH) return;
    if (isInitial && this.#mayShareOrigin) this.#openBlank();
    else if (isInitial) this.#openPending();
    const srcdoc = this._localName === 'iframe' ? this.getAttributeNS(null, 'srcdoc') : null;
    if (srcdoc !== null) {
      this.#cancel();
      if (this.#isRestricted) this.#fetch('about:srcdoc', { text: srcdoc });
      else this.#show('about:srcdoc', parent._origin, srcdoc, 'text/html', { document: 0 });
      return;
    }
    const url = this.#src;
    this.#navigate(url ?? /** @type {Jsdom.UrlRecord} */ (parseURL('about:blank')), isInitial);
  }

  /** Follows a link, or an assignment to `location`, inside the frame. A page can keep the window of one that was removed. @param {Jsdom.UrlRecord} url */
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

  /** The attribute `sandbox`. */
  get #sandbox() {
    return this._localName === 'iframe' ? this.getAttributeNS(null, 'sandbox') : null;
  }

  /** The URL in the attribute `src`. */
  get #src() {
    const src = this.getAttributeNS(null, 'src') ?? '';
    return src === '' ? null : this._ownerDocument.encodingParseAURL(src);
  }

  /** The attribute `allow`. */
  get #allow() {
    return this._localName === 'iframe' ? this.getAttributeNS(null, 'allow') : null;
  }

  /** Whether an empty document in the frame, or one of `srcdoc`, may be cross-origin isolated. */
  get #mayBeIsolated() {
    return realms.realmOf(this._ownerDocument._globalObject)?.isIsolated === true && isAllowedWhenEmpty(this.#allow);
  }

  /** Whether the frame, or one around it, is sandboxed: then the host has to know about each document in it. */
  get #isRestricted() {
    return this.#sandbox !== null || realms.realmOf(this._ownerDocument._globalObject)?.isRestricted === true;
  }

  get #mayShareOrigin() {
    if (realms.realmOf(this._ownerDocument._globalObject)?.allowsSameOrigin === false) return false;
    return readSandbox(this.#sandbox).allowsSameOrigin;
  }

  get #allowsScripts() {
    if (this._ownerDocument._scriptingDisabled) return false;
    return readSandbox(this.#sandbox).allowsScripts;
  }

  /** A sandboxed frame has a window at once, of which the page sees what it sees of windows of other origins. */
  #openPending() {
    this.#isFresh = false;
    this.#pending = pendingWindow(this._ownerDocument._globalObject, this.#remotePosition());
    this.#remote = this.#pending.proxy;
    refreshFrameAccessors(this._ownerDocument);
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
    const parent = this._ownerDocument;
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
      if (typeof result === 'string')
        this.#show(shown, parent._origin, result, 'text/html', { ...sandboxOf(window), document: 0 });
      else if (isInitial) this.#completeBlank();
      return;
    }
    if (/^about:(?:blank(?:[?#]|$)|srcdoc$)/.test(serializeURL(url))) {
      if (this.#isRestricted) {
        this.#fetch('about:blank');
        return;
      }
      if (isInitial) this.#completeBlank();
      else
        this.#show(serializeURL(url), parent._origin, '<html><head></head><body></body></html>', 'text/html', {
          document: 0,
        });
      return;
    }
    this.#fetch(serializeURL(url));
  }

  /** Opens an empty document at once. */
  #openBlank() {
    const parent = this._ownerDocument;
    this.#adopt(
      documents.openWindow({
        isRestricted: this.#isRestricted,
        allowsScripts: this.#allowsScripts,
        mayBeIsolated: this.#mayBeIsolated,
        document: 0,
        url: 'about:blank',
        origin: parent._origin,
        referrer: parent.URL,
        encoding: parent._encoding,
        parent: parent._globalObject,
        userAgent: parent._globalObject._settings.userAgent,
      }),
    );
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

  /** Makes a window the window of this frame. @param {Jsdom.Window} window */
  #adopt(window) {
    const parent = this._ownerDocument;
    const document = window._document;
    this._contentDocument = document;
    parent._childDocuments.add(document);
    document._parentDocument = parent;
    window._parent = parent._globalObject._globalProxy;
    window._top = parent._globalObject._top;
    window._frameElement = /** @type {any} */ (this);
    if (parent._origin === document._origin) window._currentOriginData.windowsInSameOrigin.push(window);
    refreshFrameAccessors(parent);
  }

  /**
   * Loads a document into the frame: into its first window, or into a new one.
   *
   * @param {string} url
   * @param {string} origin
   * @param {Uint8Array | string} content
   * @param {string} contentType
   * @param {Pick<WindowOptions, 'document' | 'isIsolated' | 'isRestricted' | 'allowsScripts' | 'allowsSameOrigin'> & { referrer?: string }} options
   */
  #show(url, origin, content, contentType, { document: id, referrer = this._ownerDocument.URL, ...sandbox }) {
    const parent = this._ownerDocument;
    const mayBeIsolated = sandbox.isIsolated ?? this.#mayBeIsolated;
    // A window cannot change its clock.
    const isSameClock = realms.realmOf(this._contentDocument?._globalObject ?? {})?.isIsolated === mayBeIsolated;
    if (this.#isFresh && isSameClock) {
      this.#isFresh = false;
      const document = this.#document;
      thread.windows.use(document._globalObject, id);
      document._referrer = referrer;
      documents.setSandbox(document._globalObject, sandbox);
      while (document.firstChild !== null) document.removeChild(document.firstChild);
      documents.setLocation(document._globalObject, url, origin);
      documents.restartLoading(document._globalObject);
    } else {
      if (!this.#closeContent()) return;
      this.#isFresh = false;
      if (!this.isConnected) return;
      this.#adopt(
        documents.openWindow({
          ...sandbox,
          mayBeIsolated,
          document: id,
          url,
          origin,
          referrer,
          encoding: parent._encoding,
          parent: parent._globalObject,
          userAgent: parent._globalObject._settings.userAgent,
        }),
      );
    }
    documents.parse(this.#document._globalObject, content, contentType);
  }

  /**
   * @param {string} url
   * @param {{ text?: string, asked?: { referrer: string, asker: number } }} [source] the document of about:srcdoc, or the window that asked
   */
  #fetch(url, { text, asked } = {}) {
    this.#cancel();
    const parent = this._ownerDocument;
    const stopDelayingLoad = parent._delayLoadEvent();
    const description = {
      url,
      text,
      asker: asked?.asker,
      referrer: asked?.referrer ?? frameReferrer(/** @type {any} */ (this), url),
      base: asked === undefined ? parent.baseURLSerialized() : '',
      window: realms.numberOf(parent._globalObject),
      frame: this.#number,
      initiator: this._localName,
      sandbox: readSandbox(this.#sandbox),
      allow: this.#allow,
      src: this.#src === null ? '' : serializeURL(this.#src),
    };
    this.#stopDelayingLoad = stopDelayingLoad;
    const request = thread.loader.fetchFrame(description, (answer, bytes) => {
      if (this.#request === request && !parent._isDestroyed && this.isConnected) {
        this.#request = 0;
        const { error, isUnchanged, url: final, contentType, origin, remote, ...options } = answer;
        if (remote !== undefined) {
          this.#showRemote(remote, stopDelayingLoad);
          return;
        }
        if (error === undefined) {
          this.#show(final, origin, bytes, contentType, options);
        } else if (!isUnchanged) {
          // Browsers show an error page, which is a document that has loaded.
          fireAnEvent('load', this);
        }
      }
      stopDelayingLoad();
    });
    this.#request = request;
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
      postToHost({ type: 'close remote', frame: number });
      stopDelayingLoad();
      return;
    }
    this.#isFresh = false;
    this.#stopWaitingForRemote = stopDelayingLoad;
    if (this.#pending === null)
      this.#remote = remoteWindow(this._ownerDocument._globalObject, address, this.#remotePosition());
    else this.#remote = this.#pending.show(address);
    refreshFrameAccessors(this._ownerDocument);
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
    if (this.#request === 0) return;
    thread.loader.abort(this.#request);
    this.#request = 0;
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
    if (this.#remote !== null && isForGood) postToHost({ type: 'close remote', frame: this.#number });
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

  /** Where its window is, for programs that drive the page: in this thread, or in the one that shows the frame with this number. */
  get _windowLocation() {
    if (this.#remote !== null) return { remote: this.#number };
    const window = this._contentDocument?._globalObject;
    return window === undefined ? undefined : { window: realms.realmOf(window)?.id };
  }

  get contentWindow() {
    return this.#remote ?? this._contentDocument?._defaultView ?? null;
  }
}

/** What a window's document may do. @param {Jsdom.Window} window */
function sandboxOf(window) {
  const { isRestricted, allowsSameOrigin } = realms.realmOf(window) ?? {};
  return { isRestricted, allowsSameOrigin, allowsScripts: !window._document._scriptingDisabled };
}

/** How deep a document is nested in frames. @param {Jsdom.DocumentImpl} document */
function depthOf(document) {
  let depth = 0;
  for (let outer = document._parentDocument; outer !== null; outer = outer._parentDocument) depth++;
  return depth;
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
