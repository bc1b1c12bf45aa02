'use strict';

// The program of a window's realm, which runs there first. The functions, objects and errors that it makes belong to
// that realm, as if the page's own scripts had made them.

const { describe } = require('./describe-error.cjs');
const { deserialize, serialize } = require('./structured-clone.cjs');
const { install } = require('./install-globals.cjs');
const { NATIVE, setText } = require('./native-functions.cjs');
const { dispatchMessage } = require('./ports.cjs');
const { execute, toJson } = require('./webdriver-json.cjs');

const { apply, defineProperty } = Reflect;
const { then } = Promise.prototype;
/** Errors that the host may throw in a window. @type {Record<string, ErrorConstructor>} */
const ERRORS = { Error, RangeError, SyntaxError, TypeError };
/**
 * Typed arrays that the host fills, by name.
 *
 * @type {Record<string, Float64ArrayConstructor | Uint32ArrayConstructor | Uint8ArrayConstructor>}
 */
const ARRAYS = { Float64Array, Uint32Array, Uint8Array };

/** @typedef {import('./contracts.js').CloneRecord} CloneRecord */

/**
 * Calls back when a value that may be a promise is settled: `import()` calls no `then` that a page has replaced.
 *
 * @param {unknown} value
 * @param {(value: unknown) => void} onFulfilled
 * @param {(reason: unknown) => void} onRejected
 */
function settle(value, onFulfilled, onRejected) {
  apply(then, Promise.resolve(value), [onFulfilled, onRejected]);
}

/**
 * Calls a function that a script of the page's user gave, and serializes its result.
 *
 * @param {unknown} callee a value that is not a function is the result itself
 * @param {CloneRecord | undefined} record the parameters; undefined when `callee` is the result itself
 * @param {(outcome: import('./contracts.js').EvaluationOutcome) => void} onDone
 */
async function evaluate(callee, record, onDone) {
  /** @type {import('./contracts.js').EvaluationOutcome} */
  let outcome;
  try {
    const result = await (typeof callee === 'function' && record !== undefined
      ? apply(callee, undefined, /** @type {unknown[]} */ (deserialize(record).value))
      : callee);
    outcome = toOutcome(result);
  } catch (error) {
    outcome = { error: describe(error) };
  }
  onDone(outcome);
}

/** @param {unknown} result of a script of the page's user @returns {import('./contracts.js').EvaluationOutcome} */
function toOutcome(result) {
  try {
    return { value: serialize(result) };
  } catch (error) {
    const { name, message, stack } = describe(error);
    const hint = "hint: return plain data, such as an element's text";
    return { error: { name, message: name === 'DataCloneError' ? `${message}\n\n${hint}` : message, stack } };
  }
}

/**
 * Defines a module's `import.meta`.
 *
 * @param {object} meta
 * @param {string} url
 * @param {(specifier: string) => unknown} resolve throws when there is no such module
 */
function describeModule(meta, url, resolve) {
  Object.assign(meta, {
    url,
    /** @param {unknown} specifier */
    resolve(specifier) {
      try {
        return `${resolve(`${specifier}`)}`;
      } catch {
        throw new TypeError(`Failed to resolve module specifier '${specifier}'`);
      }
    },
  });
}

/** Whether a promise was made in the window's realm. @param {object} promise */
function owns(promise) {
  return Object.getPrototypeOf(promise) === Promise.prototype || promise instanceof Promise;
}

/**
 * A function of the window's realm, as those of the platform are: it cannot be constructed.
 *
 * @param {string} name
 * @param {(...parameters: any[]) => unknown} call
 * @param {number} length
 * @returns {(...parameters: any[]) => unknown}
 */
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

module.exports = {
  allocate: (/** @type {string} */ name, /** @type {number} */ length) => new ARRAYS[name](length),
  describe,
  describeModule,
  deserialize,
  emptyObject: () => /** @type {Record<string, any>} */ ({}),
  evaluate,
  execute,
  freeze: Object.freeze,
  install,
  makeError: (/** @type {string} */ name, /** @type {string} */ message) => new ERRORS[name](message),
  makeException: (/** @type {string} */ message, /** @type {string} */ name) => new DOMException(message, name),
  owns,
  parse: JSON.parse,
  /** Fires a message at a worker's global object. */
  receive: (/** @type {CloneRecord} */ record) => dispatchMessage(globalThis, record),
  serialize,
  setText,
  settle,
  toJson,
  wrap,
};
