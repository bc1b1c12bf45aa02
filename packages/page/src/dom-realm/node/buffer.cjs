'use strict';

// `node:buffer` for jsdom, which copies strings with it so that a short substring does not keep a long string in memory.

/** Copies a string: in V8 a slice of a flat string is a view of it, but a slice of a new concatenation is not. */
const copy = (/** @type {string} */ text) => (text.length < 13 ? text : ` ${text}`.slice(1));

exports.Buffer = {
  from: (/** @type {string} */ text) => ({ toString: () => copy(text) }),
  allocUnsafeSlow: () => {
    let held = '';
    return {
      write: (/** @type {string} */ text) => {
        held = copy(text);
      },
      toString: () => held,
    };
  },
};
