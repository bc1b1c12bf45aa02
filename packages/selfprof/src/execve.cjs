'use strict';

const native = require('./native.cjs');

/**
 * Pauses sampling of the main thread while `process.execve()` replaces the program. A signal of V8's sampler that comes after that would end
 * the next program, which has no handler for it yet: `node --cpu-prof` ends some in this way.
 */
function pauseForExecve() {
  const original = /** @type {any} */ (process).execve;
  // Not before Node 22.15, and not on Windows.
  if (typeof original !== 'function') return;
  const { execve } = {
    execve(/** @type {unknown} */ _execPath) {
      native.pauseRecordings();
      try {
        return Reflect.apply(original, this, arguments);
      } finally {
        // It throws if its arguments are invalid.
        native.resumeRecordings();
      }
    },
  };
  // A program may have frozen `process`.
  Reflect.set(process, 'execve', execve);
}

module.exports = { pauseForExecve };
