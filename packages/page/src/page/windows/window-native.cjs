'use strict';

// The addon as the modules of `selfprof` in a window use it: in place of `selfprof/internal/native.cjs` there. Its
// sessions are those of the window's realm, and what scripts of the page get of it are objects of that realm.

const native = require('selfprof/internal/native.cjs');
const { describeResource } = require('../loading/resource-timing.cjs');

/** How many profilers a thread may run at once: as many as V8 allows. */
const MAX_SESSIONS = 100;

/** @typedef {import('../../window/contracts.js').WindowAddon} WindowAddon */

/** How many sessions of all windows run in this thread. */
let running = 0;

/** @param {string} code the name of the constructor to throw @param {string} message */
function refusal(code, message) {
  return Object.assign(new Error(message), { code });
}

class WindowNative {
  #thread;
  #window;
  /** Sessions of this window. @type {Set<number>} */
  #sessions = new Set();
  /** @type {Parameters<WindowAddon['listenToLongTasks']>[0]} */
  #onLongTask = () => {};
  /** @type {Parameters<WindowAddon['listenToResources']>[0]} */
  #onResource = () => {};

  /**
   * @param {import('../page-thread.cjs').PageThread} thread
   * @param {import('./page-window.cjs').PageWindow} window
   */
  constructor(thread, window) {
    this.#thread = thread;
    this.#window = window;
  }

  /** What stands for the addon in the window. @returns {WindowAddon} */
  addon() {
    const { Chunks, Timeline, abandon, releaseReadProfiles, takeChunk } = native;
    return {
      Chunks,
      Timeline,
      releaseReadProfiles,
      abandon: (session) => {
        this.#forget(session);
        abandon(session);
      },
      takeChunk: (session, chunks) => this.#toWindow(takeChunk(session, chunks)),
      open: (options, listener, chunks) => this.#open(options, listener, chunks),
      close: (session, format, entries) => this.#close(session, format, entries),
      // The mode is the thread's: that of the document which the thread was started for.
      offers: () => ({ ...native.offers(), concurrentSessions: MAX_SESSIONS, mode: this.#thread.mode }),
      heapSizes: () => this.#thread.heapSizes.read(),
      listenToLongTasks: (listener) => {
        this.#onLongTask = listener;
      },
      listenToResources: (listener) => {
        this.#onResource = listener;
      },
    };
  }

  /**
   * @param {import('selfprof/internal/native.js').OpenOptions} options
   * @param {import('selfprof/internal/native.js').Listener} listener
   * @param {import('selfprof/internal/native.js').Chunks} [chunks]
   */
  #open(options, listener, chunks) {
    const { document, isOpen, realm } = this.#window;
    if (!isOpen) throw refusal('InvalidStateError', 'the document is not shown any more');
    // As in the constructor's steps, an invalid interval is reported before a missing permission.
    const { sampleInterval } = options;
    if (Number.isFinite(sampleInterval) && sampleInterval >= 0 && document.profiling === undefined) {
      // Begins with Chromium's words, because programs look for them.
      const reason =
        'JS profiling is disabled by Document Policy: the document was served without Document-Policy: js-profiling';
      throw refusal('NotAllowedError', reason);
    }
    if (running >= MAX_SESSIONS) throw refusal('TypeError', `${MAX_SESSIONS} profilers run on this page already`);
    const session = realm.open(
      options,
      {
        onFull: (id) => this.#thread.enter(() => listener.onFull(id)),
        onChunk: (id) => this.#thread.enter(() => listener.onChunk(id)),
      },
      chunks,
    );
    this.#sessions.add(session.id);
    running += 1;
    // A session begins in the state "started" and takes its first sample, whether the page is visible or not.
    // https://wicg.github.io/js-self-profiling/#states
    if (!this.#thread.isVisible) realm.pause(true);
    return session;
  }

  /** @param {number} session */
  #forget(session) {
    if (this.#sessions.delete(session)) running -= 1;
  }

  /**
   * @param {number} session
   * @param {string} format
   * @param {import('selfprof/internal/native.js').CollectedEntries} [entries]
   * @returns {Promise<import('selfprof/internal/native.js').TraceOutput>}
   */
  async #close(session, format, entries) {
    const { makeException } = this.#window.code;
    const fail = (/** @type {string} */ reason) =>
      makeException(`Failed to execute 'stop' on 'Profiler': ${reason}.`, 'InvalidStateError');
    if (!this.#sessions.has(session)) throw fail('the document of the profiler is not shown any more');
    this.#forget(session);
    let output;
    try {
      output = await native.close(session, format, entries);
    } catch (error) {
      throw fail(error instanceof Error ? error.message : String(error));
    }
    return { ...output, trace: this.#toWindow(output.trace) };
  }

  /**
   * What a script of the page will get of a trace: the bytes, or the list of resources. The other columns become
   * objects in the window.
   *
   * @template {import('selfprof/internal/native.js').TraceOutput['trace'] | null} Trace
   * @param {Trace} trace
   * @returns {Trace}
   */
  #toWindow(trace) {
    const { allocate, parse } = this.#window.code;
    if (trace === null) return trace;
    if (!(trace instanceof Uint8Array)) return { ...trace, resources: parse(JSON.stringify(trace.resources)) };
    const copy = allocate('Uint8Array', trace.length);
    copy.set(trace);
    return /** @type {Trace} */ (copy);
  }

  /**
   * Reports a long task to the window, in whole milliseconds as Chromium does: finer times would reveal more than is
   * needed.
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
   * Reports a resource that was fetched for the window. https://w3c.github.io/resource-timing/#mark-resource-timing
   *
   * @param {string} url
   * @param {string} initiator
   * @param {import('../../fetch/fetch-timing.cjs').FetchTiming | undefined} timing undefined for a response that was
   *   not fetched
   */
  reportResource(url, initiator, timing) {
    if (timing === undefined || !this.#window.isOpen) return;
    const description = describeResource(timing, this.#window);
    this.#thread.enter(() => this.#onResource({ url, initiator, ...description }));
  }

  /** Abandons the window's running sessions. */
  close() {
    for (const session of [...this.#sessions]) {
      this.#forget(session);
      native.abandon(session);
    }
  }
}

module.exports = { WindowNative };
