'use strict';

// `console` of a worker. https://console.spec.whatwg.org/

const host = require('./worker-host.cjs');

/** https://console.spec.whatwg.org/#console-namespace */
const CONSOLE_METHODS = [
  'assert',
  'clear',
  'count',
  'countReset',
  'debug',
  'dir',
  'dirxml',
  'error',
  'group',
  'groupCollapsed',
  'groupEnd',
  'info',
  'log',
  'table',
  'time',
  'timeEnd',
  'timeLog',
  'trace',
  'warn',
];

/** https://console.spec.whatwg.org/ */
function installConsole() {
  /** @type {Record<string, Function>} */
  const console = {};
  for (const method of CONSOLE_METHODS) {
    const { [method]: log } = {
      /** @param {...unknown} values */
      [method](...values) {
        host.log(method, values);
      },
    };
    console[method] = log;
  }
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
  Object.defineProperty(globalThis, 'console', {
    value: console,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}

module.exports = { installConsole };
