'use strict';

// The interface `Profiler`, exact to WebIDL. https://wicg.github.io/js-self-profiling/#the-profiler-interface

const { BUFFER_POLICIES, FORMATS, capabilities } = require('./capabilities.cjs');
const { ChunkIterator, ChunkQueue } = require('./chunks.cjs');
const { EntryCollector } = require('./entries.cjs');
const { fireEvent, hasListeners } = require('./events.cjs');
const native = require('./native.cjs');
const { withOwnMethods } = require('./own-methods.cjs');
const { whenSettled } = require('./promises.cjs');
const { fromOutput, toTrace } = require('./trace.cjs');
const {
  checked,
  defineInterface,
  defineMembers,
  toBoolean,
  toDictionary,
  toEnforcedUnsignedLong,
  toEnumeration,
  toNumber,
} = require('./webidl.cjs');

/** The dictionary `ProfilerInitOptions`. The optional members are extensions. */
const INIT_OPTIONS = defineMembers({
  bufferPolicy: { convert: toEnumeration(BUFFER_POLICIES), fallback: BUFFER_POLICIES[0] },
  includeEntries: { convert: toBoolean, fallback: false },
  // Only pages have frames: see src/window in packages/page.
  includeSameOriginFrames: { convert: toBoolean, fallback: false },
  maxBufferSize: { convert: toNumber, required: true },
  maxChunks: { convert: toEnforcedUnsignedLong, fallback: 16 },
  sampleInterval: { convert: toNumber, required: true },
});

/** The dictionary `ProfilerStopOptions`, an extension. */
const STOP_OPTIONS = defineMembers({ format: { convert: toEnumeration(FORMATS), fallback: FORMATS[0] } });

/**
 * Profilers by session, unless they were garbage collected.
 *
 * @type {Map<number, WeakRef<Profiler>>}
 */
const profilers = withOwnMethods(new Map());

/**
 * Profilers that must stay alive although the program may hold no reference: they may still fire `samplebufferfull` at
 * a listener, or have promised a chunk.
 *
 * @type {Set<Profiler>}
 */
const keptAlive = withOwnMethods(new Set());

/**
 * Records that the buffer of a profiler is full. Its event is due, and is the last one unless chunks are taken later.
 *
 * @type {(profiler: Profiler) => void}
 */
let noteFull;
/**
 * Whether the event of a profiler may still fire.
 *
 * @type {(profiler: Profiler) => boolean}
 */
let mayFire;
/** @type {(profiler: Profiler) => ChunkQueue | null} */
let chunksOf;

/**
 * Abandons the session of a profiler that was garbage collected, because it can no longer be stopped. A stopped
 * profiler is only removed from the map; earlier, an event for it might still have been pending.
 */
const collected = withOwnMethods(
  new FinalizationRegistry(
    (/** @type {{ session: number, entries: EntryCollector | undefined }} */ { session, entries }) => {
      profilers.delete(session);
      native.abandon(session);
      entries?.stop();
    },
  ),
);

// Taken now, because a program may replace them.
const { apply } = Reflect;
const { deref } = WeakRef.prototype;

/** @param {number} session @returns {Profiler | undefined} */
function profilerOf(session) {
  const reference = profilers.get(session);
  return reference && apply(deref, reference, []);
}

/** @param {number} session */
function onFull(session) {
  const profiler = profilerOf(session);
  if (profiler === undefined) return;
  // As in Chromium, a profiler that was stopped meanwhile fires nothing.
  if (mayFire(profiler)) {
    noteFull(profiler);
    if (hasListener(profiler)) fireEvent(profiler, 'samplebufferfull');
  }
  releaseIfDone(profiler);
}

/** @param {number} session */
function onChunk(session) {
  const profiler = profilerOf(session);
  if (profiler === undefined) return;
  chunksOf(profiler)?.deliver();
  releaseIfDone(profiler);
}

const listener = { onFull, onChunk };

/** @param {Profiler} profiler */
function hasListener(profiler) {
  return hasListeners(profiler, 'samplebufferfull');
}

/**
 * Keeps a new profiler alive until the program could add a listener, and longer if it did.
 *
 * @param {Profiler} profiler
 */
function keepAliveForListener(profiler) {
  keptAlive.add(profiler);
  setImmediate(() => releaseIfDone(profiler)).unref();
}

/**
 * Stops keeping a profiler alive, unless an event or a chunk is still to be delivered.
 *
 * @param {Profiler} profiler
 */
function releaseIfDone(profiler) {
  if (chunksOf(profiler)?.awaited || (mayFire(profiler) && hasListener(profiler))) return;
  keptAlive.delete(profiler);
}

class Profiler extends EventTarget {
  #session;
  #sampleInterval;
  #stopped = false;
  /** Does not refer to the profiler, so that the profiler can be collected. */
  #entries;
  #mayFire;
  /**
   * Null unless full buffers become chunks.
   *
   * @type {ChunkQueue | null}
   */
  #chunks = null;

  static {
    noteFull = (profiler) => {
      profiler.#mayFire &&= profiler.#chunks !== null;
    };
    mayFire = (profiler) => profiler.#mayFire;
    chunksOf = (profiler) => profiler.#chunks;
  }

  /** @param {unknown} options a `ProfilerInitOptions` */
  constructor(options) {
    const context = "Failed to construct 'Profiler'";
    if (arguments.length < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
    const init = toDictionary(options, 'ProfilerInitOptions', INIT_OPTIONS, context);
    // Before the session is opened: new.target's prototype may be a getter that throws, and then the session could not
    // be stopped.
    super();
    const chunks = init.bufferPolicy === 'chunks' ? new native.Chunks() : undefined;
    const session = checked(() => native.open(init, listener, chunks), context);
    this.#session = session.id;
    this.#sampleInterval = session.sampleInterval;
    this.#mayFire = init.bufferPolicy !== 'circular';
    const entries = init.includeEntries ? new EntryCollector(init) : undefined;
    this.#entries = entries;
    if (chunks !== undefined) this.#chunks = new ChunkQueue(() => takeChunk(session.id, chunks, entries));
    profilers.set(session.id, new WeakRef(this));
    collected.register(this, { session: session.id, entries });
    keepAliveForListener(this);
  }

  static capabilities() {
    return capabilities();
  }

  get sampleInterval() {
    return this.#sampleInterval;
  }

  get stopped() {
    return this.#stopped;
  }

  /**
   * @overload
   * @param {{ format?: 'object' }} [options]
   * @returns {Promise<import('../index.js').ProfilerTrace>}
   *
   * @overload
   * @param {{ format: 'json-gzip' }} options
   * @returns {Promise<ArrayBuffer>}
   *
   * @overload
   * @param {{ format?: import('../index.js').ProfilerTraceFormat }} options
   * @returns {Promise<import('../index.js').ProfilerTrace | ArrayBuffer>}
   *
   * @param {unknown} [options] a `ProfilerStopOptions`
   * @returns {Promise<unknown>}
   */
  stop(options = undefined) {
    try {
      return this.#stop(options);
    } catch (error) {
      // WebIDL: an operation that returns a promise rejects rather than throws, even for a foreign `this`.
      return Promise.reject(error);
    }
  }

  cancel() {
    this.#end('cancel');
    // From here on it gets no event.
    profilers.delete(this.#session);
    native.abandon(this.#session);
    this.#chunks?.cancel();
    this.#entries?.stop();
    releaseIfDone(this);
  }

  chunks() {
    const chunks = this.#chunks;
    if (chunks === null) {
      throw new DOMException(
        "Failed to execute 'chunks' on 'Profiler': its bufferPolicy is not 'chunks'.",
        'InvalidStateError',
      );
    }
    return new ChunkIterator(() => {
      const chunk = chunks.next();
      if (chunks.awaited) keptAlive.add(this);
      return chunk;
    });
  }

  /** @param {string} operation */
  #end(operation) {
    if (this.#stopped) {
      throw new DOMException(
        `Failed to execute '${operation}' on 'Profiler': the profiler is already stopped.`,
        'InvalidStateError',
      );
    }
    this.#stopped = true;
    this.#mayFire = false;
  }

  /** @param {unknown} options */
  #stop(options) {
    const context = "Failed to execute 'stop' on 'Profiler'";
    // The standard's stop() takes no argument, so programs pass it as a callback: what is no object is ignored.
    const given = typeof options === 'object' || typeof options === 'function' ? options : undefined;
    const { format } = toDictionary(given, 'ProfilerStopOptions', STOP_OPTIONS, context);
    this.#end('stop');
    releaseIfDone(this);
    const entries = this.#entries?.stop();
    const closed = native.close(this.#session, format, format === 'object' ? undefined : entries);
    const onClosed = () => {
      // By now the chunks have arrived that the last samples completed.
      this.#chunks?.end();
      releaseIfDone(this);
    };
    return new Promise((resolve, reject) => {
      whenSettled(
        closed,
        (output) => {
          try {
            onClosed();
            // V8 frees its profiles on this thread only; the trace need not wait for that.
            setImmediate(native.releaseReadProfiles).unref();
            resolve(fromOutput(output, format, entries));
          } catch (error) {
            reject(error);
          }
        },
        (reason) => {
          onClosed();
          reject(reason);
        },
      );
    });
  }
}

/**
 * @param {number} session
 * @param {import('./native.js').Chunks} chunks
 * @param {EntryCollector | undefined} entries
 */
function takeChunk(session, chunks, entries) {
  const columns = native.takeChunk(session, chunks);
  if (columns === null) return undefined;
  // Entries that end later go into later chunks. A chunk has at least one sample.
  return toTrace(columns, entries?.take(columns.timestamps[columns.timestamps.length - 1]));
}

defineInterface(Profiler, ['sampleInterval', 'stopped', 'cancel', 'chunks', 'stop'], ['capabilities']);

// Like the values() of an asynchronous iterable in WebIDL.
Object.defineProperty(Profiler.prototype, Symbol.asyncIterator, {
  value: Profiler.prototype.chunks,
  writable: true,
  configurable: true,
});

/**
 * Runs one session, so that the program's first profiler finds this code compiled and V8's sampler set up. In eager
 * mode, starting a profiler costs next to nothing.
 */
function warmUp() {
  new Profiler({ sampleInterval: 0, maxBufferSize: 1 }).stop();
}

module.exports = { Profiler, warmUp };
