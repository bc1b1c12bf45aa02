'use strict';

// What a script element runs, once it is loaded. Exceptions are reported to the window.

const { thread } = require('./thread.cjs');
const nodeTypes = require('jsdom/lib/jsdom/living/node-type.js');

const { reportException } = require('./exceptions.cjs');

/** @typedef {{ run: () => void }} Runnable */

/**
 * A classic script or a module that was loaded.
 *
 * @param {Jsdom.Window} window
 * @param {string} url
 * @param {{ handle: number, muted?: boolean }} loaded
 * @param {boolean} isModule
 * @returns {Runnable}
 */
function loadedScript(window, url, { handle, muted = false }, isModule) {
  const run = () => (isModule ? thread.windows.runModule(window, handle) : thread.loader.run(window, handle));
  return { run: () => runAndReport(window, url, muted, run) };
}

/**
 * The text of a script element.
 *
 * @param {Jsdom.DocumentImpl} document
 * @param {string} source
 * @param {{ line: number, column: number }} position of the text in the document
 * @returns {Runnable}
 */
function inlineScript(document, source, { line, column }) {
  const window = document._globalObject;
  const { URL: url } = document;
  const base = document.baseURLSerialized();
  return {
    run: () =>
      runAndReport(window, url, false, () => thread.windows.runScript(window, source, url, line, column, base)),
  };
}

/**
 * @param {Jsdom.DocumentImpl} document
 * @param {string} source
 * @returns {Runnable}
 */
function importMap(document, source) {
  const window = document._globalObject;
  const base = document.baseURLSerialized();
  return {
    run: () => {
      const problem = thread.windows.get(window).modules.registerImportMap(source, base);
      if (problem !== '') reportException(window, new window.TypeError(problem), document.URL);
    },
  };
}

/**
 * @param {Jsdom.Window} window
 * @param {string} url
 * @param {boolean} muted
 * @param {() => void} run
 */
function runAndReport(window, url, muted, run) {
  try {
    run();
  } catch (error) {
    reportException(window, error, url, muted);
  } finally {
    thread.runPromiseJobs();
  }
}

/**
 * Where an element's text begins in its document's source, counted from 0.
 *
 * @param {{ _children(): Iterable<Jsdom.NodeImpl> }} element
 */
function sourcePosition(element) {
  for (const child of element._children()) {
    const location = child.nodeType === nodeTypes.TEXT_NODE ? child.sourceCodeLocation : null;
    if (location) return { line: location.startLine - 1, column: location.startCol - 1 };
  }
  return { line: 0, column: 0 };
}

module.exports = { importMap, inlineScript, loadedScript, sourcePosition };
