'use strict';

// The main realm's side of window/native.cjs: what the profiler and the timeline of one window have the addon do. What its
// document may not do is refused here, where no code of a page comes by; and so is what would take too much memory.

const native = require('../../native.cjs');
const { describeResource } = require('./resource-timing.cjs');

/** How many profilers a page may run at once: as many as in Chromium. */
const MAX_SESSIONS = 100;
/** How many chunks of a profiler may wait. */
const MAX_CHUNKS = 64;

const setBytes = Function.prototype.call.bind(Uint8Array.prototype.set);
const TIMELINE_METHODS = Object.getOwnPropertyNames(native.Timeline.prototype).filter(
  (name) => name !== 'constructor' && name !== 'hot',
);

/** Methods of what a timeline has called once an entry. */
const HOT_METHODS = methodsOf(new native.Timeline(0, 5).hot());

function methodsOf(object) {
  const names = [];
  for (let holder = object; holder !== Object.prototype && holder !== null; holder = Object.getPrototypeOf(holder)) {
    names.push(...Object.getOwnPropertyNames(holder));
  }
  return names.filter((name) => name !== 'constructor' && typeof object[name] === 'function');
}

/** The sessions of all windows of the thread. */
class Sessions {
  #open = new Set();
  #budget;

  /** @param {number} budget how many samples a page may keep */
  constructor(budget) {
    this.#budget = budget;
  }

  get isFull() {
    return this.#open.size >= MAX_SESSIONS;
  }

  /** How many samples one more session may keep. Each gets a share by how many there are, so that the first is not alone. */
  share() {
    return Math.floor(this.#budget / (this.#open.size + 1));
  }

  add(session) {
    this.#open.add(session);
  }

  remove(session) {
    return this.#open.delete(session);
  }
}

class WindowNative {
  #thread;
  #window;
  #own = new Set();
  #chunks = new Map();
  #timelines = new Map();
  #next = 1;
  #onFull = () => {};
  #onChunk = () => {};
  #onLongTask = () => {};
  #onResource = () => {};
  #listener;

  /**
   * @param {import('./main.cjs').PageThread} thread
   * @param {import('./windows.cjs').WindowRecord} window
   */
  constructor(thread, window) {
    this.#thread = thread;
    this.#window = window;
    this.#listener = new native.Listener(
      (session) => thread.enter(() => this.#onFull(session)),
      (session) => thread.enter(() => this.#onChunk(session)),
    );
  }

  /** Makes an object of the addon one of the window's realm. */
  #toWindow(value) {
    if (typeof value !== 'object' || value === null) return value;
    const { allocate, emptyObject, parse } = this.#window.code;
    if (ArrayBuffer.isView(value)) {
      const copy = allocate(Object.prototype.toString.call(value).slice(8, -1), value.length);
      setBytes(new Uint8Array(copy.buffer), new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
      return copy;
    }
    if (Array.isArray(value) && value instanceof Array) return parse(JSON.stringify(value));
    // What the window handed in for safekeeping comes back as it is.
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    const object = emptyObject();
    for (const [key, inner] of Object.entries(value)) {
      Object.defineProperty(object, key, { value: this.#toWindow(inner), writable: true, enumerable: true, configurable: true });
    }
    return object;
  }

  #refusal(code, message) {
    return JSON.stringify({ code, message });
  }

  #openSession(sampleInterval, maxBufferSize, bufferPolicy, maxChunks, includeEntries, includeSameOriginFrames, chunks) {
    const { document, realm } = this.#window;
    // The constructor's steps: what is wrong with the interval comes before what the document may do.
    if (Number.isFinite(sampleInterval) && sampleInterval >= 0 && document.profiling === undefined) {
      // Chromium's words come first: programs look for them.
      const reason = 'JS profiling is disabled by Document Policy: the document was served without Document-Policy: js-profiling';
      return this.#refusal('NotAllowedError', reason);
    }
    const { sessions } = this.#thread;
    if (sessions.isFull) return this.#refusal('TypeError', `${MAX_SESSIONS} profilers run on this page already`);
    const policy = String(bufferPolicy);
    // `unsigned long`, as the addon converts it.
    const asked = Number.isFinite(maxBufferSize) ? Math.trunc(maxBufferSize) >>> 0 : 0;
    let share = sessions.share();
    const waiting = Math.min(Number(maxChunks) >>> 0, MAX_CHUNKS);
    if (policy === 'chunks') share = Math.floor(share / (waiting + 1));
    try {
      const session = native.open(
        {
          sampleInterval: Number(sampleInterval),
          maxBufferSize: Math.min(asked, share),
          bufferPolicy: policy,
          maxChunks: waiting,
          includeEntries: includeEntries === true,
          includeSameOriginFrames: includeSameOriginFrames === true,
          realm,
        },
        this.#listener,
        this.#chunks.get(chunks),
      );
      this.#own.add(session.id);
      sessions.add(session.id);
      // It begins in the started state and takes its first sample, whether the page is visible or not.
      // https://wicg.github.io/js-self-profiling/#states
      if (!this.#thread.isVisible) native.pauseRealm(realm, true);
      return JSON.stringify(session);
    } catch (error) {
      return this.#refusal(String(error.code), String(error.message));
    }
  }

  #forget(session) {
    this.#own.delete(session);
    this.#thread.sessions.remove(session);
  }

  #closeSession(session, format, collected, onDone, onFailed) {
    if (!this.#own.has(session)) {
      this.#thread.enter(() => onFailed('the session is not there'));
      return;
    }
    this.#forget(session);
    native.close(session, String(format), this.#entriesOf(collected)).then(
      (product) => this.#thread.enter(() => onDone(this.#toWindow(product))),
      (error) => this.#thread.enter(() => onFailed(String(error.message))),
    );
  }

  /** Marks and measures that the window has collected, as the addon wants them. */
  #entriesOf(collected) {
    if (collected === undefined) return undefined;
    const { names, heads, times, until, dropped, isCircular } = collected;
    return {
      names: JSON.parse(String(names)).map(String),
      heads: new Uint32Array(heads),
      times: new Float64Array(times),
      until: Number(until),
      dropped: Number(dropped),
      isCircular: isCircular === true,
    };
  }

  #timeline(handle) {
    const timeline = this.#timelines.get(handle);
    if (timeline === undefined) throw new Error('the timeline is not there');
    return timeline;
  }

  /** The functions that window/native.cjs gets. What goes wrong in them is the host's own affair. */
  functions() {
    const functions = this.#functions();
    for (const [name, call] of Object.entries(functions)) {
      if (typeof call !== 'function') continue;
      functions[name] = (...parameters) => {
        try {
          return call(...parameters);
        } catch (error) {
          this.#thread.report(error);
          return undefined;
        }
      };
    }
    return functions;
  }

  #functions() {
    return {
      hotMethods: JSON.stringify(HOT_METHODS),
      timelineMethods: JSON.stringify(TIMELINE_METHODS),
      listen: (onFull, onChunk) => {
        this.#onFull = onFull;
        this.#onChunk = onChunk;
      },
      listenToLongTasks: (onTask) => {
        this.#onLongTask = onTask;
      },
      listenToResources: (onResource) => {
        this.#onResource = onResource;
      },
      offers: () => {
        const { baseInterval } = native.offers();
        // V8's, which is the thread's: that of the document which it was started for.
        return JSON.stringify({ baseInterval, concurrentSessions: MAX_SESSIONS, mode: this.#thread.mode });
      },
      newChunks: () => {
        const handle = this.#next++;
        this.#chunks.set(handle, new native.Chunks());
        return handle;
      },
      openSession: (...parameters) => this.#openSession(...parameters),
      closeSession: (...parameters) => this.#closeSession(...parameters),
      takeChunk: (session, chunks) => this.#toWindow(native.takeChunk(session >>> 0, this.#chunks.get(chunks))),
      abandon: (session) => {
        if (!this.#own.has(session)) return;
        this.#forget(session);
        native.abandon(session);
      },
      bury: () => native.bury(),
      newTimeline: (origin, resolution, mark, measure) => {
        const handle = this.#next++;
        this.#timelines.set(handle, new native.Timeline(origin, resolution, { mark, measure }));
        return handle;
      },
      hotTimeline: (handle) => this.#timeline(handle).hot(),
      callTimeline: (handle, method, a, b, c, d, e) => {
        if (!TIMELINE_METHODS.includes(method)) throw new Error(`${method} is no method of a timeline`);
        return this.#toWindow(this.#timeline(handle)[method](a, b, c, d, e));
      },
    };
  }

  /** Tells the window of a task that was long, in whole milliseconds, as Chromium does: they say no more than is needed. */
  reportLongTask(name, began, ended) {
    const start = Math.floor(began - this.#window.origin);
    // What began before the window was there is none of its own.
    if (start >= 0) this.#thread.enter(() => this.#onLongTask(name, start, Math.floor(ended - began)));
  }

  /**
   * Tells the window of a resource that was fetched for it.
   *
   * @param {import('../network/timing.cjs').FetchTiming} timing
   */
  reportResource(url, initiator, timing) {
const description = describeResource(timing, clockOf(this.#thread, this.#window));
    this.#thread.enter(() => this.#onResource(JSON.stringify({ url, initiator, ...description })));
  }

  /** Ends what the window has running. */
  close() {
    for (const session of [...this.#own]) {
      this.#forget(session);
      native.abandon(session);
    }
  }
}

/** @returns {import('./resource-timing.cjs').Clock} */
function clockOf({ client }, { origin }) {
  return { origin, resolution: client.isIsolated === true ? 5 : 100 };
}

module.exports = { Sessions, WindowNative, clockOf };
