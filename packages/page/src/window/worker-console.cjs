'use strict';

// `console` of a worker. https://console.spec.whatwg.org/

const { defineInterfaceObject } = require('./webidl-members.cjs');
const host = require('selfprof:host');

/** https://console.spec.whatwg.org/#console-namespace */
const CONSOLE_METHODS =
  'assert clear count countReset debug dir dirxml error group groupCollapsed groupEnd info log table time timeEnd timeLog trace warn';

function installConsole() {
  const console = Object.fromEntries(
    CONSOLE_METHODS.split(' ').map((method) => {
      const { [method]: log } = {
        /** @param {...unknown} values */
        [method](...values) {
          host.log(method, values);
        },
      };
      return [method, log];
    }),
  );
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
  defineInterfaceObject('console', console);
}

module.exports = { installConsole };
