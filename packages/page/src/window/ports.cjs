'use strict';

// MessageChannel and MessagePort. https://html.spec.whatwg.org/multipage/web-messaging.html#message-channels
//
// Behind each port is a port of Node's. It is what is sent when a port is transferred.

const host = require('selfprof:host');
const { deserialize, serialize, transferListOf } = require('./structured-clone.cjs');
const { defineHandler, exposeInterface, requireArguments } = require('./webidl-members.cjs');

/** @typedef {import('node:worker_threads').MessagePort} Pipe */

const TOKEN = Symbol('internal');

/**
 * Makes a port for one of Node's. The thread maps one to the other, because another window may get the port.
 *
 * @param {Pipe} pipe
 */
function newPort(pipe) {
  const port = new MessagePort(TOKEN);
  host.pipes.set(port, pipe);
  return port;
}

class MessagePort extends EventTarget {
  #isStarted = false;

  /** @param {symbol} token */
  constructor(token) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'MessagePort': Illegal constructor");
    super();
  }

  /**
   * @param {unknown} message
   * @param {any} [options] of the page
   */
  postMessage(message, options = undefined) {
    requireArguments(arguments.length, "Failed to execute 'postMessage' on 'MessagePort'");
    const transfer = transferListOf(options);
    if (transfer.includes(this))
      throw new DOMException('A port cannot be transferred through itself.', 'DataCloneError');
    const record = serialize(message, transfer);
    const pipe = host.pipes.get(this);
    if (pipe !== undefined) host.writePipe(pipe, record);
  }

  start() {
    const pipe = host.pipes.get(this);
    if (this.#isStarted || pipe === undefined) return;
    this.#isStarted = true;
    host.readPipe(pipe, (record) => dispatchMessage(this, record));
  }

  close() {
    const pipe = host.pipes.take(this);
    if (pipe !== undefined) host.closePipe(pipe);
  }
}

/**
 * Fires a message at a port, a worker or a global object.
 *
 * @param {object} target
 * @param {import('./contracts.js').CloneRecord} record
 * @param {object} [init] members of the event
 */
function dispatchMessage(target, record, init = {}) {
  let message;
  try {
    const { value, transferred } = deserialize(record);
    message = { data: value, ports: Object.freeze(transferred) };
  } catch {
    host.fireMessage(target, 'messageerror', init);
    return;
  }
  host.fireMessage(target, 'message', { ...init, ...message });
}

class MessageChannel {
  /** @type {MessagePort | undefined} */
  #port1;
  /** @type {MessagePort | undefined} */
  #port2;

  constructor() {
    host.newPipes((one, other) => {
      this.#port1 = newPort(one);
      this.#port2 = newPort(other);
    });
  }

  get port1() {
    return this.#port1;
  }

  get port2() {
    return this.#port2;
  }
}

function installPorts() {
  // Setting `onmessage` starts the port.
  defineHandler(MessagePort.prototype, 'message', (/** @type {MessagePort} */ port) => port.start());
  exposeInterface(MessagePort, { handlers: ['messageerror'] });
  exposeInterface(MessageChannel);
  host.platform.receive = newPort;
}

module.exports = { dispatchMessage, installPorts };
