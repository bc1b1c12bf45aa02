'use strict';

// The detail of marks and measures is a structured clone.
// https://html.spec.whatwg.org/multipage/structured-data.html#structuredserialize

/**
 * @param {object} realm
 * @returns {(detail: unknown) => unknown} clones, or throws what a getter in the detail throws, or a DataCloneError
 */
function makeCloneDetail({ DOMException, structuredClone }) {
  return (detail) => {
    if (detail === undefined || detail === null) return null;
    if (typeof detail !== 'object' && typeof detail !== 'function' && typeof detail !== 'symbol') return detail;
    try {
      return structuredClone(detail);
    } catch (error) {
      // Node throws its own DOMException, which is not the one of a page.
      if (error?.name === 'DataCloneError' && !(error instanceof DOMException)) {
        throw new DOMException(error.message, 'DataCloneError');
      }
      throw error;
    }
  };
}

module.exports = { makeCloneDetail };
