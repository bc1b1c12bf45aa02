'use strict';

// Members of our interfaces take objects of other windows of the thread, as platform objects of one agent do: each
// window has classes of its own, whose private names the objects of another window lack.
// https://webidl.spec.whatwg.org/#dfn-create-operation-function

const host = require('selfprof:host');

const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;

const INTERFACES = [
  'Profiler Performance EventCounts PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver',
  'PerformanceObserverEntryList PerformanceResourceTiming PerformanceNavigationTiming PerformanceLongTaskTiming',
  'TaskAttributionTiming PerformanceTiming PerformanceNavigation',
].flatMap((names) => names.split(' '));

/** @typedef {(this: unknown, ...parameters: any[]) => unknown} Member */

function installBrands() {
  for (const name of INTERFACES) {
    const prototype = /** @type {Record<string, any>} */ (globalThis)[name]?.prototype;
    if (prototype === undefined) continue;
    /** @type {Map<PropertyKey, PropertyDescriptor>} */
    const members = new Map();
    /** A function under two names stays one. @type {Map<Member, Member>} */
    const made = new Map();
    for (const key of ownKeys(prototype)) {
      const member = /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(prototype, key));
      if (key === 'constructor' || member.configurable !== true) continue;
      members.set(key, member);
      const accepting = { ...member };
      for (const kind of /** @type {const} */ (['value', 'get', 'set'])) {
        const own = member[kind];
        if (typeof own !== 'function') continue;
        const find = (/** @type {unknown} */ value) => host.memberOf(value, name, key, kind);
        const found = made.get(own) ?? acceptOthers(own, find, name === 'Profiler' && key === 'stop');
        made.set(own, found);
        accepting[kind] = found;
      }
      defineProperty(prototype, key, accepting);
    }
    host.shareMembers(prototype, name, members);
  }
}

/**
 * A member that calls another window's for an object of that window.
 *
 * @param {Member} own
 * @param {(value: unknown) => Member | undefined} find
 * @param {boolean} isAsync whether it returns a promise, and so does not throw
 * @returns {Member}
 */
function acceptOthers(own, find, isAsync) {
  const { accepting } = {
    /** @this {unknown} @param {unknown[]} parameters */
    accepting(...parameters) {
      if (isAsync) return apply(find(this) ?? own, this, parameters);
      let failed = true;
      try {
        const result = apply(own, this, parameters);
        failed = false;
        return result;
      } finally {
        // The usual call costs as little as without this. A catch that throws the error again would make it the host's:
        // see crates/v8/shim/pages/muted_exceptions.cc.
        const other = failed ? find(this) : undefined;
        // biome-ignore lint/correctness/noUnsafeFinally: the other window's member takes the place of what was thrown.
        if (other !== undefined && other !== own) return apply(other, this, parameters);
      }
    },
  };
  for (const key of ['name', 'length'])
    defineProperty(accepting, key, /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(own, key)));
  return accepting;
}

module.exports = { installBrands };
