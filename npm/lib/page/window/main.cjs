'use strict';

// Runs first in each window's realm. What it makes belongs to that realm: its functions, objects and errors are those that
// the page's own scripts would have made. It takes the intrinsics it needs before a script of the page can change them.

const host = require('selfprof:host');
const { deserialize, serialize } = require('../clone.cjs');
const { serializeHere } = require('./cloning.cjs');
const json = require('./json.cjs');

const { Error, Object, Promise, RangeError, SyntaxError, TypeError } = globalThis;
const { parse } = JSON;
const { apply, defineProperty, deleteProperty } = Reflect;
/** Those that the host may ask for. */
const ERRORS = { Error, RangeError, SyntaxError, TypeError };
const { then } = Promise.prototype;
const { kindOf } = host.platform;

/** What was thrown, in words. */
function describe(error) {
  const read = (key) => {
    try {
      const value = error?.[key];
      return typeof value === 'string' ? value : undefined;
    } catch {
      return undefined;
    }
  };
  const message = read('message');
  if (kindOf(error) === 'Error' || message !== undefined) {
    return { name: read('name') ?? 'Error', message: message ?? '', stack: read('stack') ?? '' };
  }
  return { name: 'Error', message: `the page threw ${host.inspect(error)}`, stack: '' };
}

/** Calls back when a value that may be a promise is settled, whatever the page did to promises. */
function settle(value, onFulfilled, onRejected) {
  const promise = kindOf(value) === 'Promise' ? value : new Promise((resolve) => resolve(value));
  // `then` would ask the promise what class of promise to make, and the answer may be the page's. Without one, it is ours.
  const isOwn = defineProperty(promise, 'constructor', { __proto__: null, value: undefined, configurable: true });
  try {
    apply(then, promise, [onFulfilled, onRejected]);
  } finally {
    if (isOwn) deleteProperty(promise, 'constructor');
  }
}

/**
 * Calls a function that came out of a script of the page's user, and hands its result over as a record.
 *
 * @param {unknown} callee a function, or a value that is the result itself
 * @param {object} record of the arguments
 * @param {(outcome: object) => void} onDone
 */
function evaluate(callee, record, onDone) {
  const fail = (error) => onDone({ error: describe(error) });
  try {
    const { value: parameters } = deserialize(record, host.platform);
    const result = typeof callee === 'function' && parameters !== undefined ? apply(callee, undefined, parameters) : callee;
    settle(
      result,
      (value) => {
        try {
          onDone({ value: serialize(value, host.platform) });
        } catch (error) {
          fail(error);
        }
      },
      fail,
    );
  } catch (error) {
    fail(error);
  }
}

/** An error of this realm. */
function makeError(name, message) {
  return new ERRORS[name](message);
}

/** Fills in a module's `import.meta`. */
function describeModule(meta, url, resolve) {
  defineProperty(meta, 'url', { __proto__: null, value: url, writable: true, enumerable: true, configurable: true });
  const value = {
    resolve(specifier) {
      let resolved;
      try {
        resolved = resolve(`${specifier}`);
      } catch {
        resolved = undefined;
      }
      if (typeof resolved !== 'string') throw new TypeError(`Failed to resolve module specifier '${specifier}'`);
      return resolved;
    },
  };
  defineProperty(meta, 'resolve', { __proto__: null, value: value.resolve, writable: true, enumerable: true, configurable: true });
}

/** Whether a promise was made in this realm. */
function owns(promise) {
  return Object.getPrototypeOf(promise) === Promise.prototype || promise instanceof Promise;
}

/** A function of this realm, as the platform's are: it cannot be constructed, and throws errors of this realm. */
function wrap(name, call, length) {
  const { [name]: wrapped } = {
    [name](...parameters) {
      return apply(call, this, parameters);
    },
  };
  defineProperty(wrapped, 'length', { __proto__: null, value: length, configurable: true });
  return wrapped;
}

/** Functions of this realm that call what they are given, by what profilers are told of that. */
const work = { __proto__: null, parse: undefined, style: undefined };

/** Does the host's work for this realm's document. */
function during(marker, callback) {
  const call = work[marker];
  return call(callback);
}

/** Typed arrays, by name, for the main realm to fill. */
const ARRAYS = { Float64Array, Uint32Array, Uint8Array };

module.exports = {
  allocate: (name, length) => new ARRAYS[name](length),
  describe,
  describeModule,
  deserialize: (record) => deserialize(record, host.platform),
  during,
  emptyObject: () => ({}),
  evaluate,
  execute: (callee, parameters, references, isAsync, onDone) =>
    json.execute(callee, parameters, references, isAsync, { describe, settle }, onDone),
  freeze: Object.freeze,
  install: (settings) => require('./globals.cjs').install(settings),
  makeError,
  owns,
  parse,
  receive: (record) => require('./ports.cjs').dispatchMessage(globalThis, record),
  serialize: serializeHere,
  settle,
  takeWork(parse, style) {
    work.parse = parse;
    work.style = style;
  },
  toJson: (value, references) => json.write(value, references, describe),
  wrap,
};
