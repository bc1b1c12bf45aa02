'use strict';

// Compiles and runs what pages bring. This is the one place where code of a page becomes code of V8.

const vm = require('node:vm');

/**
 * Runs a classic script. https://html.spec.whatwg.org/multipage/webappapis.html#run-a-classic-script
 *
 * @param {object} window the window's global object
 * @param {string} source
 * @param {string} url that stack traces and profiles show
 * @param {{ line: number, column: number, muted: boolean, realm: number }} origin where the source begins in what the URL
 *   names, from 0; whether its errors and frames are kept from the page; the realm it belongs to
 * @returns {unknown} its completion value
 * @throws what the script throws: objects of the window's realm
 */
function runClassicScript(window, source, url, { line, column }) {
  return vm.runInContext(source, window, { filename: url, lineOffset: line, columnOffset: column, displayErrors: false });
}

/**
 * Parses the body of a function and no more.
 *
 * @throws {object} the window's own SyntaxError
 */
function checkFunctionBody(window, parameters, body, url) {
  vm.compileFunction(body, parameters, { parsingContext: window, filename: url });
}

module.exports = { checkFunctionBody, runClassicScript };
