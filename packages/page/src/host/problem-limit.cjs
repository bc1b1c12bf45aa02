'use strict';

// What this thread itself reports of a page's navigations: the limits of main-realm/reports.cjs, as the page can cause any number.

const MAX_REPORTS = 1_000;
const MAX_LENGTH = 10_000;

class ProblemLimit {
  #second = 0;
  #count = 0;

  /** @returns {boolean} whether another problem may be reported in this second */
  take() {
    const second = Math.floor(performance.now() / 1_000);
    this.#count = second === this.#second ? this.#count + 1 : 1;
    this.#second = second;
    return this.#count <= MAX_REPORTS;
  }
}

/** @param {string} text */
function shortened(text) {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
}

module.exports = { ProblemLimit, shortened };
