'use strict';

// Collects the marks and measures that a program makes with Node's `performance`, and with other sources of them.
// https://w3c.github.io/user-timing/

const { performance, PerformanceObserver } = require('node:perf_hooks');

/** @typedef {import('./native.js').CollectedEntries} CollectedEntries */

/**
 * The coarsest clock that a source may have, in milliseconds. The time of a new mark may be earlier than now by as
 * much.
 */
const RESOLUTION = 0.1;

/**
 * Where marks and measures are made. `observe` calls `sink` for each new entry, at the latest in `flush`, until `stop`.
 *
 * @typedef {{ entryType: string, name: string, startTime: number, duration: number }} Entry
 * @typedef {(entry: Entry) => void} Sink gets marks and measures only, and does not throw
 * @typedef {{ flush(): void, stop(): void }} Observation
 * @typedef {object} Source
 * @property {(sink: Sink) => Observation} observe
 * @property {number} [timeShift] what to add to the source's times to make them relative to this thread's time origin
 */

/**
 * @callback CollectSink
 * @param {string} entryType
 * @param {string} name
 * @param {number} startTime
 * @param {number} duration
 * @returns {void}
 */

/**
 * The source behind a class that is used like `PerformanceObserver`.
 *
 * @param {typeof PerformanceObserver} Observer
 * @returns {Source}
 */
function observedBy(Observer) {
  // Node passes each entry to its observers at once, by a method with this name, and they buffer it until the event
  // loop turns. That may be too late: a program may end first, or make millions of entries.
  const maybeBuffer = Object.getOwnPropertySymbols(Observer.prototype).find(
    ({ description }) => description === 'kMaybeBuffer',
  );
  return {
    observe(sink) {
      const observer = new Observer((list) => list.getEntries().forEach(sink));
      if (maybeBuffer !== undefined) {
        // The method gets entries of all types.
        const take = (/** @type {Entry | undefined} */ entry) => {
          if (entry?.entryType === 'mark' || entry?.entryType === 'measure') sink(entry);
        };
        Object.defineProperty(observer, maybeBuffer, { value: take });
      }
      observer.observe({ entryTypes: ['mark', 'measure'] });
      const flush = () => {
        for (const entry of observer.takeRecords()) sink(entry);
      };
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

/**
 * The running collections. Sources that are added later belong to them too.
 *
 * @type {Set<{ add(source: Source): void, remove(source: Source): void }>}
 */
const collections = new Set();

/**
 * Adds a source to all collections.
 *
 * @param {Source} source
 * @returns {() => void} removes it again
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
 * Passes new marks and measures to a sink.
 *
 * @param {CollectSink} sink
 * @returns {Observation}
 */
function collect(sink) {
  /** @type {Map<Source, Observation>} */
  const observations = new Map();
  const collection = {
    /** @param {Source} source */
    add(source) {
      const shift = source.timeShift ?? 0;
      /** @type {Sink} */
      const take = ({ entryType, name, startTime, duration }) => {
        // Node makes entries with any number it is given; NaN and Infinity are not times.
        if (Number.isFinite(startTime) && Number.isFinite(duration)) sink(entryType, name, startTime + shift, duration);
      };
      observations.set(source, source.observe(take));
    },
    /** @param {Source} source */
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

/**
 * How many entries the columns have room for at first, and by how many a circular buffer at least exceeds its limit.
 */
const MIN_ROOM = 64;

/** The marks and measures of a session: at most as many as samples, and only those that overlap its time. */
class EntryCollector {
  #limit;
  #isCircular;
  /** How many entries are kept at most. */
  #capacity;
  #from = performance.now() - RESOLUTION;
  #until = Infinity;
  #count = 0;
  #dropped = 0;
  /** @type {string[]} */
  #names = [];
  /** @type {Map<string, number>} */
  #ids = new Map();
  #heads = new Uint32Array(0);
  #times = new Float64Array(0);
  #collection;

  /**
   * @param {{ bufferPolicy: string, maxBufferSize: number, maxChunks: number }} options numbers are results of
   *   `ToNumber`
   */
  constructor({ bufferPolicy, maxBufferSize, maxChunks }) {
    // `unsigned long`
    const limit = maxBufferSize >>> 0;
    this.#limit = limit;
    this.#isCircular = bufferPolicy === 'circular';
    // A circular buffer discards the oldest entries several at a time. Entries of chunks wait as long as the chunks.
    if (this.#isCircular) this.#capacity = limit + Math.max(limit >>> 1, MIN_ROOM);
    else this.#capacity = bufferPolicy === 'chunks' ? limit * (maxChunks + 1) : limit;
    this.#collection = collect((entryType, name, startTime, duration) => {
      // A measure may end before it begins.
      if (Math.max(startTime, startTime + duration) < this.#from) return;
      if (this.#count === this.#capacity && !this.#isCircular) this.#dropped++;
      else this.#add(entryType === 'measure' ? 1 : 0, name, startTime, duration);
    });
  }

  /**
   * @param {number} type 0 for a mark, 1 for a measure
   * @param {string} name
   * @param {number} startTime
   * @param {number} duration
   */
  #add(type, name, startTime, duration) {
    if (this.#count === this.#capacity) this.#discardOldest();
    if (this.#count === this.#heads.length) this.#makeRoom();
    const at = this.#count++;
    this.#heads[at] = 2 * this.#intern(name) + type;
    this.#times[2 * at] = startTime;
    this.#times[2 * at + 1] = duration;
  }

  /** @param {string} name */
  #intern(name) {
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.#names.push(name) - 1;
      this.#ids.set(name, id);
    }
    return id;
  }

  #makeRoom() {
    const room = Math.min(this.#capacity, Math.max(2 * this.#count, MIN_ROOM));
    const [heads, times] = [this.#heads, this.#times];
    this.#heads = new Uint32Array(room);
    this.#times = new Float64Array(2 * room);
    this.#heads.set(heads);
    this.#times.set(times);
  }

  /** Keeps as many of the latest entries as the limit allows. */
  #discardOldest() {
    const excess = this.#count - this.#limit;
    this.#retain((i) => i >= excess);
  }

  /**
   * Keeps some entries, and the names that they have.
   *
   * @param {(index: number) => boolean} isKept
   */
  #retain(isKept) {
    const [count, names, heads, times] = [this.#count, this.#names, this.#heads, this.#times];
    this.#count = 0;
    this.#names = [];
    this.#ids.clear();
    for (let i = 0; i < count; i++) {
      // In place: an entry never moves backwards.
      if (isKept(i)) this.#add(heads[i] & 1, names[heads[i] >>> 1], times[2 * i], times[2 * i + 1]);
    }
  }

  /**
   * Ends the session.
   *
   * @returns {CollectedEntries} the entries that were not taken
   */
  stop() {
    this.#collection.stop();
    this.#until = performance.now();
    const first = this.#isCircular ? Math.max(0, this.#count - this.#limit) : 0;
    return this.#columns(this.#heads.slice(first, this.#count), this.#times.slice(2 * first, 2 * this.#count));
  }

  /**
   * Takes the entries that have ended by a time: those of a chunk.
   *
   * @param {number} time
   * @returns {CollectedEntries}
   */
  take(time) {
    const heads = this.#heads.slice(0, this.#count);
    const times = this.#times.slice(0, 2 * this.#count);
    const hasEnded = (/** @type {number} */ i) => Math.max(times[2 * i], times[2 * i] + times[2 * i + 1]) <= time;
    const taken = this.#columns(
      heads.filter((_, i) => hasEnded(i)),
      times.filter((_, i) => hasEnded(i >>> 1)),
    );
    this.#retain((i) => !hasEnded(i));
    this.#dropped = 0;
    return taken;
  }

  /**
   * @param {Uint32Array} heads
   * @param {Float64Array} times
   * @returns {CollectedEntries}
   */
  #columns(heads, times) {
    const [names, until, dropped, isCircular] = [this.#names, this.#until, this.#dropped, this.#isCircular];
    return { names, heads, times, until, dropped, isCircular };
  }
}

module.exports = { EntryCollector, addSource, collect, observedBy };
