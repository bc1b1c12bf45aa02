'use strict';

// Collects the marks and measures that a program makes, from Node's own `performance` and from whatever else is a source
// of them. https://w3c.github.io/user-timing/

const { performance, PerformanceObserver } = require('node:perf_hooks');

/** The types that are collected. */
const TYPES = ['mark', 'measure'];

/**
 * The coarsest clock that a source may have, in milliseconds. A mark that is made right now may be earlier than now by as
 * much.
 */
const RESOLUTION = 0.1;

/**
 * Where marks and measures are made. `observe` has `sink` called for each one that is made from now on, at the latest by
 * `flush`, until `stop`.
 *
 * @typedef {{ entryType: string, name: string, startTime: number, duration: number }} Entry
 * @typedef {(entry: Entry) => void} Sink gets marks and measures alone, and does not throw
 * @typedef {object} Source
 * @property {(sink: Sink) => { flush(): void, stop(): void }} observe
 * @property {number} [timeShift] what makes the source's times count from the thread's own time origin
 */

/**
 * The source behind a class that is used as `PerformanceObserver` is.
 *
 * @returns {Source}
 */
function observedBy(Observer) {
  // Observers get their entries when the event loop turns, and a program may end before that, or make millions of entries.
  // Node hands them to its observers at once, though, by a method of this name, and leaves it to them to wait.
  const maybeBuffer = Object.getOwnPropertySymbols(Observer.prototype).find(
    ({ description }) => description === 'kMaybeBuffer',
  );
  return {
    observe(sink) {
      const observer = new Observer((list) => list.getEntries().forEach(sink));
      if (maybeBuffer !== undefined) {
        // It is offered entries of all types.
        const take = (entry) => {
          const type = entry?.entryType;
          if (type === 'mark' || type === 'measure') sink(entry);
        };
        Object.defineProperty(observer, maybeBuffer, { value: take });
      }
      observer.observe({ entryTypes: TYPES });
      const flush = () => observer.takeRecords().forEach(sink);
      return {
        flush,
        stop() {
          flush();
          observer.disconnect();
        },
      };
    },
  };
}

/** @type {Set<Source>} */
const sources = new Set([observedBy(PerformanceObserver)]);

/** The collections that go on, which also get what later sources make. */
const collections = new Set();

/**
 * Has what a source makes be collected too.
 *
 * @param {Source} source
 * @returns {() => void} takes it away again
 */
function addSource(source) {
  sources.add(source);
  for (const collection of collections) collection.add(source);
  return () => {
    sources.delete(source);
    for (const collection of collections) collection.remove(source);
  };
}

/**
 * Hands marks and measures to a sink from now on.
 *
 * @param {(entryType: string, name: string, startTime: number, duration: number) => void} sink
 * @returns {{ flush(): void, stop(): void }}
 */
function collect(sink) {
  /** @type {Map<Source, ReturnType<Source['observe']>>} */
  const observations = new Map();
  const collection = {
    add(source) {
      const shift = source.timeShift ?? 0;
      const take = ({ entryType, name, startTime, duration }) => {
        // Node makes entries of any number it is given; no time is NaN or Infinity.
        if (Number.isFinite(startTime) && Number.isFinite(duration)) sink(entryType, name, startTime + shift, duration);
      };
      observations.set(source, source.observe(take));
    },
    remove(source) {
      observations.get(source)?.stop();
      observations.delete(source);
    },
  };
  collections.add(collection);
  for (const source of sources) collection.add(source);
  return {
    flush() {
      for (const observation of observations.values()) observation.flush();
    },
    stop() {
      collections.delete(collection);
      for (const source of [...observations.keys()]) collection.remove(source);
    },
  };
}

/** For how many entries there is room at first, and by how many a circular buffer is larger than its limit at least. */
const SOME_ROOM = 64;

/**
 * What an {@link EntryCollector} has collected, in columns.
 *
 * @typedef {object} CollectedEntries
 * @property {string[]} names
 * @property {Uint32Array} heads one number an entry: twice the index of its name, plus 1 for a measure
 * @property {Float64Array} times two numbers an entry: start time and duration
 * @property {number} until when the session ended: what begins later does not belong to it
 * @property {number} dropped how many entries there was no room for
 * @property {boolean} isCircular whether what ended before the first sample does not belong to it either
 */

/** The marks and measures that are made during a session, as far as they overlap its time, and as many as samples. */
class EntryCollector {
  #limit;
  #isCircular;
  /** How many entries are held at most. */
  #most;
  #from = performance.now() - RESOLUTION;
  #until = Infinity;
  #count = 0;
  #dropped = 0;
  #names = [];
  #ids = new Map();
  #heads = new Uint32Array(0);
  #times = new Float64Array(0);
  #collection;

  /** @param {{ bufferPolicy: string, maxBufferSize: number, maxChunks: number }} options numbers as `ToNumber` left them */
  constructor({ bufferPolicy, maxBufferSize, maxChunks }) {
    // `unsigned long`
    const limit = maxBufferSize >>> 0;
    this.#limit = limit;
    this.#isCircular = bufferPolicy === 'circular';
    // The oldest are discarded a few at a time, and chunks may wait.
    if (this.#isCircular) this.#most = limit + Math.max(limit >>> 1, SOME_ROOM);
    else this.#most = bufferPolicy === 'chunks' ? limit * (maxChunks + 1) : limit;
    this.#collection = collect((entryType, name, startTime, duration) => {
      // A measure may end before it begins.
      if (Math.max(startTime, startTime + duration) < this.#from) return;
      if (this.#count === this.#most && !this.#isCircular) this.#dropped++;
      else this.#add(entryType === 'measure' ? 1 : 0, name, startTime, duration);
    });
  }

  #add(type, name, startTime, duration) {
    if (this.#count === this.#most) this.#discardOldest();
    if (this.#count === this.#heads.length) this.#makeRoom();
    const at = this.#count++;
    this.#heads[at] = 2 * this.#intern(name) + type;
    this.#times[2 * at] = startTime;
    this.#times[2 * at + 1] = duration;
  }

  #intern(name) {
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.#names.push(name) - 1;
      this.#ids.set(name, id);
    }
    return id;
  }

  #makeRoom() {
    const room = Math.min(this.#most, Math.max(2 * this.#count, SOME_ROOM));
    const [heads, times] = [this.#heads, this.#times];
    this.#heads = new Uint32Array(room);
    this.#times = new Float64Array(2 * room);
    this.#heads.set(heads);
    this.#times.set(times);
  }

  /** Leaves as many entries as the limit allows. */
  #discardOldest() {
    const excess = this.#count - this.#limit;
    this.#keep((i) => i >= excess);
  }

  /** Leaves the entries that `isKept`, by index, and no name that none of them has. */
  #keep(isKept) {
    const [count, names, heads, times] = [this.#count, this.#names, this.#heads, this.#times];
    this.#count = 0;
    this.#names = [];
    this.#ids.clear();
    for (let i = 0; i < count; i++) {
      // In place, for what is kept never moves backwards.
      if (isKept(i)) this.#add(heads[i] & 1, names[heads[i] >>> 1], times[2 * i], times[2 * i + 1]);
    }
  }

  /**
   * Ends the session.
   *
   * @returns {CollectedEntries} those that were not taken out
   */
  stop() {
    this.#collection.stop();
    this.#until = performance.now();
    const first = this.#isCircular ? Math.max(0, this.#count - this.#limit) : 0;
    return this.#columns(this.#heads.slice(first, this.#count), this.#times.slice(2 * first, 2 * this.#count));
  }

  /**
   * Takes out the entries that have ended by `time`: those of a chunk.
   *
   * @returns {CollectedEntries}
   */
  take(time) {
    const heads = this.#heads.slice(0, this.#count);
    const times = this.#times.slice(0, 2 * this.#count);
    const hasEnded = (i) => Math.max(times[2 * i], times[2 * i] + times[2 * i + 1]) <= time;
    const taken = this.#columns(
      heads.filter((_, i) => hasEnded(i)),
      times.filter((_, i) => hasEnded(i >>> 1)),
    );
    this.#keep((i) => !hasEnded(i));
    this.#dropped = 0;
    return taken;
  }

  /** @returns {CollectedEntries} */
  #columns(heads, times) {
    const [names, until, dropped, isCircular] = [this.#names, this.#until, this.#dropped, this.#isCircular];
    return { names, heads, times, until, dropped, isCircular };
  }
}

module.exports = { EntryCollector, addSource, collect, observedBy };
