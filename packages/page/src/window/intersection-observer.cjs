'use strict';

// IntersectionObserver. https://w3c.github.io/IntersectionObserver/
//
// Pages have no layout, so no element is rendered: each target is reported once as not intersecting, as browsers do for `display: none`.

const host = require('selfprof:host');
const { defineInterfaceObject } = require('./webidl-members.cjs');

const TOKEN = Symbol('internal');
const MARGIN = /^(-?\d+(?:\.\d+)?)(px|%)$|^(-?0)$/;

class IntersectionObserverEntry {
  #target;
  #time;

  /**
   * @param {symbol} token
   * @param {object} target
   * @param {number} time
   */
  constructor(token, target, time) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'IntersectionObserverEntry': Illegal constructor");
    this.#target = target;
    this.#time = time;
  }

  get time() {
    return this.#time;
  }
  get rootBounds() {
    return this.#target && null;
  }
  get boundingClientRect() {
    return this.#target && new DOMRectReadOnly();
  }
  get intersectionRect() {
    return this.#target && new DOMRectReadOnly();
  }
  get isIntersecting() {
    return this.#target === undefined;
  }
  get intersectionRatio() {
    return this.#target && 0;
  }
  get target() {
    return this.#target;
  }
}

/** Parses a margin to four lengths. https://w3c.github.io/IntersectionObserver/#parse-a-margin @param {string} text */
function parseMargin(text) {
  const parts = text
    .trim()
    .split(/\s+/)
    .filter((part) => part !== '');
  const lengths = parts.map((part) => {
    const match = MARGIN.exec(part);
    if (match === null) throw new DOMException('rootMargin must be specified in pixels or percent.', 'SyntaxError');
    return match[3] === undefined ? `${Number(match[1])}${match[2]}` : '0px';
  });
  if (lengths.length > 4) throw new DOMException('rootMargin has more than four values.', 'SyntaxError');
  const [top = '0px', right = top, bottom = top, left = right] = lengths;
  return [top, right, bottom, left].join(' ');
}

/** @param {any} value of the page */
function toThresholds(value) {
  const isList = typeof value === 'object' && value !== null && value[Symbol.iterator] !== undefined;
  const list = Array.from(isList ? value : [value], Number);
  for (const threshold of list) {
    if (!Number.isFinite(threshold)) throw new TypeError('Threshold values are finite numbers.');
    if (threshold < 0 || threshold > 1) throw new RangeError('Threshold values must be numbers between 0 and 1.');
  }
  return Object.freeze((list.length === 0 ? [0] : list).sort((a, b) => a - b));
}

class IntersectionObserver {
  #callback;
  #root;
  #rootMargin;
  #thresholds;
  /** @type {Set<object>} */
  #targets = new Set();
  /** @type {IntersectionObserverEntry[]} */
  #records = [];
  #isQueued = false;

  /**
   * @param {any} callback of the page
   * @param {any} [options] of the page
   */
  constructor(callback, options = {}) {
    const context = "Failed to construct 'IntersectionObserver'";
    if (typeof callback !== 'function') throw new TypeError(`${context}: parameter 1 is not of type 'Function'.`);
    const { root = null, rootMargin = '0px', threshold = 0 } = options ?? {};
    if (root !== null && !host.isElement(root) && !host.isDocument(root)) {
      throw new TypeError(`${context}: member root is not of type 'Element or Document'.`);
    }
    this.#callback = callback;
    this.#root = root;
    this.#rootMargin = parseMargin(`${rootMargin}`);
    this.#thresholds = toThresholds(threshold);
  }

  get root() {
    return this.#root;
  }
  get rootMargin() {
    return this.#rootMargin;
  }
  get thresholds() {
    return this.#thresholds;
  }

  /** @param {any} target of the page */
  observe(target) {
    requireElement(target, 'observe', arguments.length);
    if (this.#targets.has(target)) return;
    this.#targets.add(target);
    // Intersections are computed when the page is rendered.
    requestAnimationFrame(() => {
      if (!this.#targets.has(target)) return;
      this.#records.push(new IntersectionObserverEntry(TOKEN, target, host.now()));
      this.#queue();
    });
  }

  /** @param {any} target of the page */
  unobserve(target) {
    requireElement(target, 'unobserve', arguments.length);
    this.#targets.delete(target);
  }

  disconnect() {
    this.#targets.clear();
  }

  takeRecords() {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #queue() {
    if (this.#isQueued) return;
    this.#isQueued = true;
    setTimeout(() => {
      this.#isQueued = false;
      const records = this.takeRecords();
      if (records.length > 0) host.apply(this.#callback, this, [records, this]);
    });
  }
}

/**
 * @param {unknown} value
 * @param {string} method
 * @param {number} count of arguments
 */
function requireElement(value, method, count) {
  const context = `Failed to execute '${method}' on 'IntersectionObserver'`;
  if (count < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
  if (!host.isElement(value)) throw new TypeError(`${context}: parameter 1 is not of type 'Element'.`);
}

// Taken before the page can replace them.
const { DOMRectReadOnly, requestAnimationFrame, setTimeout } = globalThis;

function installIntersectionObserver() {
  for (const Interface of [IntersectionObserver, IntersectionObserverEntry]) {
    for (const name of Object.getOwnPropertyNames(Interface.prototype)) {
      if (name !== 'constructor') Object.defineProperty(Interface.prototype, name, { enumerable: true });
    }
    Object.defineProperty(Interface.prototype, Symbol.toStringTag, { value: Interface.name, configurable: true });
    defineInterfaceObject(Interface.name, Interface);
  }
}

module.exports = { installIntersectionObserver };
