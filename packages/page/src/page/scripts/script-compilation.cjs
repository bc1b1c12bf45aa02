'use strict';

// Compiles and runs the scripts of pages. No other module turns a page's text into code.

const { types } = require('node:util');
const vm = require('node:vm');

/** @typedef {import('./realm.cjs').Realm} Realm */

/**
 * Runs a classic script. https://html.spec.whatwg.org/multipage/webappapis.html#run-a-classic-script
 *
 * @param {Realm} realm
 * @param {string} source
 * @param {string} url that stack traces and profiles show
 * @param {{ line?: number, column?: number, muted?: boolean }} [options] see `ScriptOptions` in realm.cjs
 * @returns {unknown} its completion value
 * @throws what the script throws: values of its realm
 */
function runClassicScript(realm, source, url, { line = 0, column = 0, muted = false } = {}) {
  try {
    return realm.run(source, url, { line, column, muted });
  } catch (thrown) {
    noteSyntaxErrorPosition(thrown, source, line, column);
    throw thrown;
  }
}

/** Positions of syntax errors, which V8 leaves out of their stacks. @type {WeakMap<object, string>} */
const positions = new WeakMap();

/**
 * @param {unknown} thrown
 * @param {string} source
 * @param {number} line
 * @param {number} column
 */
function noteSyntaxErrorPosition(thrown, source, line, column) {
  if (!types.isNativeError(thrown)) return;
  try {
    new vm.Script(source, { filename: 'script' });
  } catch (error) {
    // Node puts the position above the message: `script:3`, the line, and a row of carets.
    const [, row, indentation] = /^script:(\d+)\n.*\n( *)\^/.exec(stackOf(error)) ?? [];
    if (row === undefined || indentation === undefined) return;
    const isFirst = row === '1';
    positions.set(thrown, `${Number(row) + line}:${indentation.length + 1 + (isFirst ? column : 0)}`);
  }
}

/** @param {unknown} error */
function stackOf(error) {
  return error instanceof Error ? String(error.stack) : '';
}

/**
 * Where the source of a syntax error is.
 *
 * @param {unknown} thrown
 * @returns {string} `line:column`, counted from 1; empty for errors that running code threw
 */
function syntaxErrorPosition(thrown) {
  return types.isNativeError(thrown) ? (positions.get(thrown) ?? '') : '';
}

/**
 * Parses the body of a function without compiling it for use. In this realm, because Node sets the stack of an error,
 * and would run code of a page that has put a setter for that in the way.
 *
 * @param {string[]} parameters
 * @param {string} body
 * @returns {string | undefined} the message of the SyntaxError, if there is one
 */
function syntaxErrorOfBody(parameters, body) {
  try {
    vm.compileFunction(body, parameters);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

module.exports = { runClassicScript, syntaxErrorOfBody, syntaxErrorPosition };
