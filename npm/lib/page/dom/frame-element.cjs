'use strict';

// Stands for jsdom's `living/nodes/HTMLFrameElement-impl.js`: iframes and frames, each with a window and a realm of its own.
// https://html.spec.whatwg.org/multipage/iframe-embed-object.html#process-the-iframe-attributes

const gate = require('selfprof:gate');
const { parseURL, serializeURL } = require('whatwg-url');

const HTMLElementImpl = require('jsdom/lib/jsdom/living/nodes/HTMLElement-impl.js').implementation;
const { createElement } = require('jsdom/lib/jsdom/living/helpers/create-element.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { HTML_NS } = require('jsdom/lib/jsdom/living/helpers/namespaces.js');
const selectors = require('jsdom/lib/jsdom/living/css/helpers/selectors.js');

const documents = require('./documents.cjs');
const { evaluateJavaScriptURL } = require('./navigation.cjs');
const { tell } = require('./outbox.cjs');
const realms = require('./realms.cjs');
const { remoteWindow } = require('./remote-window.cjs');

/** How deep frames may be nested in one another: each is a realm with its own intrinsics. */
const MAX_DEPTH = 16;

/** Frame elements by number, as the host and other threads know them. */
const numbered = new Map();
let nextNumber = 1;

class HTMLFrameElementImpl extends HTMLElementImpl {
  _contentDocument = null;
  #number = 0;
  /** The window of another thread that is shown, with what makes the embedder wait for it. */
  #remote = null;
  #stopWaitingForRemote = null;
  /** The request of the navigation under way, 0 for none. */
  #request = 0;
  /** Lets the embedder go on without it. */
  #stopDelayingLoad = null;
  /** Whether the window is still the one that was made with the frame, in which the first document is loaded. */
  #isFresh = false;

  _attributeChangeSteps(localName, oldValue, value, namespace) {
    super._attributeChangeSteps(localName, oldValue, value, namespace);
    if (namespace !== null || (localName !== 'src' && localName !== 'srcdoc')) return;
    if (this.isConnected && this._ownerDocument._defaultView && this.contentWindow !== null) this.#process(false);
  }

  _postConnectionSteps() {
    if (!this._ownerDocument._defaultView || this._contentDocument !== null || this.#remote !== null) return;
    this.#number = nextNumber++;
    numbered.set(this.#number, this);
    this.#process(true);
  }

  _removingSteps(isSubtreeRoot, oldAncestor) {
    super._removingSteps(isSubtreeRoot, oldAncestor);
    numbered.delete(this.#number);
    this.#cancel();
    this.#closeContent();
    refreshAccessors(this._ownerDocument);
  }

  #process(isInitial) {
    const parent = this._ownerDocument;
    if (parent._isDestroyed || depthOf(parent) >= MAX_DEPTH) return;
    if (isInitial) this.#openBlank();
    const srcdoc = this._localName === 'iframe' ? this.getAttributeNS(null, 'srcdoc') : null;
    if (srcdoc !== null) {
      this.#show('about:srcdoc', parent._origin, srcdoc, 'text/html', 0);
      return;
    }
    const src = this.getAttributeNS(null, 'src') ?? '';
    const url = src === '' ? null : parent.encodingParseAURL(src);
    this.#navigate(url ?? parseURL('about:blank'), isInitial);
  }

  /** Follows a link, or an assignment to `location`, inside of the frame. */
  _navigate(url) {
    this.#navigate(url, false);
  }

  /** The same, when its window is in another thread. */
  _navigateTo(text, referrer) {
    const url = parseURL(text);
    if (url !== null && url.scheme !== 'javascript') this.#fetch(serializeURL(url), referrer);
  }

  _remoteLoaded() {
    if (this.#remote === null) return;
    fireAnEvent('load', this);
    this.#stopWaitingForRemote?.();
    this.#stopWaitingForRemote = null;
  }

  #navigate(url, isInitial) {
    this.#cancel();
    const parent = this._ownerDocument;
    if (url.scheme === 'javascript') {
      // Not in a window of another origin.
      if (this._contentDocument === null) return;
      const result = evaluateJavaScriptURL(this._contentDocument._globalObject, url);
      if (typeof result === 'string') this.#show(this._contentDocument.URL, parent._origin, result, 'text/html', 0);
      else if (isInitial) this.#completeBlank();
      return;
    }
    if (url.scheme === 'about') {
      if (this._contentDocument === null) this.#openBlank();
      if (!isInitial) this.#show(serializeURL(url), parent._origin, '<html><head></head><body></body></html>', 'text/html', 0);
      else this.#completeBlank();
      return;
    }
    this.#fetch(serializeURL(url));
  }

  /** An empty document, there at once. */
  #openBlank() {
    const parent = this._ownerDocument;
    this.#adopt(
      documents.openWindow({
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
    const document = this._contentDocument;
    const html = createElement(document, 'html', HTML_NS);
    document.appendChild(html);
    html.appendChild(createElement(document, 'head', HTML_NS));
    html.appendChild(createElement(document, 'body', HTML_NS));
  }

  #completeBlank() {
    this.#isFresh = false;
    this._contentDocument.readyState = 'complete';
    this._contentDocument._runIframeLoadEventSteps();
  }

  /** Ties a window to this frame. */
  #adopt(window) {
    const parent = this._ownerDocument;
    const document = window._document;
    this._contentDocument = document;
    parent._childDocuments.add(document);
    document._parentDocument = parent;
    window._parent = parent._globalObject._globalProxy;
    window._top = parent._globalObject._top;
    window._frameElement = this;
    if (parent._origin === document._origin) window._currentOriginData.windowsInSameOrigin.push(window);
    refreshAccessors(parent);
  }

  /** Loads a document into the frame: into its first window, or into a new one. */
  #show(url, origin, content, contentType, id) {
    const parent = this._ownerDocument;
    if (this.#isFresh) {
      this.#isFresh = false;
      const document = this._contentDocument;
      gate.useDocument(document._globalObject, id);
      while (document.firstChild !== null) document.removeChild(document.firstChild);
      documents.setLocation(document._globalObject, url, origin);
      documents.loadAnew(document._globalObject);
    } else {
      this.#closeContent();
      this.#adopt(
        documents.openWindow({
          document: id,
          url,
          origin,
          referrer: parent.URL,
          encoding: parent._encoding,
          parent: parent._globalObject,
          userAgent: parent._globalObject._settings.userAgent,
        }),
      );
    }
    documents.parse(this._contentDocument._globalObject, content, contentType);
  }

  #fetch(url, referrer = this._ownerDocument.URL) {
    const parent = this._ownerDocument;
    const stopDelayingLoad = parent._delayLoadEvent();
    const sandbox = this._localName === 'iframe' ? this.getAttributeNS(null, 'sandbox') : null;
    const wish = {
      url,
      referrer,
      window: realms.realmOf(parent._globalObject).id,
      frame: this.#number,
      initiator: this._localName,
      isSandboxed: sandbox !== null && !sandbox.toLowerCase().split(/\s+/).includes('allow-same-origin'),
    };
    this.#stopDelayingLoad = stopDelayingLoad;
    const request = gate.fetchFrame(JSON.stringify(wish), (answer, bytes) => {
      if (this.#request === request && !parent._isDestroyed && this.isConnected) {
        this.#request = 0;
        const { error, document, url: final, contentType, origin, remote } = JSON.parse(answer);
        if (remote !== undefined) {
          this.#showRemote(remote, stopDelayingLoad);
          return;
        }
        if (error === undefined) {
          this.#show(final, origin, bytes, contentType, document);
        } else {
          parent._globalObject._settings.virtualConsole.emit('jsdomError', {
            type: 'resource-loading',
            message: `Could not load ${this._localName}: "${url}": ${error}`,
            url,
          });
          // A page that says that there is no page is a page, too.
          fireAnEvent('load', this);
        }
      }
      stopDelayingLoad();
    });
    this.#request = request;
  }

  /** Shows a document of another origin, which lives in another thread. */
  #showRemote(address, stopDelayingLoad) {
    const window = this._ownerDocument._globalObject;
    this.#closeContent(false);
    this.#isFresh = false;
    this.#stopWaitingForRemote = stopDelayingLoad;
    const place = {
      parent: window._globalProxy,
      top: window._top,
      navigate: (text) => {
        const url = this._ownerDocument.encodingParseAURL(text);
        if (url !== null && url.scheme !== 'javascript') this.#fetch(serializeURL(url));
      },
    };
    this.#remote = remoteWindow(window, address, place);
    refreshAccessors(this._ownerDocument);
  }

  #cancel() {
    if (this.#request === 0) return;
    gate.abortFetch(this.#request);
    this.#request = 0;
    this.#stopDelayingLoad?.();
  }

  #closeContent(isForGood = true) {
    this.#stopWaitingForRemote?.();
    this.#stopWaitingForRemote = null;
    if (this.#remote !== null && isForGood) tell({ type: 'close remote', frame: this.#number });
    this.#remote = null;
    const document = this._contentDocument;
    this._contentDocument = null;
    if (document?._defaultView) documents.closeWindow(document._globalObject);
  }

  get contentDocument() {
    return this._contentDocument;
  }

  /** Where its window is, for who drives the page: in this thread, or in one that the frame's number leads to. */
  get _place() {
    if (this.#remote !== null) return { remote: this.#number };
    const window = this._contentDocument?._globalObject;
    return window === undefined ? undefined : { window: realms.realmOf(window)?.id };
  }

  get contentWindow() {
    return this.#remote ?? this._contentDocument?._defaultView ?? null;
  }
}

function depthOf(document) {
  let depth = 0;
  for (let outer = document._parentDocument; outer !== null; outer = outer._parentDocument) depth++;
  return depth;
}

/** `window[0]` and so on: the frames in tree order. */
function refreshAccessors(document) {
  const window = document._globalObject;
  if (document._defaultView === null) return;
  for (let index = 0; index < window._length; index++) delete window[index];
  const frames = [...selectors.query(document, 'iframe,frame', false)].filter((frame) => frame.contentWindow !== null);
  window._length = frames.length;
  frames.forEach((frame, index) => {
    Object.defineProperty(window, index, { configurable: true, enumerable: true, get: () => frame.contentWindow });
  });
}

module.exports = { implementation: HTMLFrameElementImpl, byNumber: (number) => numbered.get(number) };
