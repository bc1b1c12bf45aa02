'use strict';

// Values of a page as WebDriver's clients see them, and the other way round.
// https://www.w3.org/TR/webdriver2/#dfn-json-clone
//
// Like ../clone.cjs it looks up no method that a page may have replaced. What a page's getters do is the page's affair: there
// is a limit to how much comes out of them.

const { Array, Number, Object, Promise } = globalThis;
const { isArray } = Array;
const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
const { stringify } = JSON;
const tagOf = (value) => apply(Object.prototype.toString, value, []);

/** How deep values may be nested, and how long the text of one may get. */
const DEPTH = 200;
const LENGTH = 64 << 20;

/** What is refused, with the protocol's own code for it. Not an error: no page can have thrown one. */
class Refusal {
  constructor(code, message) {
    this.code = code;
    this.message = message;
  }
}

/**
 * What knows about elements and windows; see dom/automation/references.cjs.
 *
 * @typedef {object} References
 * @property {(value: object) => { text?: string, isCollection?: boolean, error?: { code: string, message: string } }} describe
 * @property {(object: Record<string, unknown>) => { value?: object, error?: { code: string, message: string } } | undefined} resolve
 */

class Writer {
  #references;
  #length = 0;
  #seen = [];

  constructor(references) {
    this.#references = references;
  }

  write(value) {
    const text = this.#text(value);
    this.#length += text.length;
    if (this.#length > LENGTH) throw new Refusal('javascript error', 'the value is too large');
    return text;
  }

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
        return value === null ? 'null' : this.#object(value);
      default:
        throw new Refusal('javascript error', `a ${typeof value} has no JSON`);
    }
  }

  #object(value) {
    const { text, isCollection, error } = this.#references.describe(value);
    if (error !== undefined) throw new Refusal(error.code, error.message);
    if (text !== undefined) return text;
    for (let at = 0; at < this.#seen.length; at++) {
      if (this.#seen[at] === value) throw new Refusal('javascript error', 'the value is cyclic');
    }
    if (this.#seen.length === DEPTH) throw new Refusal('javascript error', `the value is nested more than ${DEPTH} deep`);
    defineProperty(this.#seen, this.#seen.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    const written = this.#members(value, isCollection);
    this.#seen.length -= 1;
    return written;
  }

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

/** Puts what references stand for into parsed JSON. */
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
 * @param {Function} callee
 * @param {unknown[]} parameters JSON of this realm
 * @param {References} references
 * @param {boolean} isAsync whether the result is what the function hands to its last argument
 * @param {{ describe: (error: unknown) => object, settle: (value: unknown, onDone: Function, onError: Function) => void }} code
 * @param {(outcome: { text: string } | { error: { code: string, message: string, stack?: string } }) => void} onDone
 */
function execute(callee, parameters, references, isAsync, { describe, settle }, onDone) {
  const fail = (error) => {
    if (error instanceof Refusal) {
      onDone({ error: { code: error.code, message: error.message } });
      return;
    }
    const { name, message, stack } = describe(error);
    onDone({ error: { code: 'javascript error', message: `${name}: ${message}`, stack } });
  };
  const succeed = (value) => {
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
      const list = [];
      for (let at = 0; at <= given.length; at++) {
        const value = at === given.length ? (outcome) => fulfil(outcome) : given[at];
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

/** A value as JSON text, or why it has none. */
function write(value, references, describe) {
  try {
    return { text: new Writer(references).write(value) };
  } catch (error) {
    if (error instanceof Refusal) return { error: { code: error.code, message: error.message } };
    const { name, message, stack } = describe(error);
    return { error: { code: 'javascript error', message: `${name}: ${message}`, stack } };
  }
}

module.exports = { execute, write };
