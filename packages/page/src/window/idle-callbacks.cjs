'use strict';

// requestIdleCallback(). https://w3c.github.io/requestidlecallback/
//
// Pages here render nothing, so a page is idle as soon as its queued tasks are done.

const host = require('selfprof:host');
const { defineOperations, exposeInterface } = require('./webidl-members.cjs');

const TOKEN = Symbol('internal');
/** The longest idle period, in milliseconds. */
const PERIOD = 50;

// Pages may replace them, as fake clocks do.
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
  defineOperations({
    /**
     * @param {any} callback of the page
     * @param {unknown} [_options] a timeout, which has no effect: pages are idle soon
     */
    requestIdleCallback(callback, _options = undefined) {
      if (typeof callback !== 'function')
        throw new TypeError(
          "Failed to execute 'requestIdleCallback' on 'Window': parameter 1 is not of type 'Function'.",
        );
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
  });
  exposeInterface(IdleDeadline);
}

module.exports = { installIdleCallbacks };
