'use strict';

// ResizeObserver. https://drafts.csswg.org/resize-observer/
//
// Pages have no layout, so no element is being rendered: all sizes are 0 and stay so, and as the text has it nobody is
// called back.

const host = require('selfprof:host');
const { defineInterfaceObject } = require('./definitions.cjs');

const BOXES = ['border-box', 'content-box', 'device-pixel-content-box'];

function requireElement(value, method, count) {
  const context = `Failed to execute '${method}' on 'ResizeObserver'`;
  if (count < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
  if (!host.isElement(value)) throw new TypeError(`${context}: parameter 1 is not of type 'Element'.`);
}

/** Throws when it is called on anything else. */
let requireOwn;

class ResizeObserver {
  #callback;

  constructor(callback) {
    if (typeof callback !== 'function') {
      throw new TypeError("Failed to construct 'ResizeObserver': parameter 1 is not of type 'Function'.");
    }
    this.#callback = callback;
  }

  observe(target, options = {}) {
    requireElement(target, 'observe', arguments.length);
    requireOwn(this);
    const box = options?.box;
    if (box !== undefined && !BOXES.includes(`${box}`)) {
      throw new TypeError(`The provided value '${box}' is not a valid enum value of type ResizeObserverBoxOptions.`);
    }
  }

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
  for (const [name, length] of [['observe', 1], ['unobserve', 1], ['disconnect', 0]]) {
    Object.defineProperty(ResizeObserver.prototype, name, { enumerable: true });
    Object.defineProperty(ResizeObserver.prototype[name], 'length', { value: length, configurable: true });
  }
  Object.defineProperty(ResizeObserver.prototype, Symbol.toStringTag, { value: 'ResizeObserver', configurable: true });
  defineInterfaceObject('ResizeObserver', ResizeObserver);
}

module.exports = { installResizeObserver };
