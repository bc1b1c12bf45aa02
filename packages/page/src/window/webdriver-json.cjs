'use strict';

// Converts values of a page to JSON for WebDriver's clients, and back.
// https://www.w3.org/TR/webdriver2/#dfn-json-clone

const { describe } = require('./describe-error.cjs');

const { apply } = Reflect;
const { stringify } = JSON;

/** How deep values may be nested, of the 128 levels that the CLI reads. */
const MAX_DEPTH = 100;
/** A failure, with the protocol's error code. */
class Refusal extends Error {
  #code;

  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.#code = code;
  }

  /**
   * The code of a refusal. What a page throws has none, and is not looked into.
   *
   * @param {unknown} error
   * @returns {string | undefined}
   */
  static codeOf(error) {
    return typeof error === 'object' && error !== null && #code in error ? error.#code : undefined;
  }
}

/** @typedef {import('./contracts.js').CommandOutcome} CommandOutcome */
/** @typedef {import('./contracts.js').WebDriverReferences} References */

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
    return `[${Array.from({ length }, (_, at) => write(value[at])).join()}]`;
  }
  const members = Object.keys(value).map((key) => `${stringify(key)}:${write(value[key])}`);
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
 * What a client gets of an error.
 *
 * @param {unknown} error
 * @returns {{ code: string, message: string, stack?: string }}
 */
function toFailure(error) {
  const code = Refusal.codeOf(error);
  const { name, message, stack } = describe(error);
  return code === undefined ? { code: 'javascript error', message: `${name}: ${message}`, stack } : { code, message };
}

/**
 * Calls a function as "execute script" and "execute async script" do.
 *
 * @param {(...parameters: any[]) => unknown} callee
 * @param {unknown[]} parameters parsed JSON, of this realm
 * @param {References} references
 * @param {boolean} isAsync whether the result is what the function passes to its last argument
 * @param {(outcome: CommandOutcome) => void} onDone
 */
async function execute(callee, parameters, references, isAsync, onDone) {
  /** @type {CommandOutcome} */
  let outcome;
  try {
    const given = resolve(parameters, references);
    const value = await (isAsync ? callAsync(callee, given) : apply(callee, undefined, given));
    outcome = { text: toText(value, references) };
  } catch (error) {
    outcome = { error: toFailure(error) };
  }
  onDone(outcome);
}

/**
 * @param {(...parameters: any[]) => unknown} callee
 * @param {unknown[]} parameters
 */
function callAsync(callee, parameters) {
  return new Promise((fulfil, reject) => {
    const returned = apply(callee, undefined, [...parameters, fulfil]);
    if (typeof returned?.then === 'function') returned.then(fulfil, reject);
  });
}

/**
 * Converts a value to JSON.
 *
 * @param {unknown} value
 * @param {References} references
 * @returns {CommandOutcome}
 */
function toJson(value, references) {
  try {
    return { text: toText(value, references) };
  } catch (error) {
    return { error: toFailure(error) };
  }
}

module.exports = { execute, toJson };
