'use strict';

// `node:vm` for jsdom: contexts are realms of the addon, and scripts run in them by the addon.

const { thread } = require('../thread/thread.cjs');

/** @type {object | undefined} */
let next;

/** Sets the context of the window that jsdom makes next. @param {object} context */
exports.useContext = (context) => {
  next = context;
};

exports.constants = { DONT_CONTEXTIFY: 'vm_context_no_contextify' };
exports.createContext = () => {
  const context = next;
  // It must not keep the window.
  next = undefined;
  return context;
};

/**
 * jsdom reads intrinsics with it, and runs the strings that a page gave to `setTimeout`.
 *
 * @param {string} code
 * @param {object} context
 * @param {{ filename?: string, lineOffset?: number }} [options]
 */
exports.runInContext = (code, context, { filename = '', lineOffset = 0 } = {}) =>
  thread.windows.get(context).runScript(code, filename, { line: lineOffset });
