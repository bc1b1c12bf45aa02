'use strict';

// Errors that users of the page host get.

/** What calls say of a page whose thread has ended. */
const TERMINATED =
  'the page was terminated, because it did not respond or ran out of memory\n\nhint: navigate to continue';

/** What a script in a page threw. */
class PageError extends Error {
  name = 'PageError';

  /** @param {{ name: string, message: string, stack: string }} thrown */
  constructor({ name, message, stack }) {
    super(name === 'Error' ? message : `${name}: ${message}`);
    /** The error's name in the page. */
    this.errorName = name;
    /** Its stack in the page. */
    this.pageStack = stack;
  }
}

/** Something took longer than its timeout. */
class TimeoutError extends Error {
  name = 'TimeoutError';
}

/** The message of something that was thrown. @param {unknown} thrown */
function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

module.exports = { TERMINATED, PageError, TimeoutError, messageOf };
