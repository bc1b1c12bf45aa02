'use strict';

// Stands in for jsdom's `living/window/navigation.js`.
// https://html.spec.whatwg.org/multipage/browsing-the-web.html#navigate

const { thread } = require('../thread/thread.cjs');
const original = require('original:lib/jsdom/living/window/navigation.js');
const { percentDecodeString, serializeURL } = require('whatwg-url');
const { utf8Decode } = require('jsdom/lib/jsdom/living/helpers/encoding.js');

const { reportException } = require('./exceptions.cjs');

/**
 * @param {Jsdom.Window} window
 * @param {Jsdom.UrlRecord} url
 */
function evaluateJavaScriptURL(window, url) {
  if (window._document._scriptingDisabled) return undefined;
  const text = serializeURL(url);
  const source = utf8Decode(percentDecodeString(text.slice('javascript:'.length)));
  try {
    const base = window._document.baseURLSerialized();
    return thread.windows.get(window._globalObject).runScript(source, window._document.URL, { base });
  } catch (error) {
    reportException(window, error, text);
    return undefined;
  }
}

/**
 * @param {Jsdom.Window} window
 * @param {Jsdom.UrlRecord} url
 * @param {{ replacement?: boolean, reloadTriggered?: boolean }} [options]
 */
function navigate(window, url, { replacement = false, reloadTriggered = false } = {}) {
  const document = window._document;
  if (document._isDestroyed) return;
  // jsdom itself navigates to fragments of the document.
  if (!reloadTriggered && url.fragment !== null && serializeURL(url, true) === serializeURL(document._URL, true)) {
    original.navigate(window, url, { replacement });
    return;
  }
  if (url.scheme === 'javascript') {
    document._queueATask(() => {
      const result = evaluateJavaScriptURL(window, url);
      if (typeof result === 'string') {
        document.open();
        document.write(result);
        document.close();
      }
    });
    return;
  }
  const frame = window._frameElement;
  if (frame !== null) {
    /** @type {any} */ (frame)._navigate(url);
    return;
  }
  thread.tell({
    type: 'navigate',
    url: serializeURL(url),
    referrer: document.URL,
    replacement: replacement || reloadTriggered,
  });
}

module.exports = { evaluateJavaScriptURL, navigate };
