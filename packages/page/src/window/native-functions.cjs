'use strict';

// Makes functions of the host look to pages like those of a browser: they have names, and their texts do not show their code.

const host = require('selfprof:host');

const { toString } = Function.prototype;
const { endsWith } = String.prototype;
const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect;
/** Shared by the windows of a thread: a function of one window may be given to the `toString` of another. */
const { get: textOf, set: setText } = host.functionTexts;

/** The text of a function that shows only its name. */
const NATIVE = '';

/** Operations of windows that jsdom defines as functions without names. @type {Record<string, Function>} */
const originals = { __proto__: /** @type {never} */ (null) };

/**
 * Notes what the function of a timer throws, which jsdom calls directly.
 *
 * @param {IArguments} parameters
 */
function noting(parameters) {
  const handler = parameters[0];
  if (typeof handler === 'function')
    /** @this {unknown} @param {...unknown} values */
    parameters[0] = function (...values) {
      host.apply(handler, this, values);
    };
  return parameters;
}

/**
 * Named functions in their places. V8 shows the name that a function has in its source text, so a computed name or a changed
 * property does not suffice.
 *
 * @type {Record<string, Function>}
 */
const OPERATIONS = {
  alert() {
    return apply(originals.alert, this, arguments);
  },
  atob(/** @type {unknown} */ _data) {
    return apply(originals.atob, this, arguments);
  },
  blur() {
    return apply(originals.blur, this, arguments);
  },
  btoa(/** @type {unknown} */ _data) {
    return apply(originals.btoa, this, arguments);
  },
  cancelAnimationFrame(/** @type {unknown} */ _handle) {
    return apply(originals.cancelAnimationFrame, this, arguments);
  },
  captureEvents() {
    return apply(originals.captureEvents, this, arguments);
  },
  clearInterval() {
    return apply(originals.clearInterval, this, arguments);
  },
  clearTimeout() {
    return apply(originals.clearTimeout, this, arguments);
  },
  close() {
    return apply(originals.close, this, arguments);
  },
  confirm() {
    return apply(originals.confirm, this, arguments);
  },
  focus() {
    return apply(originals.focus, this, arguments);
  },
  getComputedStyle(/** @type {unknown} */ _element) {
    return apply(originals.getComputedStyle, this, arguments);
  },
  getSelection() {
    return apply(originals.getSelection, this, arguments);
  },
  moveBy(/** @type {unknown} */ _x, /** @type {unknown} */ _y) {
    return apply(originals.moveBy, this, arguments);
  },
  moveTo(/** @type {unknown} */ _x, /** @type {unknown} */ _y) {
    return apply(originals.moveTo, this, arguments);
  },
  open() {
    return apply(originals.open, this, arguments);
  },
  print() {
    return apply(originals.print, this, arguments);
  },
  prompt() {
    return apply(originals.prompt, this, arguments);
  },
  queueMicrotask(/** @type {unknown} */ _callback) {
    return apply(originals.queueMicrotask, this, arguments);
  },
  releaseEvents() {
    return apply(originals.releaseEvents, this, arguments);
  },
  requestAnimationFrame(/** @type {unknown} */ _callback) {
    return apply(originals.requestAnimationFrame, this, arguments);
  },
  resizeBy(/** @type {unknown} */ _x, /** @type {unknown} */ _y) {
    return apply(originals.resizeBy, this, arguments);
  },
  resizeTo(/** @type {unknown} */ _width, /** @type {unknown} */ _height) {
    return apply(originals.resizeTo, this, arguments);
  },
  scroll() {
    return apply(originals.scroll, this, arguments);
  },
  scrollBy() {
    return apply(originals.scrollBy, this, arguments);
  },
  scrollTo() {
    return apply(originals.scrollTo, this, arguments);
  },
  setInterval(/** @type {unknown} */ _handler) {
    return apply(originals.setInterval, this, noting(arguments));
  },
  setTimeout(/** @type {unknown} */ _handler) {
    return apply(originals.setTimeout, this, noting(arguments));
  },
  stop() {
    return apply(originals.stop, this, arguments);
  },
};

/** Puts the named functions into the window. */
function nameOperations() {
  for (const name of ownKeys(OPERATIONS)) {
    const property = getOwnPropertyDescriptor(globalThis, name);
    if (typeof name === 'symbol' || typeof property?.value !== 'function') continue;
    originals[name] = property.value;
    defineProperty(globalThis, name, { ...property, __proto__: null, value: OPERATIONS[name] });
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
    defineProperty(accessor, 'name', { __proto__: null, value: `${kind} ${key}`, configurable: true });
  }
  setText(accessor, NATIVE);
}

/** @param {Function} part */
function isBuiltIn(part) {
  return apply(endsWith, apply(toString, part, []), ['{ [native code] }']);
}

/**
 * Makes an interface without a parent a function of this realm: jsdom's inherit from the `Function.prototype` of its own realm, which pages
 * and the interfaces that extend them would get.
 *
 * @param {Function} interfaceObject
 */
function adopt(interfaceObject) {
  const parent = getPrototypeOf(interfaceObject);
  // Other interfaces inherit from their parents, which have prototypes for instances.
  if (typeof parent === 'function' && getOwnPropertyDescriptor(parent, 'prototype') === undefined)
    setPrototypeOf(interfaceObject, Function.prototype);
}

/** Must be called when all functions of the window have been defined, and before a script of the page runs. */
function hideHostCode() {
  nameOperations();
  noteFunctions(globalThis);
  for (const key of ownKeys(globalThis)) {
    const value = getOwnPropertyDescriptor(globalThis, key)?.value;
    // Interfaces, with their static members and their prototypes. Those of ECMAScript are native already.
    if (typeof value !== 'function' || isBuiltIn(value)) continue;
    adopt(value);
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
  defineProperty(Function.prototype, 'toString', { __proto__: null, value, writable: true, configurable: true });
}

module.exports = { NATIVE, hideHostCode, setText };
