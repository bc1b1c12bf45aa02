'use strict';

const native = require('./native.cjs');

/**
 * Pauses sampling of the main thread, and writes what was recorded, while a method of `process` ends the program in a
 * way that runs no hooks.
 *
 * With `process.execve()`, a signal of V8's sampler that comes after that would end the next program, which has no
 * handler for it yet: `node --cpu-prof` ends some in this way.
 */
function pauseForEndings() {
  // `execve` is missing before Node 22.15, and on Windows.
  for (const name of ['abort', 'execve']) pauseFor(name);
}

/** @param {string} name */
function pauseFor(name) {
  const original = /** @type {any} */ (process)[name];
  if (typeof original !== 'function') return;
  const { [name]: pausing } = {
    [name]() {
      native.pauseRecordings();
      try {
        return Reflect.apply(original, this, arguments);
      } finally {
        // `execve` throws if its arguments are invalid.
        native.resumeRecordings();
      }
    },
  };
  Object.defineProperty(pausing, 'length', { value: original.length, configurable: true });
  // A program may have frozen `process`.
  Reflect.set(process, name, pausing);
}

module.exports = { pauseForEndings };
