'use strict';

// Node's message ports in the DOM realm. A page that has taken over that realm can get at them, and must not get at what Node does with them:
//
// * Node ends the process when some of their methods and constructors are called as its own code never does: `asyncReset(1)`, `close` with a
//   callback, `new` of what they inherit from. These are removed.
// * Node reads properties of a port, and calls its listener, with the main realm current, in which V8 then makes the arguments of a proxy. So
//   ports and their prototypes are not extensible, which keeps their prototypes too, and what their listeners throw is caught.

const { MessageChannel, moveMessagePortToContext } = require('node:worker_threads');
const vm = require('node:vm');

const { elementsOf, ownValue } = require('../cloning/own-values.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').Pipe} Pipe */

/**
 * All ports of a realm share their prototypes, so what is removed from those of one is gone from all. By these two symbols, Node calls a port's
 * listener without an event, and gives it the ports of the message: lib/internal/per_context/messageport.js.
 */
const SOURCE = `'use strict'; (port, report) => {
  const { Object, Reflect, WeakMap } = globalThis;
  const { freeze } = Object;
  const { apply, defineProperty, deleteProperty, getPrototypeOf, ownKeys, preventExtensions } = Reflect;
  const { get, set } = WeakMap.prototype;
  const dispatchKey = Symbol.for('nodejs.internal.kHybridDispatch');
  const portsKey = Symbol.for('nodejs.internal.kCurrentlyReceivingPorts');
  const { postMessage, start, close } = port;
  const listeners = new WeakMap();

  const lock = (port) => {
    defineProperty(port, dispatchKey, { __proto__: null, value: dispatch });
    defineProperty(port, portsKey, { __proto__: null, value: undefined, writable: true });
    preventExtensions(port);
  };
  /** Is called with a port as its \`this\`, whose message has arrived. */
  function dispatch(data, type) {
    try {
      // No code of a page has run since the message was read.
      const ports = this[portsKey];
      for (let at = 0; ports !== undefined && at < ports.length; at++) lock(ports[at]);
      const listener = apply(get, listeners, [this]);
      if (type === 'message' && typeof listener === 'function') listener({ __proto__: null, data });
    } catch (error) {
      try {
        report(error);
      } catch {}
    }
  }

  const methods = {
    postMessage(message, transfer) { apply(postMessage, this, [message, transfer]); },
    start() { apply(start, this, []); },
    close() { apply(close, this, []); },
    get onmessage() { return apply(get, listeners, [this]); },
    set onmessage(listener) { apply(set, listeners, [this, listener]); },
  };
  apply(close, port, []);
  const prototype = getPrototypeOf(port);
  for (let holder = prototype; holder !== Object.prototype; holder = getPrototypeOf(holder)) {
    for (const key of ownKeys(holder)) if (!deleteProperty(holder, key)) throw new Error('a port keeps ' + String(key));
  }
  for (const key of ownKeys(methods)) defineProperty(prototype, key, Object.getOwnPropertyDescriptor(methods, key));
  for (let holder = prototype; holder !== Object.prototype; holder = getPrototypeOf(holder)) freeze(holder);
  return lock;
}`;

/** The ports that a thread gives to its DOM realm. */
class DomPorts {
  #context;
  /** A function of the DOM realm. @type {(port: unknown) => void} */
  #lock;

  /**
   * @param {object} context in which no page has run
   * @param {(error: unknown) => void} report what a listener throws
   */
  constructor(context, report) {
    this.#context = context;
    const { port1 } = new MessageChannel();
    /** @type {(port: unknown, report: (error: unknown) => void) => (port: unknown) => void} */
    const restrict = vm.runInContext(SOURCE, context, { filename: __filename });
    this.#lock = restrict(moveMessagePortToContext(port1, context), (error) => void report(error));
  }

  /** Gives a port to the DOM realm. @param {import('node:worker_threads').MessagePort} port @returns {Pipe} */
  move(port) {
    const moved = moveMessagePortToContext(port, this.#context);
    this.#lock(moved);
    return /** @type {Pipe} */ (/** @type {unknown} */ (moved));
  }

  /** Prepares the ports in a message of the user's thread, of which no code of a page knows yet. @param {unknown} message of the DOM realm */
  prepare(message) {
    for (const port of elementsOf(ownValue(ownValue(message, 'record'), 'ports'))) this.#lock(ownValue(port, 'pipe'));
  }
}

module.exports = { DomPorts };
