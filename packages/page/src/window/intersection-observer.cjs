'use strict';

// IntersectionObserver. https://w3c.github.io/IntersectionObserver/
//
// Pages have no layout, so no element is rendered: each target is reported once as not intersecting, as browsers do for
// `display: none`.

const host = require('selfprof:host');
const { requireElement } = require('./resize-observer.cjs');
const { defineAttributes, exposeInterface } = require('./webidl-members.cjs');

const TOKEN = Symbol('internal');
const MARGIN = /^(-?\d+(?:\.\d+)?)(px|%)$|^(-?0)$/;

/** The members of an entry: what an element that is not rendered has. @param {object} target @param {number} time */
const membersOf = (target, time) => ({
  time,
  rootBounds: null,
  boundingClientRect: new DOMRectReadOnly(),
  intersectionRect: new DOMRectReadOnly(),
  isIntersecting: false,
  intersectionRatio: 0,
  target,
});

/** Throws for other objects. @type {(entry: IntersectionObserverEntry) => Record<string, unknown>} */
let readEntry;

class IntersectionObserverEntry {
  #members;

  /**
   * @param {symbol} token
   * @param {Record<string, unknown>} members
   */
  constructor(token, members) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'IntersectionObserverEntry': Illegal constructor");
    this.#members = members;
  }

  static {
    readEntry = (entry) => entry.#members;
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
    requireElement('IntersectionObserver', 'observe', [...arguments]);
    if (this.#targets.has(target)) return;
    this.#targets.add(target);
    // Intersections are computed when the page is rendered.
    requestAnimationFrame(() => {
      if (!this.#targets.has(target)) return;
      this.#records.push(new IntersectionObserverEntry(TOKEN, membersOf(target, host.now())));
      this.#queue();
    });
  }

  /** @param {any} target of the page */
  unobserve(target) {
    requireElement('IntersectionObserver', 'unobserve', [...arguments]);
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

// Pages may replace them, as fake clocks do.
const { DOMRectReadOnly, requestAnimationFrame, setTimeout } = globalThis;

function installIntersectionObserver() {
  defineAttributes(IntersectionObserverEntry, Object.keys(membersOf({}, 0)), (entry, name) => readEntry(entry)[name]);
  exposeInterface(IntersectionObserverEntry);
  exposeInterface(IntersectionObserver);
}

module.exports = { installIntersectionObserver };
