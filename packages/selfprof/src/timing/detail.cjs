'use strict';

// The detail of a mark or a measure is a structured clone.
// https://html.spec.whatwg.org/multipage/structured-data.html#structuredserialize

/**
 * @param {import('./types.js').Realm} realm
 * @returns {(detail: unknown) => unknown} throws what a getter in the detail throws, or a DataCloneError
 */
function makeCloneDetail({ DOMException, structuredClone }) {
  return (detail) => {
    if (detail === undefined || detail === null) return null;
    if (typeof detail !== 'object' && typeof detail !== 'function' && typeof detail !== 'symbol') return detail;
    try {
      return structuredClone(detail);
    } catch (thrown) {
      const error = /** @type {{ name?: unknown, message: string } | null | undefined} */ (thrown);
      // Node throws a DOMException of its own realm, not of the page's.
      if (error?.name === 'DataCloneError' && !(error instanceof DOMException)) {
        throw new DOMException(error.message, 'DataCloneError');
      }
      throw thrown;
    }
  };
}

module.exports = { makeCloneDetail };
