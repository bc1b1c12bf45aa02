'use strict';

// MessageChannel and MessagePort. https://html.spec.whatwg.org/multipage/web-messaging.html#message-channels
//
// Behind each port is a port of Node's, which belongs to the DOM realm. It is what is sent when a port is transferred.

const host = require('selfprof:host');
const { deserialize } = require('../any-realm/structured-clone.cjs');
const { serializeHere, toTransferList } = require('./structured-clone-api.cjs');
const { defineHandler, defineInterfaceObject } = require('./webidl-members.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').Channel} Channel */

const TOKEN = Symbol('internal');

/** Makes a port for a channel. The DOM realm maps one to the other, because another window of the thread may get the port. @param {Channel} channel */
function newPort(channel) {
  const port = new MessagePort(TOKEN);
  host.pipes.set(port, channel);
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
    if (arguments.length < 1) {
      throw new TypeError("Failed to execute 'postMessage' on 'MessagePort': 1 argument required, but only 0 present.");
    }
    const transfer = toTransferList(typeof options?.[Symbol.iterator] === 'function' ? options : options?.transfer);
    if (transfer.includes(this))
      throw new DOMException('A port cannot be transferred through itself.', 'DataCloneError');
    const record = serializeHere(message, transfer);
    const pipe = host.pipes.get(this);
    if (pipe !== undefined && !host.writePipe(pipe, record)) throw tooMuch();
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
 * @param {import('../any-realm/realm-contracts.js').CloneRecord} record
 * @param {object} [init] members of the event
 */
function dispatchMessage(target, record, init = {}) {
  let message;
  try {
    const { value, transferred } = deserialize(record, host.platform);
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
  for (const name of ['postMessage', 'start', 'close'])
    Object.defineProperty(MessagePort.prototype, name, { enumerable: true });
  Object.defineProperty(MessagePort.prototype.postMessage, 'length', { value: 1, configurable: true });
  // Setting `onmessage` starts the port.
  defineHandler(MessagePort.prototype, 'message', (/** @type {MessagePort} */ port) => port.start());
  defineHandler(MessagePort.prototype, 'messageerror');
  for (const name of ['port1', 'port2']) Object.defineProperty(MessageChannel.prototype, name, { enumerable: true });
  for (const Interface of [MessagePort, MessageChannel]) {
    Object.defineProperty(Interface.prototype, Symbol.toStringTag, { value: Interface.name, configurable: true });
    defineInterfaceObject(Interface.name, Interface);
  }
  host.platform.isTransferable = (value) => host.pipes.get(value) !== undefined;
  // The counters go with the port.
  host.platform.transfer = (port) => {
    const { pipe, out, into } = /** @type {Channel} */ (host.pipes.take(port));
    return { pipe, out, into };
  };
  host.platform.receive = ({ pipe, out, into }) => newPort({ pipe, out, into });
}

/** The error for a message that does not fit into its channel any more. */
function tooMuch() {
  return new DOMException('Data cannot be cloned, out of memory: too many messages wait.', 'DataCloneError');
}

module.exports = { dispatchMessage, installPorts, tooMuch };
