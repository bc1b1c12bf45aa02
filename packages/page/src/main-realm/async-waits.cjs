'use strict';

// Limits the calls of `Atomics.waitAsync` that wait. V8 keeps each of them outside of its heap until it is notified or times out, counts none,
// and takes long to free many of them.

const vm = require('node:vm');

/** How many calls of a thread may wait at once. Each takes about half a kilobyte. */
const MAX_WAITS = 10_000;

const SOURCE = `'use strict'; ((begin, end) => {
  const { Atomics, Promise, Proxy, RangeError } = globalThis;
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const { then } = Promise.prototype;

  const ended = () => {
    try {
      end();
    } catch {}
  };
  /** Calls back when a promise of V8's is fulfilled. With such a constructor of its own, it has no parts that a page could replace. */
  const whenFulfilled = (promise, call) => {
    defineProperty(promise, 'constructor', { __proto__: null, value: undefined, configurable: true });
    try {
      apply(then, promise, [call]);
    } finally {
      deleteProperty(promise, 'constructor');
    }
  };

  const property = getOwnPropertyDescriptor(Atomics, 'waitAsync');
  const handler = {
    __proto__: null,
    apply: (original, self, parameters) => {
      // It is counted first: later, the stack can be too full for that.
      let hasRoom = false;
      try {
        hasRoom = begin();
      } catch {}
      if (hasRoom !== true) throw new RangeError('Atomics.waitAsync(): too many calls wait');
      let waits = false;
      try {
        const result = apply(original, self, parameters);
        waits = result.async;
        if (waits) whenFulfilled(result.value, ended);
        return result;
      } finally {
        if (!waits) ended();
      }
    },
  };
  // A proxy of a built-in function has the text of one.
  defineProperty(Atomics, 'waitAsync', { ...property, value: new Proxy(property.value, handler) });
})`;

/** @type {vm.Script | undefined} */
let script;

/** The calls of a thread that wait. */
class AsyncWaits {
  #count = 0;

  /** Limits the calls of a realm, with those of the other realms of the thread. @param {object} context in which no page has run */
  limit(context) {
    script ??= new vm.Script(SOURCE, { filename: __filename });
    script.runInContext(context)(
      () => {
        if (this.#count >= MAX_WAITS) return false;
        this.#count += 1;
        return true;
      },
      () => {
        this.#count -= 1;
      },
    );
  }
}

module.exports = { AsyncWaits };
