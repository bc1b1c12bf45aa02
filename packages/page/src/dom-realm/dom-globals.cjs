'use strict';

// The globals that jsdom uses beside those of ECMAScript.

const bridge = require('selfprof:main-realm');

const { Promise, Uint8Array, TypeError } = globalThis;
const resolved = Promise.resolve();

class TextDecoder {
  #label;
  #fatal;
  #ignoreBOM;

  constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
    this.#label = `${label}`;
    this.#fatal = fatal === true;
    this.#ignoreBOM = ignoreBOM === true;
  }

  /** @param {ArrayBufferView | ArrayBuffer} [view] */
  decode(view) {
    const text = bridge.decode(this.#label, this.#fatal, this.#ignoreBOM, view);
    if (text === undefined) throw new TypeError('The encoded data was not valid');
    return text;
  }
}

class TextEncoder {
  encode(text = '') {
    const bytes = new Uint8Array(bridge.utf8Length(`${text}`));
    bridge.encodeInto(`${text}`, bytes);
    return bytes;
  }
}

/** As much of `AbortSignal` as jsdom uses for its own requests. Pages get jsdom's class. */
class AbortSignal {
  aborted = false;
  /** @type {unknown} */
  reason = undefined;
  /** @type {Set<(event: object) => void>} */
  #listeners = new Set();

  /**
   * @param {string} type
   * @param {(event: object) => void} listener
   */
  addEventListener(type, listener) {
    if (type === 'abort' && !this.aborted) this.#listeners.add(listener);
  }

  /**
   * @param {string} _type
   * @param {(event: object) => void} listener
   */
  removeEventListener(_type, listener) {
    this.#listeners.delete(listener);
  }

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  /**
   * @param {AbortSignal} signal
   * @param {unknown} reason
   */
  static abort(signal, reason) {
    signal.aborted = true;
    signal.reason = reason;
    const listeners = [...signal.#listeners];
    signal.#listeners.clear();
    for (const listener of listeners) listener({ type: 'abort', target: signal });
  }
}

class AbortController {
  signal = new AbortSignal();

  abort(reason = new Error('This operation was aborted')) {
    if (!this.signal.aborted) AbortSignal.abort(this.signal, reason);
  }
}

/** jsdom replaces what this throws by an exception of the window. @param {(text: string) => string | undefined} convert */
function base64(convert) {
  return (/** @type {unknown} */ text) => {
    const converted = convert(`${text}`);
    if (converted === undefined) throw new Error('Invalid character');
    return converted;
  };
}

/** @param {boolean} repeats */
function timer(repeats) {
  return (/** @type {Function} */ callback, /** @type {unknown} */ delay, /** @type {unknown[]} */ ...parameters) =>
    bridge.setTimer(() => callback(...parameters), Number(delay) || 0, repeats);
}

Object.assign(globalThis, {
  global: globalThis,
  AbortController,
  AbortSignal,
  atob: base64(bridge.atob),
  btoa: base64(bridge.btoa),
  TextDecoder,
  TextEncoder,
  performance: { now: bridge.now, timeOrigin: bridge.timeOrigin },
  queueMicrotask: (/** @type {() => void} */ callback) => void resolved.then(callback),
  setImmediate: (/** @type {() => void} */ callback) => bridge.setImmediate(callback),
  setTimeout: timer(false),
  setInterval: timer(true),
  clearTimeout: (/** @type {number} */ id) => bridge.clearTimer(id),
  clearInterval: (/** @type {number} */ id) => bridge.clearTimer(id),
});
