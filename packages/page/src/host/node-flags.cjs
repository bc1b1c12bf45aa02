'use strict';

const vm = require('node:vm');

let checks = 0;

/**
 * With the syntax of V8's developers, any script can end the process, and much else: V8 checks nothing of that. jsdom needs WebAssembly.
 *
 * @throws {Error} when the program has flags with which pages cannot be opened
 */
function checkFlags() {
  if (typeof WebAssembly === 'undefined')
    throw new Error('@selfprof/page: there is no WebAssembly, as with --jitless\n\nhint: remove that flag');
  try {
    // Another text each time: V8 keeps what it has compiled, also when the flag has changed since.
    new vm.Script(`%IsSmi(${checks++})`);
  } catch {
    return;
  }
  throw new Error(
    '@selfprof/page: V8 is run with --allow-natives-syntax, by which a page could end the process\n\nhint: remove that flag',
  );
}

module.exports = { checkFlags };
