'use strict';

// Opens documents: makes a window with its realm, and parses the document into it.

const { thread } = require('../thread/thread.cjs');
const { legacyHookDecode } = require('@exodus/bytes/encoding.js');
const sniffHTMLEncoding = require('html-encoding-sniffer');
const { MIMEType } = require('whatwg-mimetype');
const { parseURL } = require('whatwg-url');

// Required first: jsdom's modules require each other in circles, and jsdom itself enters them here.
const { createWindow } = require('jsdom/lib/jsdom/browser/Window.js');
const DOMException = require('jsdom/lib/generated/idl/DOMException.js');
const { implementation: DocumentImpl } = require('jsdom/lib/jsdom/living/nodes/Document-impl.js');

const vm = require('../jsdom/jsdom-vm.cjs');
const messages = require('../frames/window-messages.cjs');
const { consoleFor } = require('../jsdom/virtual-console.cjs');
const { JSDOMDispatcher } = require('../jsdom/resource-loading.cjs');
const { runWithMarker } = require('../jsdom/profiler-markers.cjs');
const { windowClosed } = require('../thread/remaining-contexts.cjs');
const { endWorkersOf } = require('../apis/started-workers.cjs');
const { restartLoading } = require('../apis/document-loading.cjs');
const { serveFrames } = require('../frames/frame-element.cjs');
const { installIframeAttributes } = require('../frames/iframe-attributes.cjs');
const { reportException } = require('../jsdom/exceptions.cjs');
const { hostFor, install } = require('../apis/window-host.cjs');

/** @typedef {import('../windows/page-window.cjs').PageWindow} PageWindow */

/** In place of jsdom's cookie jar, for the document of a window. @param {PageWindow} pageWindow */
function cookieJarOf({ window }) {
  /**
   * The URL by which the document has cookies; undefined for none.
   * https://html.spec.whatwg.org/multipage/dom.html#dom-document-cookie
   *
   * @param {string} url of the document
   */
  const cookieUrl = (url) => {
    if (!/^https?:/.test(url)) return undefined;
    if (window._origin === 'null')
      throw DOMException.create(window, [
        'The document has no cookies, because its origin is opaque.',
        'SecurityError',
      ]);
    return url;
  };
  return {
    getCookieStringSync(/** @type {string} */ document) {
      const url = cookieUrl(document);
      return url === undefined ? '' : thread.cookies.forScript(url, thread.client);
    },
    setCookieSync(/** @type {unknown} */ text, /** @type {string} */ document) {
      const url = cookieUrl(document);
      if (url !== undefined) thread.cookies.setByScript(url, `${text}`, thread.client);
    },
    serializeSync: () => ({}),
  };
}

/** https://html.spec.whatwg.org/multipage/urls-and-fetching.html#fallback-base-url */
DocumentImpl.prototype._fallbackBaseURL = /** @this {Jsdom.DocumentImpl} */ function fallbackBaseURL() {
  const isLocal = this.URL === 'about:blank' || this.URL === 'about:srcdoc';
  return (isLocal ? (this._parentDocument?.baseURL() ?? outerBase) : null) ?? this._URL;
};

/**
 * The base URL of the thread's outermost document, if it is about:blank or about:srcdoc.
 *
 * @type {Jsdom.UrlRecord | null}
 */
let outerBase = null;

/** The scripts of `Page.addInitScript`. @type {string[]} */
let initScripts = [];

/**
 * Opens the thread's outermost document.
 *
 * @param {import('../windows/page-window.cjs').ShownDocument} document
 * @param {{ referrer: string, base?: string }} content
 * @param {string[]} scripts those of `Page.addInitScript`
 */
function openOutermost(document, { referrer, base }, scripts) {
  outerBase = base === undefined ? null : parseURL(base);
  initScripts = scripts;
  return openWindow(document, { referrer });
}

/**
 * Makes a window with an empty document.
 *
 * @param {import('../windows/page-window.cjs').ShownDocument} document that will be parsed into it
 * @param {{ referrer: string, parent?: Jsdom.Window }} options the window that contains it in a frame
 * @returns {Jsdom.Window}
 */
function openWindow(document, { referrer, parent }) {
  const pageWindow = thread.windows.create(document);
  const { origin, userAgent } = thread;
  const { url } = document;
  vm.useContext(pageWindow.window);
  const window = createWindow({
    settings: {
      runScripts: 'dangerously',
      pretendToBeVisual: true,
      storageQuota: 5_000_000,
      cookieJar: cookieJarOf(pageWindow),
      virtualConsole: consoleFor(pageWindow),
      userAgent,
      dispatcher: new JSDOMDispatcher(pageWindow),
      loadSubresources: true,
    },
    documentOptions: {
      url,
      referrer,
      encoding: parent?._document._encoding ?? 'UTF-8',
      parsingMode: 'html',
      contentType: 'text/html',
      parentOrigin: origin,
      parseOptions: { sourceCodeLocationInfo: true },
    },
    // All windows of a thread have its origin. jsdom takes that of the URL, which srcdoc does not have.
    commonForOrigin: parent && { null: parent._currentOriginData, [origin]: parent._currentOriginData },
  });
  describeDocument(pageWindow);
  const around = (parent && thread.windows.find(parent)?.frame) ?? -1;
  thread.tell({ type: 'window', frame: pageWindow.frame, parent: around, url });
  pageWindow.enter(hostFor(pageWindow));
  install(pageWindow);
  messages.install(pageWindow);
  installIframeAttributes(pageWindow);
  if (parent !== undefined) runInitScripts(pageWindow);
  return window;
}

/**
 * Runs the scripts of `Page.addInitScript` in a window, before any script of its document.
 *
 * @param {PageWindow} pageWindow
 */
function runInitScripts(pageWindow) {
  for (const source of initScripts) {
    try {
      pageWindow.runUserScript(source, 'evaluate');
    } catch (error) {
      reportException(pageWindow.window, error, 'evaluate');
    }
  }
}

/** Tells jsdom the URL and the origin of a window's document, and what it may do. @param {PageWindow} pageWindow */
function describeDocument({ window, document: { url }, allowsScripts, frame }) {
  const document = window._document;
  document._URL = /** @type {Jsdom.UrlRecord} */ (parseURL(url));
  document._origin = thread.origin;
  document._clearBaseURLCache();
  document._scriptingDisabled = !allowsScripts;
  document._parseOptions.scriptingEnabled = allowsScripts;
  window._origin = thread.origin;
  window._sessionHistory.currentEntry.url = document._URL;
  thread.tell({ type: 'window at', frame, url });
}

/**
 * Shows a document in a window in place of its first, empty one. Any other document has a window of its own.
 *
 * @param {Jsdom.Window} window
 * @param {import('../windows/page-window.cjs').ShownDocument} shown
 * @param {string} referrer
 */
function replaceBlank(window, shown, referrer) {
  const pageWindow = thread.windows.get(window);
  const document = window._document;
  pageWindow.document = shown;
  document._referrer = referrer;
  while (document.firstChild !== null) document.removeChild(document.firstChild);
  describeDocument(pageWindow);
  restartLoading(pageWindow);
}

/**
 * Parses a document into a window's empty document.
 *
 * @param {Jsdom.Window} window
 * @param {Uint8Array | string} content
 * @param {string} [contentType]
 */
function parse(window, content, contentType = 'text/html') {
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
    const text = `${/** @type {Error} */ (error)?.message}`;
    thread.tell({
      type: 'problem',
      frame: thread.windows.find(window)?.frame,
      kind: 'parsing',
      text,
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
  const pageWindow = thread.windows.find(window);
  if (pageWindow === undefined) return;
  window.close.call(window);
  window._settings.dispatcher?.close();
  for (const channel of pageWindow.channels) channel.close();
  endWorkersOf(pageWindow);
  thread.tell({ type: 'window closed', frame: pageWindow.frame });
  windowClosed();
  thread.windows.close(pageWindow);
}

serveFrames({ closeWindow, openWindow, parse, replaceBlank });

module.exports = { closeWindow, openOutermost, parse, runInitScripts };
