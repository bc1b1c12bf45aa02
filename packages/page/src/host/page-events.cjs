'use strict';

const { CONSOLE_METHODS } = require('../any-realm/console-methods.cjs');

/**
 * Emits the event of a page for a message of its DOM realm. A page may have sent anything: each member is used only if it has the right
 * type.
 *
 * @param {import('./page.cjs').Page} page
 * @param {import('../any-realm/thread-messages.js').FromDomRealm} message
 * @param {number} frame where it came from
 */
function emitPageEvent(page, message, frame) {
  const text = (/** @type {string} */ key) => {
    const value = message[key];
    return typeof value === 'string' ? value : '';
  };
  /** A line or a column. @param {string} key */
  const place = (key) => {
    const value = message[key];
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
  };
  const method = text('method');
  switch (message.type) {
    case 'console':
      page.emit('console', { method: CONSOLE_METHODS.includes(method) ? method : 'log', text: text('text'), frame });
      return;
    case 'exception':
      // Not `error`: Node ends a program that has no listener for that.
      page.emit('pageerror', {
        message: text('message'),
        stack: text('stack'),
        filename: text('filename'),
        lineno: place('lineno'),
        colno: place('colno'),
        frame,
      });
      return;
    case 'problem':
      page.emit('problem', { kind: text('kind'), text: text('text'), url: text('url'), frame });
      return;
    default:
  }
}

module.exports = { emitPageEvent };
