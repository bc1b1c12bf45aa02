'use strict';

// What getMarks() and getMeasures() of the 2012 draft return: copies, in the order of the calls.
// https://www.w3.org/TR/2012/WD-user-timing-20120508/

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./timeline.cjs').Timeline} context.timeline
 * @returns {(type: 1 | 2, name?: string) => number[] | Record<string, number[]>} the start times of marks or the
 *   durations of measures: an array for one name, or arrays by name
 */
function makeTimesInCallOrder({ realm, timeline }) {
  return (type, name) => {
    const columns = timeline.inCallOrder(type, name);
    if (name !== undefined) return columns === undefined ? new realm.Array() : realm.Array.from(columns.values);
    /** @type {Map<number, number[]>} */
    const lists = new Map();
    columns?.names.forEach((id, index) => {
      let list = lists.get(id);
      if (list === undefined) {
        list = /** @type {number[]} */ (new realm.Array());
        lists.set(id, list);
      }
      list.push(columns.values[index]);
    });
    const result = /** @type {Record<string, number[]>} */ (new realm.Object());
    for (const [id, list] of lists) {
      // An assignment would call the setter of `__proto__` for a mark of that name.
      Object.defineProperty(result, timeline.nameOf(id), {
        value: list,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return result;
  };
}

module.exports = { makeTimesInCallOrder };
