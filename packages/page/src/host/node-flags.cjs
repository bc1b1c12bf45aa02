'use strict';

const v8 = require('node:v8');
const vm = require('node:vm');

/** They would take the place of the limits that threads are started with. At 0, they do not apply; the heap of a program that runs stays as it is. */
const HEAP_SIZES = ['--max-heap-size=0', '--max-old-space-size=0', '--max-semi-space-size=0'];

let checks = 0;

/**
 * To be called before threads of pages start, since a program may set flags at any time. With the syntax of V8's developers, any script can end the
 * process, and much else: V8 checks nothing of that. jsdom needs WebAssembly.
 *
 * @throws {Error} when the program has flags with which pages cannot be opened
 */
function prepareFlags() {
  for (const flag of HEAP_SIZES) v8.setFlagsFromString(flag);
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

module.exports = { prepareFlags };
