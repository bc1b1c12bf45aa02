'use strict';

// The limits of what is reported to a page's user about the page: a page must not fill its user's memory.

/** Reports per second, and characters of a text in one. */
const MAX_REPORTS = 1_000;
const MAX_LENGTH = 10_000;

class ReportLimit {
  #most;
  #second = 0;
  #count = 0;

  constructor(most = MAX_REPORTS) {
    this.#most = most;
  }

  /** Counts a report. @returns {number} how many more are allowed in this second; negative when this one is too many */
  take() {
    const second = Math.floor(performance.now() / 1_000);
    this.#count = second === this.#second ? this.#count + 1 : 1;
    this.#second = second;
    return this.#most - this.#count;
  }
}

/** A text as it is reported. @param {string} text @param {number} [maxLength] in characters */
function shortened(text, maxLength = MAX_LENGTH) {
  return text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
}

module.exports = { MAX_LENGTH, MAX_REPORTS, ReportLimit, shortened };
