'use strict';

// The shapes of the objects in results. V8 has a shape for each list of keys, in a tree: below it are those with more keys. It makes one in
// some microseconds. When a key gets a value of another kind, V8 visits all shapes below that key, whoever they are from, and that can
// happen once or twice for each key. So a shape costs as much as the keys that it has, and what it takes to make it.

/** An object with more keys is a table. */
const MAX_KEYS = 1_020;

/** What it takes to make a shape, where a visit is 1. */
const MAKING = 100;

/** The most that the shapes of a result may cost. V8 takes 60 to 80 ns for each visit. */
const MAX_COST = 30_000_000;

/** How many shapes are remembered from one result to the next, and how many characters of keys. */
const MAX_REMEMBERED = 100_000;
const MAX_REMEMBERED_TEXT = 8 << 20;

class ShapeTree {
  /** The number of each shape, by the number of the one above it and its last key. @type {Map<string, number>} */
  #shapes = new Map();
  #textLength = 0;
  #cost = 0;

  /** What the shapes cost that were added since the last `begin`. */
  get cost() {
    return this.#cost;
  }

  /** A result begins. */
  begin() {
    this.#cost = 0;
    if (this.#shapes.size > MAX_REMEMBERED || this.#textLength > MAX_REMEMBERED_TEXT) this.forget();
  }

  /** Forgets all shapes, because nobody has paid for the last ones. */
  forget() {
    this.#shapes.clear();
    this.#textLength = 0;
  }

  /**
   * @param {number} above the number of a shape; negative for one without keys
   * @param {number} keys how many it has
   * @param {string} key the next one, as it is written
   * @returns {number} the number of the shape with that key
   */
  below(above, keys, key) {
    // A result that costs too much is refused, whatever else it has.
    if (keys >= MAX_KEYS || this.#cost > MAX_COST) return above;
    const name = `${above} ${key}`;
    const known = this.#shapes.get(name);
    if (known !== undefined) return known;
    const number = this.#shapes.size;
    this.#shapes.set(name, number);
    this.#textLength += name.length;
    this.#cost += MAKING + keys;
    return number;
  }
}

module.exports = { MAX_COST, ShapeTree };
