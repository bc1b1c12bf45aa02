'use strict';

// `node:buffer` for jsdom, which copies strings through it so that a short one does not keep a long one alive.

/** A string of its own: V8 makes a slice of a flat string a view, but not of a concatenation that was never flattened. */
const copy = (text) => (text.length < 13 ? text : ` ${text}`.slice(1));

exports.Buffer = {
  from: (text) => ({ toString: () => copy(text) }),
  allocUnsafeSlow: () => {
    let held = '';
    return {
      write: (text) => {
        held = copy(text);
      },
      toString: () => held,
    };
  },
};
