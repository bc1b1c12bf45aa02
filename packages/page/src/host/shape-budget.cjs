'use strict';

// What the shapes of a page's results may cost over time, see cloning/object-shapes.cjs. V8 keeps shapes as long as the user keeps the
// results, and some time longer.

const { MAX_COST } = require('../cloning/object-shapes.cjs');

const clock = performance.now.bind(performance);

/** How much more they may cost with each millisecond. */
const COST_OF_MILLISECOND = 20;

class ShapeBudget {
  #left = MAX_COST;
  #updated = clock();

  /** What the shapes of the next result may cost. */
  get left() {
    const now = clock();
    this.#left = Math.min(MAX_COST, this.#left + (now - this.#updated) * COST_OF_MILLISECOND);
    this.#updated = now;
    return Math.max(0, this.#left);
  }

  /** @param {number} cost of results that were asked for at the same time, which can be more than is left */
  pay(cost) {
    this.#left -= cost;
  }
}

module.exports = { ShapeBudget };
