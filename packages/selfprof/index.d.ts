/**
 * The W3C JS Self-Profiling API for Node.js, with High Resolution Time, Performance Timeline and User Timing.
 *
 * @see https://wicg.github.io/js-self-profiling/
 */

import type { NodePerformance } from './src/timing/node.js';

export {
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceObserver,
  PerformanceObserverEntryList,
} from './src/timing/interfaces.js';
export type {
  DOMHighResTimeStamp,
  PerformanceEntryJSON,
  PerformanceEntryList,
  PerformanceMarkOptions,
  PerformanceMeasureOptions,
  PerformanceObserverCallback,
  PerformanceObserverCallbackOptions,
  PerformanceObserverInit,
} from './src/timing/interfaces.js';
export type { EventLoopUtilization, NodePerformance, NodeTiming } from './src/timing/node.js';
export type { ProfilingEvent, ProfilingOptions, ProfilingResult, ProfilingSession } from './src/start-profiling.js';

/** The clock and the performance timeline of this thread. The time origin is the same as in `node:perf_hooks`. */
export const performance: NodePerformance;

/** The options of a {@link Profiler}. The optional members are not part of the W3C draft. */
export interface ProfilerInitOptions {
  /** What happens when a sample is due and the buffer is full. Default: `stop`, as in the draft. */
  bufferPolicy?: ProfilerBufferPolicy;
  /**
   * Whether the trace contains the marks and measures that the program makes during the session, with Node's
   * `performance` or this package's. Entries outside the time of the session are left out. Default: false.
   */
  includeEntries?: boolean;
  /**
   * How many samples the buffer holds; with `chunks`, the size of a chunk. When one more sample is due, the
   * `bufferPolicy` decides what happens.
   */
  maxBufferSize: number;
  /**
   * With `chunks`, how many chunks may be queued. Default: 16. When one more is full, `samplebufferfull` fires, and
   * sampling pauses until a chunk is read from the queue. Recorded samples are kept.
   */
  maxChunks?: number;
  /** The requested sample interval in milliseconds, 0 or more. It is rounded up to a whole number of milliseconds. */
  sampleInterval: number;
}

/**
 * What happens when a sample is due and the buffer is full.
 *
 * - `stop`: `samplebufferfull` fires and sampling ends.
 * - `circular`: the new sample replaces the oldest one, so the trace has the last `maxBufferSize` samples. No event
 *   fires.
 * - `chunks`: the full buffer becomes a trace, which {@link Profiler.chunks} returns, and sampling continues with an
 *   empty buffer. No sample is lost between two chunks. A chunk costs the thread one or two milliseconds, so use a size
 *   of some hundred samples or more.
 */
export type ProfilerBufferPolicy = 'stop' | 'circular' | 'chunks';

/** What {@link Profiler.stop} returns: a {@link ProfilerTrace}, or the trace as JSON compressed with gzip. */
export type ProfilerTraceFormat = 'object' | 'json-gzip';

/** What profilers of this thread support: see {@link Profiler.capabilities}. */
export interface ProfilerCapabilities {
  /** The values of {@link ProfilerInitOptions.bufferPolicy}. */
  bufferPolicies: ProfilerBufferPolicy[];
  /** How many profilers can run at the same time; `Infinity` when memory is the only limit. */
  concurrentSessions: number;
  /** Whether the thread counts as cross-origin isolated, with the finest clock and all markers. */
  crossOriginIsolated: boolean;
  /** The types of performance entries that a trace can contain. */
  entryTypes: ('mark' | 'measure')[];
  /** The values of `format` in {@link Profiler.stop}. */
  formats: ProfilerTraceFormat[];
  /**
   * Whether traces show functions that V8 had inlined into optimised code before the thread loaded this package. If
   * not, their time counts as their caller's, as in every profiler for this version of Node: load the package early.
   */
  functionsInlinedEarlier: boolean;
  /** The markers that samples can have. */
  markers: ProfilerMarker[];
  /** When V8 logs functions: always (`eager`), or only while a profiler runs (`lazy`). */
  mode: 'eager' | 'lazy';
  /** The values of `mode`. A thread gets its mode when it first loads the package. */
  modes: ('eager' | 'lazy')[];
  /** The shortest sample interval, and the step between supported intervals, in milliseconds. */
  sampleIntervals: { min: number; quantum: number };
  /** Whether {@link profileThreads} is available. */
  threads: boolean;
  /** Timestamps are multiples of this, in milliseconds. */
  timeResolution: number;
}

/** What the thread was doing when a sample was taken. */
export type ProfilerMarker = 'script' | 'gc' | 'parse' | 'style' | 'layout' | 'paint' | 'other';

/** One sample. */
export interface ProfilerSample {
  /** Milliseconds since `performance.timeOrigin`, rounded down to a multiple of 5 microseconds. */
  timestamp: number;
  /** Index into {@link ProfilerTrace.stacks}; absent when no JavaScript function was on the stack. */
  stackId?: number;
  /**
   * Absent when the thread was idle. V8 gives no stack for a `gc` sample; its stack consists of the frames that the
   * samples before and after it share.
   */
  marker?: ProfilerMarker;
}

/** A call of a function. The parent stack is its caller. */
export interface ProfilerStack {
  /** Index into {@link ProfilerTrace.stacks}; absent for the outermost call. */
  parentId?: number;
  /** Index into {@link ProfilerTrace.frames}. */
  frameId: number;
}

/** A function. */
export interface ProfilerFrame {
  /** The function's name, empty when it is anonymous. */
  name: string;
  /** Index into {@link ProfilerTrace.resources}; absent for built-in functions and for Node's own. */
  resourceId?: number;
  /** The 1-based line of its definition. */
  line?: number;
  /** The 1-based column of its definition. */
  column?: number;
}

/** A mark or a measure. Not part of the W3C draft. */
export interface ProfilerEntry {
  /** In milliseconds: 0 for a mark, negative for a measure that ends before it starts. */
  duration: number;
  entryType: 'mark' | 'measure';
  name: string;
  /** Milliseconds since `performance.timeOrigin`. */
  startTime: number;
}

/** A recorded profile. */
export interface ProfilerTrace {
  /**
   * How many entries were dropped, because a trace has at most `maxBufferSize` entries; absent when none were dropped.
   * A circular buffer drops the oldest entries without counting them. Not part of the W3C draft.
   */
  droppedEntriesCount?: number;
  /** Ordered by start time. Only with {@link ProfilerInitOptions.includeEntries}. Not part of the W3C draft. */
  entries?: ProfilerEntry[];
  /** The URLs or paths of scripts. */
  resources: string[];
  frames: ProfilerFrame[];
  stacks: ProfilerStack[];
  /** Ordered by timestamp. */
  samples: ProfilerSample[];
}

/** The events of a {@link Profiler}. */
export interface ProfilerEventMap {
  /**
   * The buffer was full when one more sample was due. Sampling has ended, and `stop()` returns the trace. With
   * `chunks`, `maxChunks` chunks are queued, and sampling continues when one is read.
   */
  samplebufferfull: Event;
}

/** TypeScript's DOM library has names for these types, and Node's types have none. */
type AddEventListenerParameters = Parameters<EventTarget['addEventListener']>;

/** A profiling session of the current thread. The constructor starts it. */
export class Profiler extends EventTarget {
  /**
   * @throws TypeError when a required member is missing or a value is invalid
   * @throws RangeError when `sampleInterval` is below 0 or above 2147483
   */
  constructor(options: ProfilerInitOptions);
  /** What profilers of this thread support. Does not start a session. Not part of the W3C draft. */
  static capabilities(): ProfilerCapabilities;
  /** The actual sample interval, in milliseconds. */
  readonly sampleInterval: number;
  /** Whether `stop()` or `cancel()` was called. */
  readonly stopped: boolean;
  /**
   * Ends the session and returns its trace, which is built on another thread. Rejects with an `InvalidStateError`
   * `DOMException` if the session has already ended.
   */
  stop(options?: { format?: 'object' }): Promise<ProfilerTrace>;
  /**
   * Ends the session and returns its trace as JSON compressed with gzip, ready to be sent. The work happens on another
   * thread. Not part of the W3C draft.
   */
  stop(options: { format: 'json-gzip' }): Promise<ArrayBuffer>;
  stop(options: { format?: ProfilerTraceFormat }): Promise<ProfilerTrace | ArrayBuffer>;
  /**
   * The chunks of a profiler with the `bufferPolicy` `chunks`. Each is a complete trace of exactly `maxBufferSize`
   * samples. Each chunk is returned once, to the first iterator that requests it. The iteration ends after `stop()`,
   * which returns the remaining samples, and after `cancel()`. A loop can be left and another one started later.
   * Waiting for a chunk keeps the profiler alive, but not the process. Not part of the W3C draft.
   *
   * @throws DOMException `InvalidStateError` if the profiler has another `bufferPolicy`
   */
  chunks(): AsyncIterableIterator<ProfilerTrace>;
  /** The same as {@link Profiler.chunks}: `for await (const trace of profiler)`. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ProfilerTrace>;
  /**
   * Ends the session and discards its samples. No event fires afterwards. Not part of the W3C draft.
   *
   * @throws DOMException `InvalidStateError` if the session has already ended
   */
  cancel(): void;

  addEventListener<K extends keyof ProfilerEventMap>(
    type: K,
    listener: ((this: Profiler, event: ProfilerEventMap[K]) => unknown) | null,
    options?: AddEventListenerParameters[2],
  ): void;
  addEventListener(...parameters: AddEventListenerParameters): void;
}

/** The options of {@link profileThreads}. */
export interface ProfileThreadsOptions {
  /** What happens when the buffer of a thread is full; no event fires. Default: `stop`. */
  bufferPolicy?: 'stop' | 'circular';
  /**
   * Whether each trace contains the marks and measures of its thread, as for a {@link Profiler}. Another thread starts
   * collecting them on its next turn of the event loop. Default: false.
   */
  includeEntries?: boolean;
  /** How many samples the buffer of each thread holds. */
  maxBufferSize: number;
  /** The requested sample interval in milliseconds, as for a {@link Profiler}. */
  sampleInterval: number;
}

/** The profile of one thread. */
export interface ThreadProfile<Trace = ProfilerTrace> {
  /** `threadId` of `node:worker_threads`; 0 is the main thread. */
  threadId: number;
  /**
   * `main`, or the name of the worker. A worker without a name is called `worker-` and its id, as are all workers
   * before Node 22.20 and 24.6.
   */
  name: string;
  /** Absent if the thread is unresponsive. */
  trace?: Trace;
  /** Present if the thread did not answer within a second, because it is blocked in native code. */
  unresponsive?: true;
}

/** A running profile of all threads of the process: the result of {@link profileThreads}. */
export interface ThreadsProfiling {
  /** The actual sample interval of each thread, in milliseconds. */
  readonly sampleInterval: number;
  /** Whether `stop()` or `cancel()` was called. */
  readonly stopped: boolean;
  /**
   * Ends the recording and returns the profiles of all threads, ordered by id, including threads that have ended. All
   * timestamps are relative to `performance.timeOrigin`, which all threads of a process share. Rejects with an
   * `InvalidStateError` `DOMException` if the recording has already ended.
   */
  stop(options?: { format?: 'object' }): Promise<{ threads: ThreadProfile[] }>;
  /** The same, with each trace as JSON compressed with gzip. */
  stop(options: { format: 'json-gzip' }): Promise<{ threads: ThreadProfile<ArrayBuffer>[] }>;
  stop(options: { format?: ProfilerTraceFormat }): Promise<{ threads: ThreadProfile<ProfilerTrace | ArrayBuffer>[] }>;
  /**
   * Ends the recording and discards all samples.
   *
   * @throws DOMException `InvalidStateError` if the recording has already ended
   */
  cancel(): void;
}

/**
 * Profiles all threads of the process that have loaded this package, or load it before `stop()`. With
 * `node --import selfprof/register`, every worker loads it. Other threads are not profiled. It can run any number of
 * times at once, alongside any number of profilers. Not part of the W3C draft.
 *
 * @returns a promise that resolves when all threads are being profiled, or after a second. A thread that is blocked in
 * native code is profiled as soon as it is no longer blocked. Rejects with a TypeError or RangeError for invalid
 * options.
 */
export function profileThreads(options: ProfileThreadsOptions): Promise<ThreadsProfiling>;

/**
 * Calls a function. In the traces of this thread's profilers, samples taken during the call have the given marker. This
 * is for programs that lay out, paint, resolve styles or parse, as browsers do. An asynchronous function is marked
 * until its first `await`. The cost is two function calls, whether or not a profiler runs.
 *
 * @see https://github.com/WICG/js-self-profiling/blob/main/markers.md
 * @returns what the function returns
 * @throws TypeError for another marker or an argument that is not a function; and whatever the function throws
 */
export function withMarker<T>(marker: 'layout' | 'paint' | 'parse' | 'style', work: () => T): T;
