'use strict';

// Node's message ports in the DOM realm. A page that has taken over that realm can get at them, and Node ends the process when some of their
// methods and constructors are called as its own code never does: `asyncReset(1)`, `close` with a callback, `new` of what they inherit from.

const { MessageChannel, moveMessagePortToContext } = require('node:worker_threads');
const vm = require('node:vm');

/** All ports of a realm share their prototypes, so what is removed from those of one is gone from all. */
const SOURCE = `'use strict'; (port) => {
  const { apply, defineProperty, deleteProperty, getPrototypeOf, ownKeys } = Reflect;
  const { postMessage, start, close } = port;
  const methods = {
    postMessage(message, transfer) { apply(postMessage, this, [message, transfer]); },
    start() { apply(start, this, []); },
    close() { apply(close, this, []); },
  };
  apply(close, port, []);
  const prototype = getPrototypeOf(port);
  for (let holder = prototype; holder !== Object.prototype; holder = getPrototypeOf(holder)) {
    for (const key of ownKeys(holder)) if (!deleteProperty(holder, key)) throw new Error('a port keeps ' + String(key));
  }
  for (const key of ownKeys(methods)) {
    defineProperty(prototype, key, { value: methods[key], writable: true, enumerable: true, configurable: true });
  }
}`;

/** Leaves ports of a realm nothing but what our code there calls. @param {object} context in which no page has run */
function restrictPorts(context) {
  const { port1 } = new MessageChannel();
  /** @type {(port: unknown) => void} */
  const restrict = vm.runInContext(SOURCE, context, { filename: __filename });
  restrict(moveMessagePortToContext(port1, context));
}

module.exports = { restrictPorts };
