'use strict';

// ResizeObserver. https://drafts.csswg.org/resize-observer/
//
// Pages have no layout, so no element is rendered: all sizes are always 0, and as the spec says no callback is called.

const host = require('selfprof:host');
const { exposeInterface, requireArguments, toEnumeration } = require('./webidl-members.cjs');

const BOXES = ['border-box', 'content-box', 'device-pixel-content-box'];

/**
 * Checks the target of an observer's operation.
 *
 * @param {string} Interface
 * @param {string} method
 * @param {unknown[]} parameters
 */
function requireElement(Interface, method, parameters) {
  const context = `Failed to execute '${method}' on '${Interface}'`;
  requireArguments(parameters.length, context);
  if (!host.isElement(parameters[0])) throw new TypeError(`${context}: parameter 1 is not of type 'Element'.`);
}

class ResizeObserver {
  #callback;

  /** @param {any} callback of the page */
  constructor(callback) {
    if (typeof callback !== 'function')
      throw new TypeError("Failed to construct 'ResizeObserver': parameter 1 is not of type 'Function'.");
    this.#callback = callback;
  }

  /**
   * @param {unknown} _target of the page
   * @param {any} [options] of the page
   */
  observe(_target, options = {}) {
    requireElement('ResizeObserver', 'observe', [...arguments]);
    if (options?.box !== undefined) toEnumeration(options.box, BOXES, 'ResizeObserverBoxOptions');
    void this.#callback;
  }

  /** @param {unknown} _target of the page */
  unobserve(_target) {
    requireElement('ResizeObserver', 'unobserve', [...arguments]);
    void this.#callback;
  }

  disconnect() {
    void this.#callback;
  }
}

function installResizeObserver() {
  exposeInterface(ResizeObserver);
}

module.exports = { installResizeObserver, requireElement };
