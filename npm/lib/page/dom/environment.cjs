'use strict';

// What jsdom expects of the global object it runs under, beside what ECMAScript gives.

const gate = require('selfprof:gate');

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

  decode(view) {
    const text = gate.decode(this.#label, this.#fatal, this.#ignoreBOM, view);
    if (text === undefined) throw new TypeError('The encoded data was not valid');
    return text;
  }
}

class TextEncoder {
  encode(text = '') {
    const bytes = new Uint8Array(gate.utf8Length(`${text}`));
    gate.encodeInto(`${text}`, bytes);
    return bytes;
  }
}

/** As much of `AbortSignal` as jsdom uses for its own requests; what pages see is jsdom's. */
class AbortSignal {
  aborted = false;
  reason = undefined;
  #listeners = new Map();

  addEventListener(type, listener) {
    if (type === 'abort' && !this.aborted) this.#listeners.set(listener, listener);
  }

  removeEventListener(type, listener) {
    this.#listeners.delete(listener);
  }

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  static abort(signal, reason) {
    signal.aborted = true;
    signal.reason = reason;
    const listeners = [...signal.#listeners.keys()];
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

/** jsdom turns whatever this throws into the window's own exception. */
function base64(convert) {
  return (text) => {
    const converted = convert(`${text}`);
    if (converted === undefined) throw new Error('Invalid character');
    return converted;
  };
}

Object.assign(globalThis, {
  global: globalThis,
  AbortController,
  AbortSignal,
  atob: base64(gate.atob),
  btoa: base64(gate.btoa),
  TextDecoder,
  TextEncoder,
  performance: { now: gate.now, timeOrigin: gate.timeOrigin },
  queueMicrotask: (callback) => void resolved.then(callback),
  setImmediate: (callback) => gate.setImmediate(callback),
  setTimeout: (callback, delay, ...parameters) => gate.setTimer(() => callback(...parameters), Number(delay) || 0, false),
  setInterval: (callback, delay, ...parameters) => gate.setTimer(() => callback(...parameters), Number(delay) || 0, true),
  clearTimeout: (id) => gate.clearTimer(id),
  clearInterval: (id) => gate.clearTimer(id),
});
