'use strict';

// Makes functions of the host look to pages like those of a browser: they have names, and their texts do not show their
// code.

const host = require('selfprof:host');
const { namedOperations } = require('selfprof:named-operations');

const { toString } = Function.prototype;
const { endsWith } = String.prototype;
const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect;
/** Shared by the windows of a thread: a function of one window may be given to the `toString` of another. */
const { get: textOf, set: setText } = host.functionTexts;

/** The text of a function that shows only its name. */
const NATIVE = '';

/**
 * Operations of windows that jsdom defines as functions without names.
 *
 * @type {Record<string, (...parameters: any[]) => unknown>}
 */
const originals = {};
/** Named functions in their places. */
const OPERATIONS = namedOperations(originals, noting);

/** Notes what the function of a timer throws, which jsdom calls directly. @param {unknown} handler */
function noting(handler) {
  if (typeof handler !== 'function') return handler;
  return /** @this {unknown} @param {unknown[]} values */ function (...values) {
    host.apply(/** @type {any} */ (handler), this, values);
  };
}

/** Puts named functions into the window. */
function nameOperations() {
  for (const name of ownKeys(OPERATIONS)) {
    const property = getOwnPropertyDescriptor(globalThis, name);
    if (typeof name === 'symbol' || typeof property?.value !== 'function') continue;
    originals[name] = property.value;
    defineProperty(globalThis, name, { ...property, value: OPERATIONS[name] });
  }
}

/**
 * The functions that an object has. Getters and setters of event handlers, which jsdom makes for each window, get their
 * names.
 *
 * @param {object} holder
 */
function noteFunctions(holder) {
  for (const key of ownKeys(holder)) {
    const { get, set, value } = /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(holder, key));
    if (typeof value === 'function') setText(value, NATIVE);
    if (get !== undefined) noteAccessor(get, 'get', key);
    if (set !== undefined) noteAccessor(set, 'set', key);
  }
}

/**
 * @param {Function} accessor
 * @param {'get' | 'set'} kind
 * @param {string | symbol} key
 */
function noteAccessor(accessor, kind, key) {
  if (accessor.name === kind && typeof key === 'string') {
    defineProperty(accessor, 'name', { value: `${kind} ${key}`, configurable: true });
  }
  setText(accessor, NATIVE);
}

/** @param {Function} part */
function isBuiltIn(part) {
  return apply(endsWith, apply(toString, part, []), ['{ [native code] }']);
}

/**
 * Makes an interface without a parent a function of this realm: jsdom's inherit from the `Function.prototype` of its
 * own realm, which pages and the interfaces that extend them would get.
 *
 * @param {Function} interfaceObject
 */
function adopt(interfaceObject) {
  const parent = getPrototypeOf(interfaceObject);
  // Other interfaces inherit from their parents, which have prototypes for instances.
  if (typeof parent === 'function' && getOwnPropertyDescriptor(parent, 'prototype') === undefined)
    setPrototypeOf(interfaceObject, Function.prototype);
}

/**
 * Whether all windows of the thread have a function: Node's interfaces, and jsdom's helpers.
 *
 * @param {string | symbol} key
 * @param {Function} value
 */
function isShared(key, value) {
  return value === host.CryptoKey || (typeof key === 'string' && (host.streams[key] === value || key[0] === '_'));
}

/** Must be called when all functions of the window have been defined, and before a script of the page runs. */
function hideHostCode() {
  nameOperations();
  noteFunctions(globalThis);
  for (const key of ownKeys(globalThis)) {
    const value = getOwnPropertyDescriptor(globalThis, key)?.value;
    // Interfaces, with their static members and their prototypes. Those of ECMAScript are native already.
    if (typeof value !== 'function' || isBuiltIn(value)) continue;
    if (!isShared(key, value)) adopt(value);
    noteFunctions(value);
    const prototype = getOwnPropertyDescriptor(value, 'prototype')?.value;
    if (typeof prototype === 'object' && prototype !== null) noteFunctions(prototype);
  }
  const holder = {
    /** @this {Function} */
    toString() {
      return textOf(this) ?? apply(toString, this, []);
    },
  };
  setText(holder.toString, NATIVE);
  const { toString: value } = holder;
  defineProperty(Function.prototype, 'toString', { value, writable: true, configurable: true });
}

module.exports = { NATIVE, hideHostCode, setText };
