'use strict';

// `node:vm` for jsdom: contexts are realms of the addon, and scripts run in them by the addon.

const { thread } = require('./thread.cjs');

let next = { document: 0, frame: 0, mayBeIsolated: true, around: -1, allowsScripts: true };

/**
 * Sets which document the next context is for, as window-registry.cjs knows it, and in which frame.
 *
 * @param {number} document
 * @param {number} frame
 * @param {boolean} [mayBeIsolated]
 * @param {number} [around] the frame of the window around it
 * @param {boolean} [allowsScripts] whether its frame element allows scripts in an empty document
 */
exports.nextWindow = (document, frame, mayBeIsolated = true, around = -1, allowsScripts = true) => {
  next = { document, frame, mayBeIsolated, around, allowsScripts };
};

exports.constants = { DONT_CONTEXTIFY: 'vm_context_no_contextify' };
exports.createContext = () => {
  const { document, frame, mayBeIsolated, around, allowsScripts } = next;
  return thread.windows.create(document, frame, { mayBeIsolated, around, allowsScripts });
};

/**
 * jsdom reads intrinsics with it, and runs the strings that a page gave to `setTimeout`.
 *
 * @param {string} code
 * @param {object} context
 * @param {{ filename?: string, lineOffset?: number }} [options]
 */
exports.runInContext = (code, context, { filename = '', lineOffset = 0 } = {}) =>
  thread.windows.runScript(context, code, filename, lineOffset, 0, '');
