'use strict';

// The program of a window's realm, which runs there first. The functions, objects and errors that it makes belong to that realm, as if the
// page's own scripts had made them.

const host = require('selfprof:host');
const { deserialize } = require('./structured-clone.cjs');
const { serializeHere } = require('./structured-clone-api.cjs');
const { install } = require('./install-globals.cjs');
const { NATIVE, setText } = require('./native-functions.cjs');
const { dispatchMessage } = require('./ports.cjs');
const json = require('./webdriver-json.cjs');

const { apply, defineProperty } = Reflect;
const { then } = Promise.prototype;
/** Errors that the host may throw in a window. @type {Record<string, ErrorConstructor>} */
const ERRORS = { Error, RangeError, SyntaxError, TypeError };

/** @typedef {import('./contracts.js').WindowCode} WindowCode */

/** @type {WindowCode['describe']} */
function describe(error) {
  const read = (/** @type {string} */ key) => {
    try {
      const value = /** @type {any} */ (error)?.[key];
      return typeof value === 'string' ? value : undefined;
    } catch {
      return undefined;
    }
  };
  const message = read('message');
  if (host.platform.isError(error) || message !== undefined) {
    return { name: read('name') ?? 'Error', message: message ?? '', stack: read('stack') ?? '' };
  }
  return { name: 'Error', message: `the page threw ${host.inspect(error)}`, stack: '' };
}

/** Calls back when a value that may be a promise is settled: `import()` calls no `then` that a page has replaced. @type {WindowCode['settle']} */
function settle(value, onFulfilled, onRejected) {
  apply(then, Promise.resolve(value), [onFulfilled, onRejected]);
}

/**
 * Calls a function that a script of the page's user gave, and serializes its result. A value that is not a function is the result itself.
 *
 * @type {WindowCode['evaluate']}
 */
function evaluate(callee, record, onDone) {
  const fail = (/** @type {unknown} */ error) => onDone({ error: describe(error) });
  try {
    const result =
      typeof callee === 'function' && record !== undefined
        ? apply(callee, undefined, /** @type {unknown[]} */ (deserialize(record, host.platform).value))
        : callee;
    settle(
      result,
      (value) => {
        try {
          onDone({ value: serializeHere(value) });
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

/** @type {WindowCode['makeError']} */
function makeError(name, message) {
  return new ERRORS[name](message);
}

/** @type {WindowCode['makeException']} */
function makeException(message, name) {
  return new DOMException(message, name);
}

/** Defines a module's `import.meta`. @type {WindowCode['describeModule']} */
function describeModule(meta, url, resolve) {
  Object.assign(meta, {
    url,
    /** @param {unknown} specifier */
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
  });
}

/** @type {WindowCode['owns']} */
function owns(promise) {
  return Object.getPrototypeOf(promise) === Promise.prototype || promise instanceof Promise;
}

/** @type {WindowCode['wrap']} */
function wrap(name, call, length) {
  const { [name]: wrapped } = {
    /** @this {unknown} @param {...unknown} parameters */
    [name](...parameters) {
      return apply(call, this, parameters);
    },
  };
  defineProperty(wrapped, 'length', { value: length, configurable: true });
  setText(wrapped, NATIVE);
  return wrapped;
}

/** @typedef {Parameters<WindowCode['setMarkerFunctions']>[0]} MarkerFunction */

/** Functions of this realm that call their argument, by the profiler marker of the samples taken meanwhile. @type {{ parse?: MarkerFunction, style?: MarkerFunction }} */
const markerFunctions = { parse: undefined, style: undefined };

/** @type {WindowCode['runWithMarker']} */
function runWithMarker(marker, callback) {
  const call = /** @type {MarkerFunction} */ (markerFunctions[marker]);
  return call(callback);
}

/** Typed arrays that the host fills, by name. @type {Record<string, Float64ArrayConstructor | Uint32ArrayConstructor | Uint8ArrayConstructor>} */
const ARRAYS = { Float64Array, Uint32Array, Uint8Array };

/** @type {WindowCode} */
module.exports = {
  allocate: (name, length) => new ARRAYS[name](length),
  describe,
  describeModule,
  deserialize: (record) => deserialize(record, host.platform),
  runWithMarker,
  emptyObject: () => ({}),
  evaluate,
  execute: (callee, parameters, references, isAsync, onDone) =>
    json.execute(callee, parameters, references, isAsync, { describe, settle }, onDone),
  freeze: (object) => Object.freeze(object),
  install,
  makeError,
  makeException,
  owns,
  parse: (text) => JSON.parse(text),
  receive: (record) => dispatchMessage(globalThis, record),
  serialize: serializeHere,
  setText,
  settle,
  setMarkerFunctions(parse, style) {
    markerFunctions.parse = parse;
    markerFunctions.style = style;
  },
  toJson: (value, references) => json.write(value, references, describe),
  wrap,
};
