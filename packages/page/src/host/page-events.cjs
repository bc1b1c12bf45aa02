'use strict';

/**
 * Emits the event of a page for a message of one of its threads.
 *
 * @param {import('./page.cjs').Page} page
 * @param {import('../page/thread-messages.js').PageMessage} message
 * @param {number} frame where it came from
 */
function emitPageEvent(page, message, frame) {
  switch (message.type) {
    case 'console':
      page.emit('console', { method: message.method, text: message.text, frame });
      return;
    case 'exception': {
      const { message: text, stack, filename, lineno, colno } = message;
      // Not `error`: Node ends a program that has no listener for that.
      page.emit('pageerror', { message: text, stack, filename, lineno, colno, frame });
      return;
    }
    case 'problem':
      page.emit('problem', { kind: message.kind, text: message.text, url: message.url, frame });
      return;
    default:
  }
}

module.exports = { emitPageEvent };
