'use strict';

// The interface `Profiler`, exact to WebIDL. https://wicg.github.io/js-self-profiling/#the-profiler-interface

const { getEventListeners } = require('node:events');

const { BUFFER_POLICIES, FORMATS, capabilities } = require('./capabilities.cjs');
const { EntryCollector } = require('./entries.cjs');
const native = require('./native.cjs');
const { toTrace } = require('./trace.cjs');
const { defineInterface, toBoolean, toDictionary, toEnumeration, toNumber } = require('./webidl.cjs');

const { dispatchEvent } = EventTarget.prototype;

/** The dictionary `ProfilerInitOptions`; what is not required is an extension. */
const INIT_OPTIONS = {
  bufferPolicy: { convert: toEnumeration(BUFFER_POLICIES), fallback: 'stop' },
  includeEntries: { convert: toBoolean, fallback: false },
  maxBufferSize: { convert: toNumber, required: true },
  sampleInterval: { convert: toNumber, required: true },
};

/** The dictionary `ProfilerStopOptions`, an extension. */
const STOP_OPTIONS = { format: { convert: toEnumeration(FORMATS), fallback: 'object' } };

/** Profilers by session, as long as somebody holds them. */
const profilers = new Map();

/**
 * Profilers that wait for their `samplebufferfull` event: an object with a listener for an event to come must not be
 * collected, even when the program holds it no longer.
 */
const awaiting = new Set();

/**
 * A profiler that nobody holds and nobody listens to can hand its trace to nobody: its session is given up. For one that
 * was stopped this does nothing; only then is it certain that no event for it is still on its way.
 */
const collected = new FinalizationRegistry(({ session, entries }) => {
  profilers.delete(session);
  native.abandon(session);
  entries?.stop();
});

const listener = new native.Listener((session) => {
  const profiler = profilers.get(session)?.deref();
  if (profiler === undefined) return;
  awaiting.delete(profiler);
  // To fire an event is not to call a method, which the program may have overridden.
  if (hasListener(profiler)) Reflect.apply(dispatchEvent, profiler, [new Event('samplebufferfull')]);
});

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
  setImmediate(() => {
    if (!hasListener(profiler)) awaiting.delete(profiler);
  }).unref();
}

/**
 * Ends a profiler's session, and gives its trace in the explainer's format.
 *
 * @type {(profiler: Profiler, options: { thread: string, maxBufferSize: number }) => Promise<string>}
 */
let explain;

class Profiler extends EventTarget {
  #session;
  #sampleInterval;
  #stopped = false;
  /** @type {EntryCollector | undefined} which does not know the profiler, so that it can be collected. */
  #entries;

  constructor(options) {
    const context = "Failed to construct 'Profiler'";
    if (arguments.length < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
    const wishes = toDictionary(options, 'ProfilerInitOptions', INIT_OPTIONS, context);
    // Before the session is opened: new.target's prototype may be a getter that throws, and nobody could stop it then.
    super();
    const session = openSession(wishes, context);
    this.#session = session.id;
    this.#sampleInterval = session.sampleInterval;
    if (wishes.includeEntries) this.#entries = new EntryCollector(wishes);
    profilers.set(session.id, new WeakRef(this));
    collected.register(this, { session: session.id, entries: this.#entries });
    // A circular buffer is never full.
    if (wishes.bufferPolicy !== 'circular') awaitFull(this);
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
  }

  #end(operation) {
    if (this.#stopped) {
      throw new DOMException(
        `Failed to execute '${operation}' on 'Profiler': the profiler is already stopped.`,
        'InvalidStateError',
      );
    }
    this.#stopped = true;
    awaiting.delete(this);
    return this.#entries?.stop();
  }

  #stop(options) {
    const context = "Failed to execute 'stop' on 'Profiler'";
    const { format } = toDictionary(options, 'ProfilerStopOptions', STOP_OPTIONS, context);
    const entries = this.#end('stop');
    return this.#close(format, format === 'object' ? undefined : entries).then((trace) => {
      // A copy, because Node lets no memory of an addon be transferred to another thread.
      return format === 'json-gzip' ? trace.slice().buffer : toTrace(trace, entries);
    });
  }

  /** Has the addon build the trace in one of its formats. */
  #close(format, entries, explainer) {
    return native.close(this.#session, format, entries, explainer).then(({ trace, lost }) => {
      if (lost > 0) {
        process.emitWarning(`V8 could not keep about ${lost} samples, because the thread was blocked too long`, {
          type: 'ProfilerWarning',
        });
      }
      // V8 frees its profiles on this thread only; the trace need not wait for that.
      setImmediate(native.bury).unref();
      return trace;
    });
  }

  static {
    explain = (profiler, { thread, maxBufferSize }) => {
      const interval = profiler.#sampleInterval;
      return profiler.#close('explainer', profiler.#end('stop'), { thread, interval, maxBufferSize });
    };
  }
}

function openSession(wishes, context) {
  try {
    return native.open(wishes, listener);
  } catch (error) {
    const Constructor = error.code === 'RangeError' ? RangeError : TypeError;
    throw new Constructor(`${context}: ${error.message}.`);
  }
}

defineInterface(Profiler, ['sampleInterval', 'stopped', 'cancel', 'stop'], ['capabilities']);

/**
 * Goes through a session once, so that the program's first profiler finds its code compiled and V8's sampler set up: the
 * eager mode's promise is that a start costs next to nothing.
 */
function warmUp() {
  new Profiler({ sampleInterval: 0, maxBufferSize: 1 }).stop();
}

module.exports = { Profiler, explain, warmUp };
