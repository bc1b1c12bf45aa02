'use strict';

// What getMarks() and getMeasures() of the 2012 draft return: copies, in the order of the calls.
// https://www.w3.org/TR/2012/WD-user-timing-20120508/

/**
 * @param {object} context
 * @param {object} context.realm
 * @param {import('./timeline.cjs').Timeline} context.timeline
 */
function makeViews({ realm, timeline }) {
  /** Start times of marks, or durations of measures: those of a name as an array, or all as arrays by name. */
  function times(type, name) {
    const columns = timeline.inCallOrder(type, name);
    if (name !== undefined) return columns === undefined ? new realm.Array() : realm.Array.from(columns.values);
    const lists = new Map();
    columns.names.forEach((id, index) => {
      let list = lists.get(id);
      if (list === undefined) lists.set(id, (list = new realm.Array()));
      list.push(columns.values[index]);
    });
    const result = new realm.Object();
    for (const [id, list] of lists) {
      // Not by assignment, which the name __proto__ would turn into something else.
      Object.defineProperty(result, timeline.names[id], {
        value: list,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return result;
  }

  return { times };
}

module.exports = { makeViews };
