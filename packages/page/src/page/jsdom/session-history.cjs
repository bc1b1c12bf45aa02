'use strict';

// Tells the host where a document is once `history` or a fragment has changed its URL.

const { implementation: HistoryImpl } = require('jsdom/lib/jsdom/living/window/History-impl.js');
const SessionHistory = require('jsdom/lib/jsdom/living/window/SessionHistory.js');

const { thread } = require('../thread/thread.cjs');

/** @param {(...parameters: unknown[]) => void} act a method that can change the URL */
function reporting(act) {
  /** @this {{ _window: Jsdom.Window }} @param {unknown[]} parameters */
  return function (...parameters) {
    act.apply(this, parameters);
    const { _document: document } = this._window;
    const frame = thread.windows.find(document._globalObject)?.frame;
    if (frame !== undefined) thread.tell({ type: 'window at', frame, url: document.URL });
  };
}

HistoryImpl.prototype._sharedPushAndReplaceState = reporting(HistoryImpl.prototype._sharedPushAndReplaceState);
SessionHistory.prototype.traverseHistory = reporting(SessionHistory.prototype.traverseHistory);
