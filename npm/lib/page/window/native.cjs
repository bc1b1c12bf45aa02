'use strict';

// Stands for ../../native.cjs in a window's realm: what the profiler and the timeline of a window have of the addon. As in
// dom/gate.cjs, the functions of the main realm stay in closures, and everything they give is an object of this realm.

/* global mainRealm -- see thread/window-native.cjs */

const { Error, Promise, RangeError, TypeError, Uint32Array } = globalThis;
const { parse, stringify } = JSON;
const { apply, defineProperty } = Reflect;

/** A function of this realm for one of the main realm, with everything that is thrown on the way exchanged. */
function own(call) {
  return (a, b, c, d, e, f, g) => {
    try {
      return call(a, b, c, d, e, f, g);
    } catch {
      throw new RangeError('Maximum call stack size exceeded');
    }
  };
}

const abandon = own(mainRealm.abandon);
const bury = own(mainRealm.bury);
const callTimeline = own(mainRealm.callTimeline);
const closeSession = own(mainRealm.closeSession);
const hotTimeline = own(mainRealm.hotTimeline);
const listen = own(mainRealm.listen);
const listenToLongTasks = own(mainRealm.listenToLongTasks);
const listenToResources = own(mainRealm.listenToResources);
const newChunks = own(mainRealm.newChunks);
const newTimeline = own(mainRealm.newTimeline);
const offers = own(mainRealm.offers);
const openSession = own(mainRealm.openSession);
const takeChunk = own(mainRealm.takeChunk);
/** Names of methods, as JSON: those of a timeline, and those of what it calls once an entry. */
const { hotMethods, timelineMethods } = mainRealm;

/** An error as the addon throws it. */
function failure({ code, message }) {
  const error = new Error(message);
  error.code = code;
  return error;
}

/** What the main realm cannot do, it says in JSON. */
function checked(answer) {
  const outcome = parse(answer);
  if (outcome.message !== undefined) throw failure(outcome);
  return outcome;
}

class Listener {
  constructor(onFull, onChunk) {
    listen(
      (session) => apply(onFull, undefined, [session]),
      (session) => apply(onChunk, undefined, [session]),
    );
  }
}

class Chunks {
  #handle = newChunks();

  static handleOf(chunks) {
    return chunks.#handle;
  }
}
const { handleOf } = Chunks;
delete Chunks.handleOf;

class Timeline {
  #handle;

  constructor(origin, resolution, { mark, measure } = {}) {
    this.#handle = newTimeline(origin, resolution, mark, measure);
  }

  /** What is called once an entry. */
  hot() {
    const native = hotTimeline(this.#handle);
    const { result } = native;
    const hot = { result };
    for (const name of parse(hotMethods)) {
      // As a method, so that V8 calls it straight from optimised code.
      hot[name] = (a, b, c, d, e) => {
        try {
          return native[name](a, b, c, d, e);
        } catch {
          throw new TypeError('Illegal invocation');
        }
      };
    }
    return hot;
  }

  static call(timeline, method, a, b, c, d, e) {
    return callTimeline(timeline.#handle, method, a, b, c, d, e);
  }
}
const { call } = Timeline;
delete Timeline.call;
for (const name of parse(timelineMethods)) {
  const method = { [name]: function (a, b, c, d, e) { return call(this, name, a, b, c, d, e); } }[name];
  defineProperty(Timeline.prototype, name, { __proto__: null, value: method, configurable: true });
}

module.exports = {
  Chunks,
  Listener,
  Timeline,
  abandon: (session) => abandon(session),
  bury: () => bury(),
  listenToLongTasks: (onTask) => listenToLongTasks(onTask),
  listenToResources: (onResource) => listenToResources((text) => onResource(parse(text))),
  offers: () => parse(offers()),

  open(wishes, listener, chunks) {
    const { sampleInterval, maxBufferSize, bufferPolicy, maxChunks, includeEntries, includeSameOriginFrames } = wishes;
    const handle = chunks === undefined ? 0 : handleOf(chunks);
    return checked(
      openSession(sampleInterval, maxBufferSize, bufferPolicy, maxChunks, includeEntries, includeSameOriginFrames, handle),
    );
  },

  close(session, format, entries) {
    const collected = entries && { ...entries, names: stringify(entries.names), heads: new Uint32Array(entries.heads) };
    return new Promise((resolve, reject) => {
      closeSession(session, format, collected, resolve, (message) => reject(failure({ code: '', message })));
    });
  },

  takeChunk: (session, chunks) => takeChunk(session, handleOf(chunks)),
};
