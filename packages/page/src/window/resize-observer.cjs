'use strict';

// ResizeObserver. https://drafts.csswg.org/resize-observer/
//
// Pages have no layout, so no element is rendered: all sizes are always 0, and as the spec says no callback is called.

const host = require('selfprof:host');
const { defineInterfaceObject, toEnumeration } = require('./webidl-members.cjs');

const BOXES = ['border-box', 'content-box', 'device-pixel-content-box'];

/**
 * @param {unknown} value
 * @param {string} method
 * @param {number} count of arguments
 */
function requireElement(value, method, count) {
  const context = `Failed to execute '${method}' on 'ResizeObserver'`;
  if (count < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
  if (!host.isElement(value)) throw new TypeError(`${context}: parameter 1 is not of type 'Element'.`);
}

/** Throws for objects that are not of this interface. @type {(value: ResizeObserver) => void} */
let requireOwn;

class ResizeObserver {
  #callback;

  /** @param {any} callback of the page */
  constructor(callback) {
    if (typeof callback !== 'function') {
      throw new TypeError("Failed to construct 'ResizeObserver': parameter 1 is not of type 'Function'.");
    }
    this.#callback = callback;
  }

  /**
   * @param {any} target of the page
   * @param {any} [options] of the page
   */
  observe(target, options = {}) {
    requireElement(target, 'observe', arguments.length);
    requireOwn(this);
    const box = options?.box;
    if (box !== undefined) toEnumeration(box, BOXES, 'ResizeObserverBoxOptions');
  }

  /** @param {any} target of the page */
  unobserve(target) {
    requireElement(target, 'unobserve', arguments.length);
    requireOwn(this);
  }

  disconnect() {
    requireOwn(this);
  }

  static {
    requireOwn = (value) => void value.#callback;
  }
}

function installResizeObserver() {
  const { observe, unobserve, disconnect } = ResizeObserver.prototype;
  for (const [operation, length] of /** @type {[Function, number][]} */ ([
    [observe, 1],
    [unobserve, 1],
    [disconnect, 0],
  ])) {
    Object.defineProperty(ResizeObserver.prototype, operation.name, { enumerable: true });
    Object.defineProperty(operation, 'length', { value: length, configurable: true });
  }
  Object.defineProperty(ResizeObserver.prototype, Symbol.toStringTag, { value: 'ResizeObserver', configurable: true });
  defineInterfaceObject('ResizeObserver', ResizeObserver);
}

module.exports = { installResizeObserver };
