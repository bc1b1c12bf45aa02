'use strict';

// How many modules import each other in a row. V8 visits them recursively, and not each of its functions notices that the stack is full: then
// the process ends.

/** @typedef {{ imported: Node[] | undefined }} Node a module; what it imports does not change any more */

/**
 * A module whose imports are being visited.
 *
 * @typedef {object} Visit
 * @property {Node} node
 * @property {number} index in the order of the visits
 * @property {number} low the least index that is reachable from here and in the same cycles
 * @property {number} next which import comes next
 */

class ModuleDepths {
  /** @type {WeakMap<Node, number>} */
  #depths = new WeakMap();

  /**
   * An upper bound: modules in cycles count as if each imported the next. By Tarjan's algorithm for strongly connected components, without
   * recursion.
   *
   * @param {Node} root
   */
  of(root) {
    /** @type {Map<Node, Visit>} */
    const visits = new Map();
    /** Modules whose cycles are not known yet. @type {Node[]} */
    const open = [];
    /** @type {Visit[]} */
    const path = [];
    const enter = (/** @type {Node} */ node) => {
      const visit = { node, index: visits.size, low: visits.size, next: 0 };
      visits.set(node, visit);
      open.push(node);
      path.push(visit);
    };
    if (!this.#depths.has(root)) enter(root);
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const { node, next } = visit;
      const imported = node.imported?.[next];
      if (imported !== undefined) {
        visit.next += 1;
        const known = visits.get(imported);
        if (this.#depths.has(imported)) continue;
        if (known === undefined) enter(imported);
        else visit.low = Math.min(visit.low, known.index);
        continue;
      }
      path.pop();
      const outer = path.at(-1);
      if (outer !== undefined) outer.low = Math.min(outer.low, visit.low);
      if (visit.low === visit.index) this.#close(open.splice(open.lastIndexOf(node)));
    }
    return this.#depths.get(root) ?? 0;
  }

  /** @param {Node[]} cycle modules that import each other, or a single one */
  #close(cycle) {
    let deepest = 0;
    for (const { imported = [] } of cycle)
      for (const node of imported) deepest = Math.max(deepest, this.#depths.get(node) ?? 0);
    for (const node of cycle) this.#depths.set(node, cycle.length + deepest);
  }
}

module.exports = { ModuleDepths };
