'use strict';

// The main realm's side of window-realm/native-facade.cjs: what the profilers and the timeline of one window have the addon do. What the
// document is not allowed to do, and what would take too much memory, is refused here, where no code of a page runs.

const native = require('selfprof/internal/native.cjs');
const { readEntries } = require('./collected-entries.cjs');
const { bytesOf, setBytes } = require('./foreign-bytes.cjs');
const { numberOf, textOf } = require('./foreign-values.cjs');
const { MAX_SESSIONS } = require('./profiler-sessions.cjs');
const { clockOf, describeResource } = require('./resource-timing.cjs');

/** @typedef {import('./foreign-functions.cjs').Callback} Callback */
/** @typedef {import('../any-realm/realm-contracts.js').WindowFunctions} WindowFunctions */

/** How many chunks of a profiler may wait to be read. */
const MAX_CHUNKS = 64;

/** What the marks and measures of all windows of a thread may take, in bytes: nearly twice as much as one window needs for as many as it may have. */
const ENTRY_MEMORY = 128 * 2 ** 20;

const TIMELINE_METHODS = Object.getOwnPropertyNames(native.Timeline.prototype).filter(
  (name) => name !== 'constructor' && name !== 'fastCalls',
);

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? String(error.message) : 'the addon failed';
}

class WindowNative {
  #thread;
  #window;
  /** Sessions of this window. @type {Set<number>} */
  #sessions = new Set();
  /** @type {Map<number, import('selfprof/internal/native.js').Chunks>} */
  #chunks = new Map();
  /** @type {Map<number, any>} */
  #timelines = new Map();
  #nextHandle = 1;
  /** Functions of the window. @type {Callback} */
  #onFull = () => {};
  /** @type {Callback} */
  #onChunk = () => {};
  /** @type {Callback} */
  #onLongTask = () => {};
  /** @type {Callback} */
  #onResource = () => {};
  #listener;
  /** Whether the window was closed, as that of a frame that was removed. */
  #isClosed = false;

  /**
   * @param {import('./page-thread.cjs').PageThread} thread
   * @param {import('./window-record.cjs').WindowRecord} window
   */
  constructor(thread, window) {
    this.#thread = thread;
    this.#window = window;
    this.#listener = {
      onFull: (/** @type {number} */ session) => thread.enter(() => this.#onFull(session)),
      onChunk: (/** @type {number} */ session) => thread.enter(() => this.#onChunk(session)),
    };
  }

  /** Copies an object of the addon to the window's realm. @param {unknown} value @returns {unknown} */
  #toWindow(value) {
    if (typeof value !== 'object' || value === null) return value;
    const { allocate, emptyObject, parse } = this.#window.code;
    if (ArrayBuffer.isView(value)) {
      const view = /** @type {Uint8Array} */ (value);
      const copy = allocate(Object.prototype.toString.call(view).slice(8, -1), view.length);
      // Not by properties of it, which the page may have replaced.
      setBytes(bytesOf(copy) ?? new Uint8Array(), new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
      return copy;
    }
    // biome-ignore lint/suspicious/useIsArray: only arrays of the main realm, which the addon made
    if (value instanceof Array) return parse(JSON.stringify(value));
    // An object that the window itself handed in comes back as it is.
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    const object = emptyObject();
    for (const [key, inner] of Object.entries(value)) {
      Object.defineProperty(object, key, {
        value: this.#toWindow(inner),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return object;
  }

  /** @param {string} code @param {string} message */
  #refusal(code, message) {
    return JSON.stringify({ code, message });
  }

  /** @type {WindowFunctions['openSession']} */
  #openSession(
    sampleInterval,
    maxBufferSize,
    bufferPolicy,
    maxChunks,
    includeEntries,
    includeSameOriginFrames,
    chunks,
  ) {
    const { document, realm } = this.#window;
    if (this.#isClosed) return this.#refusal('InvalidStateError', 'the document is not shown any more');
    // As in the constructor's steps, an invalid interval is reported before a missing permission.
    if (Number.isFinite(sampleInterval) && sampleInterval >= 0 && document.profiling === undefined) {
      // Begins with Chromium's words, because programs look for them.
      const reason =
        'JS profiling is disabled by Document Policy: the document was served without Document-Policy: js-profiling';
      return this.#refusal('NotAllowedError', reason);
    }
    const { sessions } = this.#thread;
    if (sessions.isFull) return this.#refusal('TypeError', `${MAX_SESSIONS} profilers run on this page already`);
    const policy = textOf(bufferPolicy);
    // Converted to `unsigned long`, as the addon does.
    const asked = Number.isFinite(maxBufferSize) ? Math.trunc(maxBufferSize) >>> 0 : 0;
    const waiting = Math.min(numberOf(maxChunks) >>> 0, MAX_CHUNKS);
    const share = sessions.share(policy === 'chunks' ? waiting + 1 : 1);
    try {
      const session = realm.open(
        {
          sampleInterval: numberOf(sampleInterval),
          ...share,
          maxBufferSize: Math.min(asked, share.maxBufferSize),
          bufferPolicy: policy,
          maxChunks: waiting,
          includeEntries: includeEntries === true,
          includeSameOriginFrames: includeSameOriginFrames === true,
        },
        this.#listener,
        this.#chunks.get(chunks),
      );
      this.#sessions.add(session.id);
      sessions.add(session.id);
      // A session begins in the state "started" and takes its first sample, whether the page is visible or not.
      // https://wicg.github.io/js-self-profiling/#states
      if (!this.#thread.isVisible) realm.pause(true);
      return JSON.stringify(session);
    } catch (error) {
      const { code } = /** @type {{ code?: unknown }} */ (error);
      return this.#refusal(String(code), messageOf(error));
    }
  }

  /** @param {number} session */
  #forget(session) {
    this.#sessions.delete(session);
    this.#thread.sessions.remove(session);
  }

  /** @type {WindowFunctions['closeSession']} */
  #closeSession(session, format, collected, onDone, onFailed) {
    const { foreign } = this.#thread;
    const [done, failed] = [foreign.callable(onDone), foreign.callable(onFailed)];
    if (!this.#sessions.has(session)) {
      this.#thread.enter(() => failed('the document of the profiler is not shown any more'));
      return;
    }
    // The session ends in any case.
    this.#forget(session);
    /** @type {ReturnType<typeof readEntries> | undefined} */
    let read;
    try {
      read = collected === undefined ? undefined : readEntries(collected, this.#thread.sessions.entryShare());
    } catch {
      // They are not what a window collects.
    }
    const trace = native.close(session, textOf(format), read?.entries);
    this.#thread.sessions.awaitTrace(session, trace, read?.length ?? 0);
    trace.then(
      (/** @type {unknown} */ trace) => this.#thread.enter(() => done(this.#toWindow(trace))),
      (/** @type {unknown} */ error) => this.#thread.enter(() => failed(messageOf(error))),
    );
  }

  /** @param {number} handle */
  #timeline(handle) {
    const timeline = this.#timelines.get(handle);
    if (timeline === undefined) throw new Error('there is no such timeline');
    return timeline;
  }

  /** The functions that window-realm/native-facade.cjs gets. Errors in them are the host's: they do not reach the window. */
  functions() {
    const functions = this.#functions();
    /** @type {Record<string, unknown>} */
    const guarded = {};
    for (const [name, call] of Object.entries(functions)) {
      guarded[name] = typeof call === 'function' ? this.#guard(call) : call;
    }
    return guarded;
  }

  /** @param {Function} call */
  #guard(call) {
    return (/** @type {unknown[]} */ ...parameters) => {
      try {
        return call(...parameters);
      } catch (error) {
        this.#thread.report(error);
        return undefined;
      }
    };
  }

  /** @returns {WindowFunctions} */
  #functions() {
    const { foreign } = this.#thread;
    return {
      timelineMethods: JSON.stringify(TIMELINE_METHODS),
      listen: (onFull, onChunk) => {
        this.#onFull = foreign.callable(onFull);
        this.#onChunk = foreign.callable(onChunk);
      },
      listenToLongTasks: (onTask) => {
        this.#onLongTask = foreign.callable(onTask);
      },
      listenToResources: (onResource) => {
        this.#onResource = foreign.callable(onResource);
      },
      heapSizes: () => this.#thread.heapSizes.read(),
      offers: () => {
        const { baseInterval } = native.offers();
        // The mode is the thread's: that of the document which the thread was started for.
        return JSON.stringify({ baseInterval, concurrentSessions: MAX_SESSIONS, mode: this.#thread.mode });
      },
      newChunks: () => {
        const handle = this.#nextHandle++;
        this.#chunks.set(handle, new native.Chunks());
        return handle;
      },
      openSession: (...parameters) => this.#openSession(...parameters),
      closeSession: (...parameters) => this.#closeSession(...parameters),
      takeChunk: (session, handle) => {
        const chunks = this.#chunks.get(handle);
        if (chunks === undefined) throw new Error('there are no such chunks');
        return this.#toWindow(native.takeChunk(numberOf(session) >>> 0, chunks));
      },
      abandon: (session) => {
        if (!this.#sessions.has(session)) return;
        this.#forget(session);
        native.abandon(session);
      },
      releaseReadProfiles: () => native.releaseReadProfiles(),
      newTimeline: (_origin, _resolution, mark, measure) => {
        const handle = this.#nextHandle++;
        const { origin, resolution } = clockOf(this.#window, this.#window.realm.timeOrigin);
        this.#timelines.set(
          handle,
          new native.Timeline(origin, resolution, { mark, measure, threadMemory: ENTRY_MEMORY }),
        );
        return handle;
      },
      timelineCalls: (handle) => this.#timeline(handle).fastCalls(),
      callTimeline: (handle, method, a, b, c, d, e) => {
        if (!TIMELINE_METHODS.includes(method)) throw new Error(`a timeline has no method ${method}`);
        return this.#toWindow(this.#timeline(handle)[method](a, b, c, d, e));
      },
    };
  }

  /**
   * Reports a long task to the window, in whole milliseconds as Chromium does: finer times would reveal more than is needed.
   *
   * @param {string} name
   * @param {number} began
   * @param {number} ended
   */
  reportLongTask(name, began, ended) {
    const start = Math.floor(began - this.#window.realm.timeOrigin);
    // A task that began before the window was made is not the window's.
    if (start >= 0) this.#thread.enter(() => this.#onLongTask(name, start, Math.floor(ended - began)));
  }

  /**
   * Reports a resource that was fetched for the window.
   *
   * @param {string} url
   * @param {string} initiator
   * @param {import('../fetch/fetch-timing.cjs').FetchTiming} timing
   */
  reportResource(url, initiator, timing) {
    const description = describeResource(timing, clockOf(this.#window, this.#window.realm.timeOrigin));
    this.#thread.enter(() => this.#onResource(JSON.stringify({ url, initiator, ...description })));
  }

  /** Abandons the window's running sessions. */
  close() {
    this.#isClosed = true;
    for (const session of [...this.#sessions]) {
      this.#forget(session);
      native.abandon(session);
    }
  }
}

module.exports = { WindowNative };
