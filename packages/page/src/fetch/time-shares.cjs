'use strict';

// Owners of work share the time of a thread: the one that has taken least has the next turn.

/** @template Work */
class TimeShares {
  /** By owner; what has waited longest is the first. @type {Map<object, Set<Work>>} */
  #works = new Map();
  /** What an owner has taken, in milliseconds. @type {WeakMap<object, number>} */
  #taken = new WeakMap();
  /** What the owner that had the last turn had taken before it. Time that others did not use until then does not count: nobody has taken less. */
  #least = 0;

  get isEmpty() {
    return this.#works.size === 0;
  }

  /** Does nothing if the work is there already. @param {object} owner @param {Work} work */
  add(owner, work) {
    let works = this.#works.get(owner);
    if (works === undefined) {
      works = new Set();
      this.#works.set(owner, works);
    }
    works.add(work);
  }

  /** @param {object} owner @param {Work} work */
  has(owner, work) {
    return this.#works.get(owner)?.has(work) === true;
  }

  /** @param {object} owner @param {Work} work */
  remove(owner, work) {
    const works = this.#works.get(owner);
    works?.delete(work);
    if (works?.size === 0) this.#works.delete(owner);
  }

  /** Of its owner, it is the last to have another turn. @param {object} owner @param {Work} work */
  putLast(owner, work) {
    const works = this.#works.get(owner);
    if (works?.delete(work)) works.add(work);
  }

  /** Whose turn it is, and the work. @returns {[owner: object, work: Work] | undefined} */
  next() {
    let [next] = this.#works;
    for (const entry of this.#works) if (this.#takenBy(entry[0]) < this.#takenBy(next[0])) next = entry;
    if (next === undefined) return undefined;
    const [owner, [work]] = next;
    return [owner, work];
  }

  /** All owners and their work, in the order of their turns. @returns {[owner: object, works: ReadonlySet<Work>][]} */
  inTurn() {
    return [...this.#works].sort(([one], [other]) => this.#takenBy(one) - this.#takenBy(other));
  }

  /** An owner has had a turn. @param {object} owner @param {number} time that it took, in milliseconds */
  charge(owner, time) {
    this.#least = this.#takenBy(owner);
    this.#taken.set(owner, this.#least + time);
  }

  /** @param {object} owner */
  #takenBy(owner) {
    return Math.max(this.#taken.get(owner) ?? 0, this.#least);
  }
}

module.exports = { TimeShares };
