'use strict';

// requestIdleCallback(). https://w3c.github.io/requestidlecallback/
//
// Pages here render nothing, so a page is idle as soon as its queued tasks are done.

const host = require('selfprof:host');
const { defineInterfaceObject, defineOperation } = require('./webidl-members.cjs');

const TOKEN = Symbol('internal');
/** The longest idle period, in milliseconds. */
const PERIOD = 50;

// Taken before the page can replace them.
const { clearTimeout, setTimeout } = globalThis;

class IdleDeadline {
  #end;

  /**
   * @param {symbol} token
   * @param {number} end of the idle period
   */
  constructor(token, end) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'IdleDeadline': Illegal constructor");
    this.#end = end;
  }

  get didTimeout() {
    return this.#end < 0;
  }

  timeRemaining() {
    return Math.max(0, this.#end - host.now());
  }
}

function installIdleCallbacks() {
  /** @type {Map<number, ReturnType<typeof setTimeout>>} */
  const timers = new Map();
  let last = 0;
  const { requestIdleCallback, cancelIdleCallback } = {
    /**
     * @param {any} callback of the page
     * @param {any} [options] of the page
     */
    requestIdleCallback(callback, options = undefined) {
      if (typeof callback !== 'function') {
        throw new TypeError(
          "Failed to execute 'requestIdleCallback' on 'Window': parameter 1 is not of type 'Function'.",
        );
      }
      // Converted as in a browser, although it has no effect.
      void Number(options?.timeout);
      const handle = ++last;
      const run = () => {
        timers.delete(handle);
        host.apply(callback, undefined, [new IdleDeadline(TOKEN, host.now() + PERIOD)]);
      };
      // The second timer comes after the tasks that are queued when the first one fires.
      timers.set(
        handle,
        setTimeout(() => timers.set(handle, setTimeout(run))),
      );
      return handle;
    },
    /** @param {unknown} handle */
    cancelIdleCallback(handle) {
      clearTimeout(timers.get(Number(handle)));
      timers.delete(Number(handle));
    },
  };
  Object.defineProperty(requestIdleCallback, 'length', { value: 1, configurable: true });
  defineOperation('requestIdleCallback', requestIdleCallback);
  defineOperation('cancelIdleCallback', cancelIdleCallback);
  for (const name of ['didTimeout', 'timeRemaining'])
    Object.defineProperty(IdleDeadline.prototype, name, { enumerable: true });
  Object.defineProperty(IdleDeadline.prototype, Symbol.toStringTag, { value: 'IdleDeadline', configurable: true });
  defineInterfaceObject('IdleDeadline', IdleDeadline);
}

module.exports = { installIdleCallbacks };
