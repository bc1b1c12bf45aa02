'use strict';

// Runs the scripts of `Page.addInitScript` in each window of this thread, before any script of its document.

const { thread } = require('./thread.cjs');

const { reportException } = require('./exceptions.cjs');

/** @type {string[]} */
let sources = [];

/** @param {string[]} given */
function setInitScripts(given) {
  sources = given;
}

/** @param {Jsdom.Window} window */
function runInitScripts(window) {
  for (const source of sources) {
    try {
      thread.windows.runUserScript(window, source, 'evaluate', 0, window._document.baseURLSerialized());
    } catch (error) {
      reportException(window, error, 'evaluate');
    }
  }
}

module.exports = { runInitScripts, setInitScripts };
