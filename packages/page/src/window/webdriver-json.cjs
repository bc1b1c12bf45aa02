'use strict';

// Converts values of a page to JSON for WebDriver's clients, and back.
// https://www.w3.org/TR/webdriver2/#dfn-json-clone
//
// Like structured-clone.cjs this calls no method that a page may have replaced. Getters of the page run, so the result's size is
// limited.

const { Array, Number, Object, Promise } = globalThis;
const { isArray } = Array;
const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
const { stringify } = JSON;
const tagOf = (/** @type {unknown} */ value) => apply(Object.prototype.toString, value, []);

/** How deep values may be nested, of the 128 levels that the CLI reads, and how long the JSON of a value may be. */
const MAX_DEPTH = 100;
const MAX_LENGTH = 64 << 20;

/** A failure, with the protocol's error code. It is not an Error, so a page cannot have thrown it. Nothing in it runs code of a page. */
class Refusal {
  code;
  message;
  #isRefusal = true;

  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    this.code = code;
    this.message = message;
  }

  /** @param {unknown} thrown @returns {thrown is Refusal} */
  static is(thrown) {
    return typeof thrown === 'object' && thrown !== null && #isRefusal in thrown && thrown.#isRefusal;
  }
}

/** @typedef {import('./contracts.js').CommandOutcome} CommandOutcome */
/** @typedef {import('./contracts.js').WebDriverReferences} References */
/** @typedef {import('./contracts.js').WindowCode} WindowCode */

class Writer {
  #references;
  #length = 0;
  /** The objects around the value that is being written. @type {object[]} */
  #seen = [];

  /** @param {References} references */
  constructor(references) {
    this.#references = references;
  }

  /** @param {unknown} value @returns {string} */
  write(value) {
    const text = this.#text(value);
    this.#length += text.length;
    if (this.#length > MAX_LENGTH) throw new Refusal('javascript error', 'the value is too large');
    return text;
  }

  /** @param {unknown} value */
  #text(value) {
    switch (typeof value) {
      case 'undefined':
        return 'null';
      case 'boolean':
      case 'number':
      case 'string':
        return stringify(value);
      case 'object':
      case 'function':
        return value === null ? 'null' : this.#object(/** @type {object} */ (value));
      default:
        throw new Refusal('javascript error', `a ${typeof value} cannot be written as JSON`);
    }
  }

  /** @param {object} value */
  #object(value) {
    const { text, isCollection, error } = this.#references.describe(value);
    if (error !== undefined) throw new Refusal(error.code, error.message);
    if (text !== undefined) return text;
    for (let at = 0; at < this.#seen.length; at++) {
      if (this.#seen[at] === value) throw new Refusal('javascript error', 'the value is cyclic');
    }
    if (this.#seen.length === MAX_DEPTH)
      throw new Refusal('javascript error', `the value is nested more than ${MAX_DEPTH} levels deep`);
    defineProperty(this.#seen, this.#seen.length, {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    const written = this.#members(value, isCollection);
    this.#seen.length -= 1;
    return written;
  }

  /**
   * @param {any} value of the page
   * @param {boolean | undefined} isCollection
   */
  #members(value, isCollection) {
    const toJSON = getOwnPropertyDescriptor(value, 'toJSON') === undefined ? undefined : value.toJSON;
    if (typeof toJSON === 'function') return this.write(apply(toJSON, value, []));
    let text = '';
    if (isArray(value) || isCollection || tagOf(value) === '[object Arguments]') {
      const length = Number(value.length) >>> 0;
      for (let at = 0; at < length; at++) text += (at === 0 ? '' : ',') + this.write(value[at]);
      return `[${text}]`;
    }
    const keys = ownKeys(value);
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at];
      if (typeof key !== 'string' || getOwnPropertyDescriptor(value, key)?.enumerable !== true) continue;
      text += `${text === '' ? '' : ','}${stringify(key)}:${this.write(value[key])}`;
    }
    return `{${text}}`;
  }
}

/**
 * Replaces references in parsed JSON by the objects that they stand for.
 *
 * @param {any} value
 * @param {References} references
 * @returns {any}
 */
function resolve(value, references) {
  if (typeof value !== 'object' || value === null) return value;
  const found = references.resolve(value);
  if (found?.error !== undefined) throw new Refusal(found.error.code, found.error.message);
  if (found !== undefined) return found.value;
  const keys = ownKeys(value);
  for (let at = 0; at < keys.length; at++) {
    if (isArray(value) && keys[at] === 'length') continue;
    value[keys[at]] = resolve(value[keys[at]], references);
  }
  return value;
}

/**
 * Calls a function as "execute script" and "execute async script" do.
 *
 * @param {(...parameters: any[]) => unknown} callee
 * @param {unknown[]} parameters parsed JSON, of this realm
 * @param {References} references
 * @param {boolean} isAsync whether the result is what the function passes to its last argument
 * @param {Pick<WindowCode, 'describe' | 'settle'>} code
 * @param {(outcome: CommandOutcome) => void} onDone
 */
function execute(callee, parameters, references, isAsync, { describe, settle }, onDone) {
  const fail = (/** @type {unknown} */ error) => {
    if (Refusal.is(error)) {
      onDone({ error: { code: error.code, message: error.message } });
      return;
    }
    const { name, message, stack } = describe(error);
    onDone({ error: { code: 'javascript error', message: `${name}: ${message}`, stack } });
  };
  const succeed = (/** @type {unknown} */ value) => {
    let text;
    try {
      text = new Writer(references).write(value);
    } catch (error) {
      fail(error);
      return;
    }
    onDone({ text });
  };
  try {
    const given = resolve(parameters, references);
    if (!isAsync) {
      settle(apply(callee, undefined, given), succeed, fail);
      return;
    }
    const result = new Promise((fulfil, reject) => {
      /** @type {unknown[]} */
      const list = [];
      const done = (/** @type {unknown} */ outcome) => fulfil(outcome);
      for (let at = 0; at <= given.length; at++) {
        const value = at === given.length ? done : given[at];
        defineProperty(list, at, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
      }
      const returned = apply(callee, undefined, list);
      if (typeof returned === 'object' && returned !== null && typeof returned.then === 'function') {
        settle(returned, fulfil, reject);
      }
    });
    settle(result, succeed, fail);
  } catch (error) {
    fail(error);
  }
}

/**
 * Converts a value to JSON.
 *
 * @param {unknown} value
 * @param {References} references
 * @param {WindowCode['describe']} describe
 * @returns {ReturnType<WindowCode['toJson']>}
 */
function write(value, references, describe) {
  try {
    return { text: new Writer(references).write(value) };
  } catch (error) {
    if (Refusal.is(error)) return { error: { code: error.code, message: error.message } };
    const { name, message } = describe(error);
    return { error: { code: 'javascript error', message: `${name}: ${message}` } };
  }
}

module.exports = { execute, write };
