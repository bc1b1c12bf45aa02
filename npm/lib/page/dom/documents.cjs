'use strict';

// Opens documents: makes a window with its realm, and parses what came into it.

const gate = require('selfprof:gate');
const { legacyHookDecode } = require('@exodus/bytes/encoding.js');
const sniffHTMLEncoding = require('html-encoding-sniffer');
const { MIMEType } = require('whatwg-mimetype');
const { parseURL } = require('whatwg-url');

// First: jsdom's modules require each other in circles, and this is where it enters them itself.
const { createWindow } = require('jsdom/lib/jsdom/browser/Window.js');
const { implementation: DocumentImpl } = require('jsdom/lib/jsdom/living/nodes/Document-impl.js');

const vm = require('./node/vm.cjs');
const { consoleFor } = require('./console.cjs');
const messages = require('./messages.cjs');
const { tell } = require('./outbox.cjs');
const realms = require('./realms.cjs');
const { JSDOMDispatcher } = require('./resources.cjs');
const { during } = require('./work.cjs');
const { hostFor, install, loadAnew } = require('./window-host.cjs');

const cookieJar = {
  getCookieStringSync: (url) => gate.getCookies(url),
  setCookieSync: (text, url) => gate.setCookie(url, `${text}`),
  serializeSync: () => ({}),
};

/** https://html.spec.whatwg.org/multipage/urls-and-fetching.html#fallback-base-url */
DocumentImpl.prototype._fallbackBaseURL = function fallbackBaseURL() {
  const isLocal = this.URL === 'about:blank' || this.URL === 'about:srcdoc';
  return isLocal && this._parentDocument !== null ? this._parentDocument.baseURL() : this._URL;
};

let nextFrame = 0;

/**
 * Makes a window with an empty document.
 *
 * @param {object} options
 * @param {number} options.document what the host knows the document by
 * @param {string} options.url
 * @param {string} options.origin as scripts see it
 * @param {string} [options.referrer]
 * @param {string} [options.encoding]
 * @param {'html' | 'xml'} [options.mode]
 * @param {string} [options.contentType]
 * @param {object} [options.parent] the window that holds it in a frame
 * @param {string} options.userAgent
 * @returns {object} the window
 */
function openWindow({ document, url, origin, referrer = '', encoding = 'UTF-8', mode = 'html', contentType, parent, userAgent }) {
  const realm = { window: undefined, id: nextFrame++, code: undefined };
  vm.nextWindow(document, realm.id);
  const window = createWindow({
    settings: {
      runScripts: 'dangerously',
      pretendToBeVisual: true,
      storageQuota: 5_000_000,
      cookieJar,
      virtualConsole: consoleFor(realm),
      userAgent,
      dispatcher: new JSDOMDispatcher(realm),
      loadSubresources: true,
    },
    documentOptions: {
      url,
      referrer,
      encoding,
      parsingMode: mode,
      contentType: contentType ?? (mode === 'xml' ? 'application/xml' : 'text/html'),
      parentOrigin: origin,
      parseOptions: { sourceCodeLocationInfo: mode === 'html' },
    },
    commonForOrigin: parent?._commonForOrigin,
  });
  realm.window = window;
  setLocation(window, url, origin);
  realms.add(realm);
  tell({ type: 'window', frame: realm.id, parent: parent === undefined ? -1 : realms.realmOf(parent).id, url });
  realm.code = gate.enterWindow(window, hostFor(realm));
  install(realm);
  messages.install(realm);
  return window;
}

/** Gives a window's document the URL and origin of what it loads. */
function setLocation(window, url, origin) {
  const document = window._document;
  document._URL = parseURL(url);
  document._origin = origin;
  document._clearBaseURLCache();
  window._origin = origin;
  window._sessionHistory.currentEntry.url = document._URL;
  const realm = realms.realmOf(window);
  if (realm !== undefined) tell({ type: 'window at', frame: realm.id, url });
}

/** Parses bytes, or text, into a window's empty document. */
function parse(window, content, contentType) {
  const document = window._document;
  const type = MIMEType.parse(contentType) ?? new MIMEType('text/html');
  const isXml = type.isXML();
  document._parsingMode = isXml ? 'xml' : 'html';
  document.contentType = type.essence;
  let text = content;
  if (typeof content !== 'string') {
    document._encoding = sniffHTMLEncoding(content, {
      xml: isXml,
      transportLayerEncodingLabel: type.parameters.get('charset'),
      defaultEncoding: isXml || document._parentDocument === null ? 'UTF-8' : document._parentDocument._encoding,
    });
    text = legacyHookDecode(content, document._encoding);
  }
  const session = document._startParsingSession({
    onError: (error) => {
      session.abort();
      tell({ type: 'problem', frame: realms.realmOf(window)?.id, kind: 'parsing', text: `${error.message}`, url: document.URL });
    },
  });
  const source = type.isHTML() || isXml ? text : asPlainText(text, type.essence);
  during(window, 'parse', () => session.parse(source));
}

/** What is no document is shown as text, as browsers do. */
function asPlainText(text, essence) {
  const shown = /^text\/|json$|javascript$/.test(essence) ? text : '';
  return `<!doctype html><html><head></head><body><pre>${shown.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre></body></html>`;
}

/** Ends a window and those in its frames. */
function closeWindow(window) {
  for (const child of window._document._childDocuments) closeWindow(child._globalObject);
  window.close.call(window);
  tell({ type: 'window closed', frame: realms.realmOf(window)?.id });
  realms.remove(window);
  gate.closeWindow(window);
}

// One by one: jsdom's window and the frame element require each other through this module.
Object.assign(exports, { closeWindow, loadAnew, openWindow, parse, setLocation });
