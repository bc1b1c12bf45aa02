'use strict';

// Records when the parts of a document's loading happen, for Navigation Timing.
// https://www.w3.org/TR/navigation-timing/

const { thread } = require('../thread/thread.cjs');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');

const { TIMES } = require('../loading/resource-timing.cjs');

/** @typedef {import('../../window/contracts.js').FetchDescription} FetchDescription */
/** @typedef {import('../windows/page-window.cjs').PageWindow} PageWindow */

/**
 * @typedef {object} Loading
 * @property {Record<string, number>} timing `performance.timing`, in milliseconds since the Unix epoch
 * @property {Record<string, number>} navigation `performance.navigation`
 * @property {string} name the URL that the document was navigated to: its fragment may change later
 * @property {FetchDescription | undefined} fetched
 * @property {number} timeOrigin
 * @property {() => void} onLoaded is called after the listeners of `load`
 */

/** Times that are recorded when the document's ready state changes. @type {Record<string, string>} */
const STATES = { interactive: 'domInteractive', complete: 'domComplete' };

/**
 * Times that are recorded before and after the listeners of events.
 *
 * @type {[type: string, start: string, end: string][]}
 */
const EVENTS = [
  ['DOMContentLoaded', 'domContentLoadedEventStart', 'domContentLoadedEventEnd'],
  ['load', 'loadEventStart', 'loadEventEnd'],
];

/** Times that come from the fetch of the document. */
const FETCH_TIMES = /** @type {const} */ (['fetchStart', ...TIMES, 'responseEnd']);

/** In milliseconds since the Unix epoch. */
function now() {
  return thread.coarseNow() + thread.timeOrigin;
}

/**
 * Begins to record the loading of a window's document.
 *
 * @param {PageWindow} pageWindow
 * @param {import('../../window/contracts.js').WindowDescription} description
 * @returns {Loading}
 */
function recordLoading(pageWindow, { timeOrigin, loading: fetched }) {
  /** @type {Loading} */
  const loading = {
    // Objects of the window's realm: `performance.timing` and `performance.navigation` read them.
    timing: pageWindow.code.emptyObject(),
    navigation: pageWindow.code.emptyObject(),
    name: '',
    fetched: undefined,
    timeOrigin,
    onLoaded() {},
  };
  pageWindow.loading = loading;
  begin(pageWindow.window, loading, fetched);
  watch(pageWindow.window, loading);
  return loading;
}

/**
 * Records how the document of a window was fetched, before it is parsed.
 *
 * @param {Jsdom.Window} window
 * @param {Loading} loading
 * @param {FetchDescription | undefined} fetched
 */
function begin(window, loading, fetched) {
  const { timing, navigation, timeOrigin } = loading;
  loading.fetched = fetched;
  loading.name = window._document.URL;
  for (const name of Object.keys(timing)) delete timing[name];
  Object.assign(timing, { navigationStart: timeOrigin, fetchStart: timeOrigin });
  for (const name of FETCH_TIMES) {
    const time = fetched?.[name] ?? 0;
    if (time > 0) timing[name] = timeOrigin + time;
  }
  timing.domLoading = now();
  navigation.redirectCount = fetched?.redirectCount ?? 0;
}

/**
 * The first document that is loaded into a frame takes the place of the empty one, in the same window.
 *
 * @param {PageWindow} pageWindow
 */
function restartLoading(pageWindow) {
  if (pageWindow.loading !== undefined) begin(pageWindow.window, pageWindow.loading, pageWindow.describe().loading);
}

/**
 * @param {Jsdom.Window} window
 * @param {Loading} loading
 */
function watch(window, loading) {
  const { timing } = loading;
  const document = idlUtils.wrapperForImpl(window._document);
  document.addEventListener('readystatechange', () => {
    const milestone = STATES[document.readyState];
    if (milestone !== undefined) timing[milestone] ??= now();
  });
  for (const [type, start, end] of EVENTS) {
    const target = type === 'load' ? idlUtils.implForWrapper(window) : window._document;
    const { _dispatch: dispatch } = target;
    /** @param {Jsdom.Impl} event @param {unknown[]} rest */
    target._dispatch = (event, ...rest) => {
      // A page can dispatch events of these types, too.
      if (event.type !== type || !event.isTrusted || timing[start] !== undefined)
        return dispatch.call(target, event, ...rest);
      timing[start] = now();
      try {
        return dispatch.call(target, event, ...rest);
      } finally {
        // Timers that the listeners have set run later.
        timing[end] = now();
        if (type === 'load') loading.onLoaded();
      }
    };
  }
}

module.exports = { recordLoading, restartLoading };
