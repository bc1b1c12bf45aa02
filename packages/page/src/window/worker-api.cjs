'use strict';

// The interface `Worker`. https://html.spec.whatwg.org/multipage/workers.html#dedicated-workers-and-the-worker-interface

const host = require('selfprof:host');
const { serializeHere, toTransferList } = require('./structured-clone-api.cjs');
const { defineHandler, defineInterfaceObject, toEnumeration } = require('./webidl-members.cjs');
const { dispatchMessage } = require('./ports.cjs');

const TYPES = ['classic', 'module'];
const CREDENTIALS = ['omit', 'same-origin', 'include'];

const context = "Failed to construct 'Worker'";

/**
 * @param {unknown} value of the page
 * @param {string[]} values
 * @param {string} fallback
 * @param {string} name of the enumeration
 */
function toOption(value, values, fallback, name) {
  return value === undefined ? fallback : toEnumeration(value, values, name, context);
}

/** @param {any} value of the page */
function toOptions(value) {
  const options = value ?? {};
  if (typeof options !== 'object' && typeof options !== 'function')
    throw new TypeError(`${context}: the provided value is not of type 'WorkerOptions'.`);
  // Members are read in the order of their names.
  return {
    credentials: toOption(options.credentials, CREDENTIALS, 'same-origin', 'RequestCredentials'),
    name: options.name === undefined ? '' : `${options.name}`,
    type: toOption(options.type, TYPES, 'classic', 'WorkerType'),
  };
}

/** @param {string} text */
function resolve(text) {
  try {
    return new URL(text, host.baseUrl()).href;
  } catch {
    throw new DOMException(`${context}: script at '${text}' cannot be accessed.`, 'SyntaxError');
  }
}

/** Whether memory may be shared with a worker. https://html.spec.whatwg.org/multipage/structured-data.html#structuredserializeinternal */
let mayShareMemory = false;

/**
 * Serializes a message to or from a worker.
 *
 * @param {unknown} message
 * @param {any} options of the page
 */
function serializeForWorker(message, options) {
  const transfer = toTransferList(typeof options?.[Symbol.iterator] === 'function' ? options : options?.transfer);
  return serializeHere(message, transfer, mayShareMemory);
}

class Worker extends EventTarget {
  #worker;

  /**
   * @param {any} scriptURL of the page
   * @param {any} [options] of the page
   */
  constructor(scriptURL, options = undefined) {
    if (arguments.length < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
    const text = `${scriptURL}`;
    const settings = toOptions(options);
    const url = resolve(text);
    super();
    this.#worker = host.startWorker({ ...settings, url }, this, (record) => dispatchMessage(this, record));
  }

  /**
   * @param {unknown} message
   * @param {any} [options] of the page
   */
  postMessage(message, options = undefined) {
    if (arguments.length < 1)
      throw new TypeError("Failed to execute 'postMessage' on 'Worker': 1 argument required, but only 0 present.");
    this.#worker.post(serializeForWorker(message, options));
  }

  terminate() {
    this.#worker.end();
  }
}

/** @param {{ isIsolated: boolean }} settings */
function installWorkers({ isIsolated }) {
  mayShareMemory = isIsolated;
  host.platform.mayReceiveMemory = isIsolated;
  for (const name of ['postMessage', 'terminate']) Object.defineProperty(Worker.prototype, name, { enumerable: true });
  Object.defineProperty(Worker.prototype.postMessage, 'length', { value: 1, configurable: true });
  for (const type of ['message', 'messageerror', 'error']) defineHandler(Worker.prototype, type);
  Object.defineProperty(Worker.prototype, Symbol.toStringTag, { value: 'Worker', configurable: true });
  defineInterfaceObject('Worker', Worker);
}

module.exports = { installWorkers, serializeForWorker };
