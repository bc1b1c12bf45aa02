'use strict';

// requestIdleCallback(). https://w3c.github.io/requestidlecallback/
//
// A page of this host renders nothing, so it is idle as soon as the tasks that wait are done.

const host = require('selfprof:host');
const { defineInterfaceObject, defineOperation } = require('./definitions.cjs');

const TOKEN = Symbol('internal');
/** The longest idle period, in milliseconds. */
const PERIOD = 50;

// What a page may replace.
const { clearTimeout, setTimeout } = globalThis;

class IdleDeadline {
  #end;

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
  const timers = new Map();
  let last = 0;
  const { requestIdleCallback, cancelIdleCallback } = {
    requestIdleCallback(callback, options = undefined) {
      if (typeof callback !== 'function') {
        throw new TypeError("Failed to execute 'requestIdleCallback' on 'Window': parameter 1 is not of type 'Function'.");
      }
      // Converted, as a browser would, though there is nothing to wait for.
      void Number(options?.timeout);
      const handle = ++last;
      const run = () => {
        timers.delete(handle);
        callback(new IdleDeadline(TOKEN, host.now() + PERIOD));
      };
      // Behind the tasks that wait when its turn comes.
      timers.set(handle, setTimeout(() => timers.set(handle, setTimeout(run))));
      return handle;
    },
    cancelIdleCallback(handle) {
      clearTimeout(timers.get(Number(handle)));
      timers.delete(Number(handle));
    },
  };
  Object.defineProperty(requestIdleCallback, 'length', { value: 1, configurable: true });
  defineOperation('requestIdleCallback', requestIdleCallback);
  defineOperation('cancelIdleCallback', cancelIdleCallback);
  for (const name of ['didTimeout', 'timeRemaining']) Object.defineProperty(IdleDeadline.prototype, name, { enumerable: true });
  Object.defineProperty(IdleDeadline.prototype, Symbol.toStringTag, { value: 'IdleDeadline', configurable: true });
  defineInterfaceObject('IdleDeadline', IdleDeadline);
}

module.exports = { installIdleCallbacks };
