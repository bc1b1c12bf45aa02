'use strict';

// Stands in for selfprof's native.cjs in a window's realm: what the profilers and the timeline of a window use of the addon. As in
// dom-realm/main-realm-bridge.cjs, the functions of the main realm stay in closures, and everything that they return is an object of this
// realm.

const { callForeign } = require('../any-realm/foreign-calls.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').WindowFunctions} WindowFunctions */
/** @typedef {import('selfprof/internal/timing/types.js').ResourceDescription} ResourceDescription */

const { DOMException, Error, Promise, TypeError, Uint32Array } = globalThis;
const { parse, stringify } = JSON;
const { hasOwn, setPrototypeOf } = Object;
const { apply, defineProperty, deleteProperty } = Reflect;

/** The parameter of the function that this module is compiled to: see main-realm/window-native.cjs. */
const main = /** @type {WindowFunctions} */ (mainRealm);

const abandon = callForeign(main.abandon);
const releaseReadProfiles = callForeign(main.releaseReadProfiles);
const callTimeline = callForeign(main.callTimeline);
const closeSession = callForeign(main.closeSession);
const timelineCalls = callForeign(main.timelineCalls);
const listen = callForeign(main.listen);
const listenToLongTasks = callForeign(main.listenToLongTasks);
const listenToResources = callForeign(main.listenToResources);
const newChunks = callForeign(main.newChunks);
const newTimeline = callForeign(main.newTimeline);
const heapSizes = callForeign(main.heapSizes);
const offers = callForeign(main.offers);
const openSession = callForeign(main.openSession);
const takeChunk = callForeign(main.takeChunk);
/** JSON of the names of a timeline's methods. */
const { timelineMethods } = main;

/** An error as the addon throws it. @param {{ code: string, message: string }} options */
function failure({ code, message }) {
  const error = /** @type {Error & { code?: string }} */ (new Error(message));
  error.code = code;
  return error;
}

/** Parses an answer of the main realm, and throws if it is an error. @param {string} answer */
function checked(answer) {
  const outcome = parse(answer);
  // A page may have defined `message` on `Object.prototype`.
  if (hasOwn(outcome, 'message')) throw failure(outcome);
  return outcome;
}

/**
 * Resolves a promise with an object that is not a thenable, whatever a page has put on `Object.prototype`.
 *
 * @param {(value: unknown) => void} resolve
 * @param {any} value of this realm
 */
function resolveWith(resolve, value) {
  const isObject = typeof value === 'object' && value !== null;
  if (isObject) defineProperty(value, 'then', { __proto__: null, value: undefined, configurable: true });
  resolve(value);
  if (isObject) deleteProperty(value, 'then');
}

/** @typedef {{ onFull(session: number): void, onChunk(session: number): void }} Listener */

let isListening = false;

/** Notifies the window's only listener. @param {Listener} listener */
function listenOnce({ onFull, onChunk }) {
  if (isListening) return;
  isListening = true;
  listen(
    (session) => apply(onFull, undefined, [session]),
    (session) => apply(onChunk, undefined, [session]),
  );
}

/**
 * Makes a function that calls the addon once per entry. An error of the main realm, as when the stack is full, is replaced by one of this realm.
 *
 * @param {(a: any, b: any, c: any, d: any, e: any) => unknown} call
 */
function guarded(call) {
  return (
    /** @type {unknown} */ a,
    /** @type {unknown} */ b,
    /** @type {unknown} */ c,
    /** @type {unknown} */ d,
    /** @type {unknown} */ e,
  ) => {
    try {
      return call(a, b, c, d, e);
    } catch {
      throw new TypeError('Illegal invocation');
    }
  };
}

/** @type {(chunks: Chunks) => number} */
let handleOf;

class Chunks {
  #handle = newChunks();

  static {
    handleOf = (chunks) => chunks.#handle;
  }
}

/** @type {(timeline: Timeline, method: string, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown) => unknown} */
let callMethod;

class Timeline {
  #handle;

  /**
   * @param {number} origin
   * @param {number} resolution
   * @param {{ mark?: number, measure?: number }} [limits]
   */
  constructor(origin, resolution, { mark, measure } = {}) {
    this.#handle = newTimeline(origin, resolution, mark, measure);
  }

  /**
   * The functions that are called once per entry. They are called as methods, so that V8's optimised code calls the addon directly. Nothing
   * of the window says which: a page may have replaced it before, and would get the addon's object by a method like `valueOf`.
   */
  fastCalls() {
    const native = /** @type {import('selfprof/internal/native.js').FastCalls} */ (timelineCalls(this.#handle));
    const { result } = native;
    return {
      // An object of this realm in place of the addon's array.
      result: {
        get 0() {
          return result[0];
        },
        get 1() {
          return result[1];
        },
      },
      now: guarded(() => native.now()),
      mark: guarded((name) => native.mark(name)),
      markAt: guarded((name, startTime) => native.markAt(name, startTime)),
      measureAt: guarded((name, startTime, duration) => native.measureAt(name, startTime, duration)),
      clear: guarded((type, name) => native.clear(type, name)),
      uses: guarded((name) => native.uses(name)),
      resolve: guarded((startKind, start, endKind, end, duration) =>
        native.resolve(startKind, start, endKind, end, duration),
      ),
      setWeak: guarded((number, object) => native.setWeak(number, object)),
      getWeak: guarded((number) => native.getWeak(number)),
    };
  }

  static {
    callMethod = (timeline, method, a, b, c, d, e) => callTimeline(timeline.#handle, method, a, b, c, d, e);
  }
}
for (const name of parse(timelineMethods)) {
  const { [name]: method } = {
    /**
     * @this {Timeline}
     * @param {unknown} a
     * @param {unknown} b
     * @param {unknown} c
     * @param {unknown} d
     * @param {unknown} e
     */
    [name]: function (a, b, c, d, e) {
      return callMethod(this, name, a, b, c, d, e);
    },
  };
  defineProperty(Timeline.prototype, name, { __proto__: null, value: method, configurable: true });
}

module.exports = {
  Chunks,
  Timeline,
  abandon: (/** @type {number} */ session) => abandon(session),
  releaseReadProfiles: () => releaseReadProfiles(),
  listenToLongTasks: (/** @type {Parameters<WindowFunctions['listenToLongTasks']>[0]} */ onTask) =>
    listenToLongTasks(onTask),
  listenToResources: (/** @type {(resource: ResourceDescription) => void} */ onResource) =>
    listenToResources((text) => onResource(parse(text))),
  heapSizes: () => parse(heapSizes()),
  offers: () => parse(offers()),

  /**
   * @param {{ sampleInterval: number, maxBufferSize: number, bufferPolicy: string, maxChunks: number, includeEntries: boolean,
   *   includeSameOriginFrames: boolean }} options
   * @param {Listener} listener
   * @param {Chunks} [chunks]
   */
  open(options, listener, chunks) {
    const { sampleInterval, maxBufferSize, bufferPolicy, maxChunks, includeEntries, includeSameOriginFrames } = options;
    const handle = chunks === undefined ? 0 : handleOf(chunks);
    listenOnce(listener);
    return checked(
      openSession(
        sampleInterval,
        maxBufferSize,
        bufferPolicy,
        maxChunks,
        includeEntries,
        includeSameOriginFrames,
        handle,
      ),
    );
  },

  /**
   * @param {number} session
   * @param {string} format
   * @param {{ names: string[], heads: ArrayLike<number>, times: Float64Array, until: number, dropped: number, isCircular: boolean }} [entries]
   */
  close(session, format, entries) {
    // A page can add `toJSON` to what lists inherit.
    const collected = entries && {
      ...entries,
      names: stringify(setPrototypeOf(entries.names, null)),
      heads: new Uint32Array(entries.heads),
    };
    return new Promise((resolve, reject) => {
      closeSession(
        session,
        format,
        collected,
        (output) => resolveWith(resolve, output),
        (message) =>
          reject(new DOMException(`Failed to execute 'stop' on 'Profiler': ${message}.`, 'InvalidStateError')),
      );
    });
  },

  takeChunk: (/** @type {number} */ session, /** @type {Chunks} */ chunks) => takeChunk(session, handleOf(chunks)),
};
