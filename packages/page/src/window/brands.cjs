'use strict';

// Members of our interfaces take objects of other windows of the thread, as platform objects of one agent do: each window has classes of its
// own, whose private names the objects of another window lack. https://webidl.spec.whatwg.org/#dfn-create-operation-function

const host = require('selfprof:host');

const { Map, Object } = globalThis;
const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;

/**
 * For each interface, a member that fails for objects of another window before it does anything: an attribute, or an operation without the
 * arguments that it requires.
 */
const PROBES = {
  Profiler: 'stopped',
  Performance: 'timeOrigin',
  EventCounts: 'size',
  PerformanceEntry: 'name',
  PerformanceMark: 'detail',
  PerformanceMeasure: 'detail',
  PerformanceObserver: 'observe',
  PerformanceObserverEntryList: 'getEntriesByType',
  PerformanceResourceTiming: 'initiatorType',
  PerformanceNavigationTiming: 'domComplete',
  PerformanceLongTaskTiming: 'attribution',
  TaskAttributionTiming: 'containerType',
  PerformanceTiming: 'navigationStart',
  PerformanceNavigation: 'type',
};

/** Whether an object is of an interface of this window. @param {Function} probe @param {boolean} isAttribute @param {unknown} value */
function isOwn(probe, isAttribute, value) {
  try {
    apply(probe, value, []);
    return true;
  } catch (error) {
    return !isAttribute && /** @type {Error} */ (error).message !== 'Illegal invocation';
  }
}

function installBrands() {
  /** The members as they were before a page could replace them. @type {Map<string, { members: Map<PropertyKey, PropertyDescriptor>, owns: (value: unknown) => boolean }>} */
  const interfaces = new Map();
  for (const [name, probeName] of Object.entries(PROBES)) {
    const Interface = /** @type {Record<string, any>} */ (globalThis)[name];
    const probed = Interface && getOwnPropertyDescriptor(Interface.prototype, probeName);
    if (probed === undefined) continue;
    const probe = probed.get ?? probed.value;
    const members = new Map();
    /** A function under two names stays one. @type {Map<Function, Function>} */
    const made = new Map();
    for (const key of ownKeys(Interface.prototype)) {
      if (key === 'constructor') continue;
      const member = /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(Interface.prototype, key));
      members.set(key, member);
      if (member.configurable === true && typeof (member.get ?? member.value) === 'function')
        defineProperty(Interface.prototype, key, acceptingOthers(name, key, member, made));
    }
    interfaces.set(name, { members, owns: (value) => isOwn(probe, probed.get !== undefined, value) });
  }
  host.shareMembers((value, name, key, kind) => {
    const found = interfaces.get(name);
    return found?.owns(value) ? found.members.get(key)?.[kind] : undefined;
  });
}

/**
 * @param {string} Interface
 * @param {PropertyKey} key
 * @param {PropertyDescriptor} member
 * @param {Map<Function, Function>} made
 * @returns {PropertyDescriptor}
 */
function acceptingOthers(Interface, key, member, made) {
  /** @type {PropertyDescriptor} */
  const accepting = { enumerable: member.enumerable, configurable: true };
  const isAsync = Interface === 'Profiler' && key === 'stop';
  for (const kind of /** @type {const} */ (['value', 'get', 'set'])) {
    const own = member[kind];
    if (typeof own !== 'function') {
      if (kind === 'value' && 'value' in member) Object.assign(accepting, { value: own, writable: member.writable });
      continue;
    }
    const find = (/** @type {unknown} */ value) => host.memberOf(value, Interface, key, kind);
    const found = made.get(own) ?? named(own, isAsync ? findingFirst(own, find) : findingLast(own, find));
    made.set(own, found);
    Object.assign(accepting, { [kind]: found });
    if (kind === 'value') accepting.writable = member.writable;
  }
  return accepting;
}

/** Looks for another window's member when its own has failed: the usual call costs as little as without this. @param {Function} own @param {(value: unknown) => Function | undefined} find */
function findingLast(own, find) {
  return {
    /** @this {unknown} @param {unknown[]} parameters */
    call(...parameters) {
      let failed = true;
      try {
        const result = apply(own, this, parameters);
        failed = false;
        return result;
      } finally {
        // A catch that throws the error again would make it the host's: see crates/v8/shim/muted_exceptions.cc.
        const other = failed ? find(this) : undefined;
        // biome-ignore lint/correctness/noUnsafeFinally: the other window's member takes the place of what was thrown.
        if (other !== undefined) return apply(other, this, parameters);
      }
    },
  }.call;
}

/** For a member that returns a promise, which does not throw. @param {Function} own @param {(value: unknown) => Function | undefined} find */
function findingFirst(own, find) {
  return {
    /** @this {unknown} @param {unknown[]} parameters */
    call(...parameters) {
      return apply(find(this) ?? own, this, parameters);
    },
  }.call;
}

/** @template {Function} Made @param {Function} own @param {Made} made */
function named(own, made) {
  for (const key of ['name', 'length'])
    defineProperty(made, key, /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(own, key)));
  return made;
}

module.exports = { installBrands };
