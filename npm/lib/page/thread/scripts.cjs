'use strict';

// Compiles and runs what pages bring. This is the one place where a page's text becomes code, and where V8's ids of it are
// tied to the realm that it belongs to.

const { types } = require('node:util');
const vm = require('node:vm');

const native = require('../../native.cjs');

/**
 * Runs a classic script. https://html.spec.whatwg.org/multipage/webappapis.html#run-a-classic-script
 *
 * @param {object} anchor an object of the window's realm that no page can have replaced
 * @param {string} source
 * @param {string} url that stack traces and profiles show
 * @param {{ line: number, column: number, muted: boolean, realm: number }} origin where the source begins in what the URL
 *   names, from 0; whether its errors and frames are kept from the page; the realm it belongs to
 * @returns {unknown} its completion value
 * @throws what the script throws: objects of the window's realm
 */
function runClassicScript(anchor, source, url, { line, column, muted, realm }) {
  try {
    return native.compileScript(anchor, source, url, { line, column, muted, realm });
  } catch (thrown) {
    notePlace(thrown, source, { line, column });
    throw thrown;
  }
}

/** Where scripts are wrong that could not be parsed: V8 does not say so in their stacks. */
const places = new WeakMap();

function notePlace(thrown, source, { line, column }) {
  if (!types.isNativeError(thrown)) return;
  try {
    new vm.Script(source, { filename: 'script' });
  } catch (error) {
    // Node puts the place above the message: `script:3`, the line, and a row of carets.
    const [, row, marks] = /^script:(\d+)\n.*\n( *)\^/.exec(error.stack) ?? [];
    if (row === undefined) return;
    const isFirst = row === '1';
    places.set(thrown, `${Number(row) + line}:${marks.length + 1 + (isFirst ? column : 0)}`);
  }
}

/** @returns {string} `line:column` from 1, empty for an error that came from running code */
function placeOf(thrown) {
  return types.isNativeError(thrown) ? (places.get(thrown) ?? '') : '';
}

/** Compiles a module, without what it imports. Throws a SyntaxError of the window's realm. */
function compileModule(anchor, source, url, { line, column, realm }) {
  return native.compileModule(anchor, source, url, { line, column, muted: false, realm });
}

/**
 * Parses the body of a function and no more.
 *
 * @throws {object} the window's own SyntaxError
 */
function checkFunctionBody(window, parameters, body, url) {
  vm.compileFunction(body, parameters, { parsingContext: window, filename: url });
}

module.exports = { checkFunctionBody, compileModule, placeOf, runClassicScript };
