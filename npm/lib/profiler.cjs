'use strict';

// The interface `Profiler`, exact to WebIDL. https://wicg.github.io/js-self-profiling/#the-profiler-interface

const { BUFFER_POLICIES, FORMATS, capabilities } = require('./capabilities.cjs');
const { ChunkIterator, ChunkQueue } = require('./chunks.cjs');
const { EntryCollector } = require('./entries.cjs');
const { fireEvent, hasListeners } = require('./events.cjs');
const native = require('./native.cjs');
const { fromProduct, toTrace } = require('./trace.cjs');
const {
  checked,
  defineInterface,
  toBoolean,
  toDictionary,
  toEnforcedUnsignedLong,
  toEnumeration,
  toNumber,
} = require('./webidl.cjs');

/** The dictionary `ProfilerInitOptions`; what is not required is an extension. */
const INIT_OPTIONS = {
  bufferPolicy: { convert: toEnumeration(BUFFER_POLICIES), fallback: 'stop' },
  includeEntries: { convert: toBoolean, fallback: false },
  // For pages: see page/window/native.cjs.
  includeSameOriginFrames: { convert: toBoolean, fallback: false },
  maxBufferSize: { convert: toNumber, required: true },
  maxChunks: { convert: toEnforcedUnsignedLong, fallback: 16 },
  sampleInterval: { convert: toNumber, required: true },
};

/** The dictionary `ProfilerStopOptions`, an extension. */
const STOP_OPTIONS = { format: { convert: toEnumeration(FORMATS), fallback: 'object' } };

/** Profilers by session, as long as somebody holds them. */
const profilers = new Map();

/**
 * Profilers that wait for their `samplebufferfull` event or for a chunk: an object with a listener for an event to come
 * must not be collected, even when the program holds it no longer, nor one that has promised something.
 */
const awaiting = new Set();

/** Notes that the buffer of a profiler is full: its event is due, and unless it goes on later, the last. */
let noteFull;
/** Whether the event of a profiler may fire, once or again. */
let mayFire;
/** The {@link ChunkQueue} of a profiler that has one. */
let chunksOf;

/**
 * A profiler that nobody holds and nobody listens to can hand its trace to nobody: its session is given up. For one that
 * was stopped this does nothing; only then is it certain that no event for it is still on its way.
 */
const collected = new FinalizationRegistry(({ session, entries }) => {
  profilers.delete(session);
  native.abandon(session);
  entries?.stop();
});

function onFull(session) {
  const profiler = profilers.get(session)?.deref();
  if (profiler === undefined) return;
  noteFull(profiler);
  if (hasListener(profiler)) fireEvent(profiler, 'samplebufferfull');
  letGo(profiler);
}

function onChunk(session) {
  const profiler = profilers.get(session)?.deref();
  if (profiler === undefined) return;
  chunksOf(profiler).deliver();
  letGo(profiler);
}

const listener = new native.Listener(onFull, onChunk);

function hasListener(profiler) {
  return hasListeners(profiler, 'samplebufferfull');
}

/** Keeps a new profiler alive until the program has had its turn to add a listener, and from then on if it did. */
function awaitFull(profiler) {
  awaiting.add(profiler);
  setImmediate(() => letGo(profiler)).unref();
}

/** Keeps a profiler alive no longer, unless somebody waits for something that it may still give. */
function letGo(profiler) {
  if (chunksOf(profiler)?.awaited || (mayFire(profiler) && hasListener(profiler))) return;
  awaiting.delete(profiler);
}

class Profiler extends EventTarget {
  #session;
  #sampleInterval;
  #stopped = false;
  /** @type {EntryCollector | undefined} which does not know the profiler, so that it can be collected. */
  #entries;
  #mayFire;
  /** `null` unless full buffers become chunks. */
  #chunks = null;

  static {
    noteFull = (profiler) => (profiler.#mayFire &&= profiler.#chunks !== null);
    mayFire = (profiler) => profiler.#mayFire;
    chunksOf = (profiler) => profiler.#chunks;
  }

  constructor(options) {
    const context = "Failed to construct 'Profiler'";
    if (arguments.length < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
    const wishes = toDictionary(options, 'ProfilerInitOptions', INIT_OPTIONS, context);
    // Before the session is opened: new.target's prototype may be a getter that throws, and nobody could stop it then.
    super();
    const handle = wishes.bufferPolicy === 'chunks' ? new native.Chunks() : undefined;
    const session = checked(() => native.open(wishes, listener, handle), context);
    this.#session = session.id;
    this.#sampleInterval = session.sampleInterval;
    this.#mayFire = wishes.bufferPolicy !== 'circular';
    const entries = wishes.includeEntries ? new EntryCollector(wishes) : undefined;
    this.#entries = entries;
    if (handle !== undefined) this.#chunks = new ChunkQueue(() => takeChunk(session.id, handle, entries));
    profilers.set(session.id, new WeakRef(this));
    collected.register(this, { session: session.id, entries });
    awaitFull(this);
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

  stop(options = {}) {
    try {
      return this.#stop(options);
    } catch (error) {
      // WebIDL: an operation that returns a promise does not throw, not even for a foreign `this`.
      return Promise.reject(error);
    }
  }

  cancel() {
    this.#end('cancel');
    // From here on no event may reach it.
    profilers.delete(this.#session);
    native.abandon(this.#session);
    this.#chunks?.cancel();
    this.#entries?.stop();
    letGo(this);
  }

  chunks() {
    if (this.#chunks === null) {
      throw new DOMException(
        "Failed to execute 'chunks' on 'Profiler': its bufferPolicy is not 'chunks'.",
        'InvalidStateError',
      );
    }
    return new ChunkIterator(() => this.#nextChunk());
  }

  #nextChunk() {
    const chunk = this.#chunks.next();
    if (this.#chunks.awaited) awaiting.add(this);
    return chunk;
  }

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

  #stop(options) {
    const context = "Failed to execute 'stop' on 'Profiler'";
    const { format } = toDictionary(options, 'ProfilerStopOptions', STOP_OPTIONS, context);
    this.#end('stop');
    letGo(this);
    const entries = this.#entries?.stop();
    const closed = native.close(this.#session, format, format === 'object' ? undefined : entries).finally(() => {
      // Chunks that the last samples completed are there by now.
      this.#chunks?.end();
      letGo(this);
    });
    return closed.then((product) => {
      // V8 frees its profiles on this thread only; the trace need not wait for that.
      setImmediate(native.bury).unref();
      return fromProduct(product, format, entries);
    });
  }
}

function takeChunk(session, handle, entries) {
  const columns = native.takeChunk(session, handle);
  if (columns === null) return undefined;
  // Those that end later are for the chunks to come.
  return toTrace(columns, entries?.take(columns.timestamps.at(-1)));
}

defineInterface(Profiler, ['sampleInterval', 'stopped', 'cancel', 'chunks', 'stop'], ['capabilities']);

// As the values() of an asynchronous iterable in WebIDL.
Object.defineProperty(Profiler.prototype, Symbol.asyncIterator, {
  value: Profiler.prototype.chunks,
  writable: true,
  configurable: true,
});

/**
 * Goes through a session once, so that the program's first profiler finds its code compiled and V8's sampler set up: the
 * eager mode's promise is that a start costs next to nothing.
 */
function warmUp() {
  new Profiler({ sampleInterval: 0, maxBufferSize: 1 }).stop();
}

module.exports = { Profiler, warmUp };
