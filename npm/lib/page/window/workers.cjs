'use strict';

// The interface `Worker`. https://html.spec.whatwg.org/multipage/workers.html#dedicated-workers-and-the-worker-interface

const host = require('selfprof:host');
const { serializeHere, toTransferList } = require('./cloning.cjs');
const { defineHandler, defineInterfaceObject } = require('./definitions.cjs');
const { dispatchMessage, tooMuch } = require('./ports.cjs');

const TYPES = ['classic', 'module'];
const CREDENTIALS = ['omit', 'same-origin', 'include'];

const { URL } = globalThis;

const context = "Failed to construct 'Worker'";

function toEnumeration(value, values, fallback, name) {
  if (value === undefined) return fallback;
  const text = `${value}`;
  if (!values.includes(text)) throw new TypeError(`${context}: the provided value '${text}' is not a valid enum value of type ${name}.`);
  return text;
}

function toOptions(value) {
  const options = value ?? {};
  if (typeof options !== 'object' && typeof options !== 'function') throw new TypeError(`${context}: the provided value is not of type 'WorkerOptions'.`);
  // Members are read in the order of their names.
  return {
    credentials: toEnumeration(options.credentials, CREDENTIALS, 'same-origin', 'RequestCredentials'),
    name: options.name === undefined ? '' : `${options.name}`,
    type: toEnumeration(options.type, TYPES, 'classic', 'WorkerType'),
  };
}

function resolve(text) {
  try {
    return new URL(text, host.baseUrl()).href;
  } catch {
    throw new DOMException(`${context}: script at '${text}' cannot be accessed.`, 'SyntaxError');
  }
}

/** Whether memory may be shared with a worker. https://html.spec.whatwg.org/multipage/structured-data.html#structuredserializeinternal */
let mayShareMemory = false;

/** Takes a message to or from a worker down. */
function serializeForWorker(message, options) {
  const transfer = toTransferList(typeof options?.[Symbol.iterator] === 'function' ? options : options?.transfer);
  return serializeHere(message, transfer, mayShareMemory);
}

class Worker extends EventTarget {
  #worker;

  constructor(scriptURL, options = undefined) {
    if (arguments.length < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
    const text = `${scriptURL}`;
    const wish = toOptions(options);
    const url = resolve(text);
    super();
    this.#worker = host.startWorker({ ...wish, url }, this, (record) => dispatchMessage(this, record));
  }

  postMessage(message, options = undefined) {
    if (arguments.length < 1) throw new TypeError("Failed to execute 'postMessage' on 'Worker': 1 argument required, but only 0 present.");
    if (!this.#worker.post(serializeForWorker(message, options))) throw tooMuch();
  }

  terminate() {
    this.#worker.end();
  }
}

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
