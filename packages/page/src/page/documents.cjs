'use strict';

// Opens documents: makes a window with its realm, and parses the document into it.

const { thread } = require('./thread.cjs');
const { legacyHookDecode } = require('@exodus/bytes/encoding.js');
const sniffHTMLEncoding = require('html-encoding-sniffer');
const { MIMEType } = require('whatwg-mimetype');
const { parseURL } = require('whatwg-url');

// Required first: jsdom's modules require each other in circles, and jsdom itself enters them here.
const { createWindow } = require('jsdom/lib/jsdom/browser/Window.js');
const DOMException = require('jsdom/lib/generated/idl/DOMException.js');
const { implementation: DocumentImpl } = require('jsdom/lib/jsdom/living/nodes/Document-impl.js');

const vm = require('./jsdom-vm.cjs');
const { postToHost } = require('./post-to-host.cjs');
const messages = require('./window-messages.cjs');
const { consoleFor } = require('./virtual-console.cjs');
const realms = require('./window-realms.cjs');
const { JSDOMDispatcher } = require('./resource-loading.cjs');
const { runWithMarker } = require('./profiler-markers.cjs');
const { windowClosed } = require('./remaining-contexts.cjs');
const { restartLoading } = require('./document-loading.cjs');
const { serveFrames } = require('./frame-element.cjs');
const { installIframeAttributes } = require('./iframe-attributes.cjs');
const { runInitScripts } = require('./init-scripts.cjs');
const { hostFor, install } = require('./window-host.cjs');

/** @typedef {import('./window-realms.cjs').WindowRealm} WindowRealm */

/** In place of jsdom's cookie jar, for the document of a window. @param {WindowRealm} realm */
function cookieJarOf(realm) {
  /** https://html.spec.whatwg.org/multipage/dom.html#dom-document-cookie */
  const check = (/** @type {string} */ url) => {
    const { window } = realm;
    if (window._origin !== 'null' || !/^https?:/.test(url)) return;
    throw DOMException.create(window, ['The document has no cookies, because its origin is opaque.', 'SecurityError']);
  };
  return {
    getCookieStringSync(/** @type {string} */ url) {
      check(`${url}`);
      return thread.windows.cookiesOf(realm.window, `${url}`);
    },
    setCookieSync(/** @type {unknown} */ text, /** @type {string} */ url) {
      check(`${url}`);
      thread.windows.setCookie(realm.window, `${url}`, `${text}`);
    },
    serializeSync: () => ({}),
  };
}

/** https://html.spec.whatwg.org/multipage/urls-and-fetching.html#fallback-base-url */
DocumentImpl.prototype._fallbackBaseURL = /** @this {Jsdom.DocumentImpl} */ function fallbackBaseURL() {
  const isLocal = this.URL === 'about:blank' || this.URL === 'about:srcdoc';
  if (!isLocal) return this._URL;
  return this._parentDocument?.baseURL() ?? realms.realmOf(this._globalObject)?.base ?? this._URL;
};

let nextFrame = 0;

/**
 * Makes a window with an empty document.
 *
 * @param {import('./frame-element.cjs').WindowOptions} options
 * @returns {Jsdom.Window}
 */
function openWindow({
  document,
  url,
  origin,
  referrer = '',
  encoding = 'UTF-8',
  parent,
  userAgent,
  base,
  mayBeIsolated = true,
  ...sandbox
}) {
  // Its window and its code are made below.
  if (realms.all().length === 0) nextFrame = 0;
  const realm = /** @type {WindowRealm} */ ({ id: nextFrame++ });
  const around = (parent && realms.realmOf(parent)?.id) ?? -1;
  vm.nextWindow(document, realm.id, mayBeIsolated, around, sandbox.allowsScripts !== false);
  const window = createWindow({
    settings: {
      runScripts: 'dangerously',
      pretendToBeVisual: true,
      storageQuota: 5_000_000,
      cookieJar: cookieJarOf(realm),
      virtualConsole: consoleFor(realm),
      userAgent,
      dispatcher: new JSDOMDispatcher(realm),
      loadSubresources: true,
    },
    documentOptions: {
      url,
      referrer,
      encoding,
      parsingMode: 'html',
      contentType: 'text/html',
      parentOrigin: origin,
      parseOptions: { sourceCodeLocationInfo: true },
    },
    // All windows of a thread have its origin. jsdom takes that of the URL, which srcdoc does not have.
    commonForOrigin: parent && { null: parent._currentOriginData, [origin]: parent._currentOriginData },
  });
  realm.window = window;
  realm.base = base === undefined ? null : parseURL(base);
  setLocation(window, url, origin);
  realms.add(realm);
  setSandbox(window, sandbox);
  postToHost({
    type: 'window',
    frame: realm.id,
    parent: around,
    url,
  });
  realm.code = thread.windows.enter(window, hostFor(realm));
  install(realm);
  messages.install(realm);
  installIframeAttributes(realm);
  if (parent !== undefined) runInitScripts(window);
  return window;
}

/**
 * Sets the URL and the origin of a window's document.
 *
 * @param {Jsdom.Window} window
 * @param {string} url
 * @param {string} origin as scripts see it
 */
function setLocation(window, url, origin) {
  const document = window._document;
  document._URL = /** @type {Jsdom.UrlRecord} */ (parseURL(url));
  document._origin = origin;
  document._clearBaseURLCache();
  window._origin = origin;
  window._sessionHistory.currentEntry.url = document._URL;
  const realm = realms.realmOf(window);
  if (realm !== undefined) postToHost({ type: 'window at', frame: realm.id, url });
}

/**
 * Sets what a window's document may do.
 *
 * @param {Jsdom.Window} window
 * @param {Pick<import('./frame-element.cjs').WindowOptions, 'isRestricted' | 'allowsScripts' | 'allowsSameOrigin'>} sandbox
 */
function setSandbox(window, { isRestricted = false, allowsScripts = true, allowsSameOrigin = true }) {
  Object.assign(/** @type {WindowRealm} */ (realms.realmOf(window)), { isRestricted, allowsSameOrigin });
  const document = window._document;
  document._scriptingDisabled = !allowsScripts;
  document._parseOptions.scriptingEnabled = allowsScripts;
}

/**
 * Parses a document into a window's empty document.
 *
 * @param {Jsdom.Window} window
 * @param {Uint8Array | string} content
 * @param {string} contentType
 */
function parse(window, content, contentType) {
  const document = window._document;
  const type = MIMEType.parse(contentType) ?? new MIMEType('text/html');
  const isXml = type.isXML();
  document._parsingMode = isXml ? 'xml' : 'html';
  document.contentType = type.essence;
  let text;
  if (typeof content === 'string') {
    text = content;
  } else {
    document._encoding = sniffHTMLEncoding(content, {
      xml: isXml,
      transportLayerEncodingLabel: type.parameters.get('charset'),
      defaultEncoding: isXml || document._parentDocument === null ? 'UTF-8' : document._parentDocument._encoding,
    });
    text = legacyHookDecode(content, document._encoding);
  }
  /** Browsers show what they have parsed until then. @param {unknown} error */
  const endWith = (error) => {
    postToHost({
      type: 'problem',
      frame: realms.realmOf(window)?.id,
      kind: 'parsing',
      text: `${/** @type {Error} */ (error)?.message}`,
      url: document.URL,
    });
    session.finish();
  };
  const session = document._startParsingSession({ onError: endWith });
  const source = type.isHTML() || isXml ? text : asPlainText(text, type.essence);
  try {
    runWithMarker(window, 'parse', () => session.parse(source));
  } catch (error) {
    // XML that is malformed, or a document that is nested too deeply for the stack.
    endWith(error);
  }
}

/**
 * Shows other types as text, as browsers do.
 *
 * @param {string} text
 * @param {string} essence of its MIME type
 */
function asPlainText(text, essence) {
  const shown = /^text\/|json$|javascript$/.test(essence) ? text : '';
  return `<!doctype html><html><head></head><body><pre>${shown.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre></body></html>`;
}

/** Closes a window and those in its frames. @param {Jsdom.Window} window */
function closeWindow(window) {
  for (const child of window._document._childDocuments) closeWindow(child._globalObject);
  window.close.call(window);
  window._settings.dispatcher?.close();
  for (const channel of realms.realmOf(window)?.channels ?? []) channel.close();
  postToHost({ type: 'window closed', frame: realms.realmOf(window)?.id });
  windowClosed();
  realms.remove(window);
  thread.windows.close(window);
}

serveFrames({ closeWindow, openWindow, parse, restartLoading, setLocation, setSandbox });

module.exports = { closeWindow, openWindow, parse };
