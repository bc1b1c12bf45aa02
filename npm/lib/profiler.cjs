'use strict';

// The interface `Profiler`, exact to WebIDL. https://wicg.github.io/js-self-profiling/#the-profiler-interface

const { getEventListeners } = require('node:events');

const { BUFFER_POLICIES, FORMATS, capabilities } = require('./capabilities.cjs');
const { ChunkIterator, ChunkQueue } = require('./chunks.cjs');
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

const { dispatchEvent } = EventTarget.prototype;

/** The dictionary `ProfilerInitOptions`; what is not required is an extension. */
const INIT_OPTIONS = {
  bufferPolicy: { convert: toEnumeration(BUFFER_POLICIES), fallback: 'stop' },
  includeEntries: { convert: toBoolean, fallback: false },
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
const collected = new FinalizationRegistry((session) => {
  profilers.delete(session);
  native.abandon(session);
});

function onFull(session) {
  const profiler = profilers.get(session)?.deref();
  if (profiler === undefined) return;
  noteFull(profiler);
  // To fire an event is not to call a method, which the program may have overridden.
  if (hasListener(profiler)) Reflect.apply(dispatchEvent, profiler, [new Event('samplebufferfull')]);
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
  try {
    return getEventListeners(profiler, 'samplebufferfull').length > 0;
  } catch {
    // Node does not know it for an EventTarget, because new.target gave it another prototype: nobody can listen.
    return false;
  }
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
    if (handle !== undefined) this.#chunks = new ChunkQueue(() => takeChunk(session.id, handle));
    profilers.set(session.id, new WeakRef(this));
    collected.register(this, session.id);
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
    const closed = native.close(this.#session, format).finally(() => {
      // Chunks that the last samples completed are there by now.
      this.#chunks?.end();
      letGo(this);
    });
    return closed.then((product) => {
      // V8 frees its profiles on this thread only; the trace need not wait for that.
      setImmediate(native.bury).unref();
      return fromProduct(product, format);
    });
  }
}

function takeChunk(session, handle) {
  const columns = native.takeChunk(session, handle);
  return columns === null ? undefined : toTrace(columns);
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
