'use strict';

const vm = require('node:vm');

/** Calls a function of V8's developers, where their syntax is allowed. */
const NATIVE_CALL = '%IsSmi(1)';

/**
 * With their syntax, any script can end the process, and much else: V8 checks nothing of that.
 *
 * @throws {Error} when it is allowed
 */
function checkFlags() {
  try {
    new vm.Script(NATIVE_CALL);
  } catch {
    return;
  }
  throw new Error(
    '@selfprof/page: V8 is run with --allow-natives-syntax, by which a page could end the process\n\nhint: remove that flag',
  );
}

module.exports = { checkFlags };
