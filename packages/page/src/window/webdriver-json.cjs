'use strict';

// Converts values of a page to JSON for WebDriver's clients, and back.
// https://www.w3.org/TR/webdriver2/#dfn-json-clone

const { apply, getOwnPropertyDescriptor, ownKeys } = Reflect;
const { stringify } = JSON;

/** How deep values may be nested, of the 128 levels that the CLI reads. */
const MAX_DEPTH = 100;
/** How many items a value may have: a sparse array can claim billions. */
const MAX_ITEMS = 4_000_000;

/** A failure, with the protocol's error code. It is not an Error, so a page cannot have thrown it. */
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

  /** Asks no proxy for its prototype. @param {unknown} thrown @returns {thrown is Refusal} */
  static is(thrown) {
    return typeof thrown === 'object' && thrown !== null && #isRefusal in thrown && thrown.#isRefusal;
  }
}

/** @typedef {import('./contracts.js').CommandOutcome} CommandOutcome */
/** @typedef {import('./contracts.js').WebDriverReferences} References */
/** @typedef {import('./contracts.js').WindowCode} WindowCode */

/**
 * @param {any} value of the page
 * @param {References} references
 * @param {object[]} [around] the objects around the value
 * @returns {string}
 */
function toText(value, references, around = []) {
  switch (typeof value) {
    case 'undefined':
      return 'null';
    case 'boolean':
    case 'number':
    case 'string':
      return stringify(value);
    case 'object':
    case 'function':
      return value === null ? 'null' : objectToText(value, references, around);
    default:
      throw new Refusal('javascript error', `a ${typeof value} cannot be written as JSON`);
  }
}

/**
 * @param {any} value of the page
 * @param {References} references
 * @param {object[]} around
 */
function objectToText(value, references, around) {
  const { text, isCollection, error } = references.describe(value);
  if (error !== undefined) throw new Refusal(error.code, error.message);
  if (text !== undefined) return text;
  if (around.includes(value)) throw new Refusal('javascript error', 'the value is cyclic');
  if (around.length === MAX_DEPTH)
    throw new Refusal('javascript error', `the value is nested more than ${MAX_DEPTH} levels deep`);
  const write = (/** @type {unknown} */ member) => toText(member, references, [...around, value]);
  if (Object.hasOwn(value, 'toJSON') && typeof value.toJSON === 'function') return write(value.toJSON());
  if (Array.isArray(value) || isCollection || Object.prototype.toString.call(value) === '[object Arguments]') {
    const length = Number(value.length) >>> 0;
    if (length > MAX_ITEMS) throw new Refusal('javascript error', `the value is too large: it has ${length} items`);
    return `[${Array.from({ length }, (_, at) => write(value[at])).join()}]`;
  }
  const members = ownKeys(value)
    .filter((key) => typeof key === 'string' && getOwnPropertyDescriptor(value, key)?.enumerable)
    .map((key) => `${stringify(key)}:${write(value[key])}`);
  return `{${members.join()}}`;
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
  for (const key of Object.keys(value)) value[key] = resolve(value[key], references);
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
      text = toText(value, references);
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
      const returned = apply(callee, undefined, [...given, (/** @type {unknown} */ outcome) => fulfil(outcome)]);
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
    return { text: toText(value, references) };
  } catch (error) {
    if (Refusal.is(error)) return { error: { code: error.code, message: error.message } };
    const { name, message } = describe(error);
    return { error: { code: 'javascript error', message: `${name}: ${message}` } };
  }
}

module.exports = { execute, write };
