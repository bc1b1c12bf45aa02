'use strict';

// The interface `Worker`.
// https://html.spec.whatwg.org/multipage/workers.html#dedicated-workers-and-the-worker-interface

const host = require('selfprof:host');
const { serialize, transferListOf } = require('./structured-clone.cjs');
const { exposeInterface, requireArguments, toEnumeration } = require('./webidl-members.cjs');
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

/**
 * Serializes a message to or from a worker, which shares memory if it is isolated.
 * https://html.spec.whatwg.org/multipage/structured-data.html#structuredserializeinternal
 *
 * @param {unknown} message
 * @param {any} options of the page
 */
function serializeForWorker(message, options) {
  return serialize(message, transferListOf(options), host.document().isIsolated);
}

class Worker extends EventTarget {
  #worker;

  /**
   * @param {any} scriptURL of the page
   * @param {any} [options] of the page
   */
  constructor(scriptURL, options = undefined) {
    requireArguments(arguments.length, context);
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
    requireArguments(arguments.length, "Failed to execute 'postMessage' on 'Worker'");
    this.#worker.post(serializeForWorker(message, options));
  }

  terminate() {
    this.#worker.end();
  }
}

function installWorkers() {
  exposeInterface(Worker, { handlers: ['message', 'messageerror', 'error'] });
}

module.exports = { installWorkers, serializeForWorker };
