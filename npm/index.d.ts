/**
 * The W3C JS Self-Profiling API for Node.js, and High Resolution Time, Performance Timeline and User Timing beside it.
 *
 * @see https://wicg.github.io/js-self-profiling/
 */

import type { NodePerformance } from './lib/timing/node.js';

export {
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceObserver,
  PerformanceObserverEntryList,
} from './lib/timing/interfaces.js';
export type {
  DOMHighResTimeStamp,
  PerformanceEntryJSON,
  PerformanceEntryList,
  PerformanceMarkOptions,
  PerformanceMeasureOptions,
  PerformanceObserverCallback,
  PerformanceObserverCallbackOptions,
  PerformanceObserverInit,
} from './lib/timing/interfaces.js';
export type { EventLoopUtilization, NodePerformance, NodeTiming } from './lib/timing/node.js';
export type { ProfilingEvent, ProfilingOptions, ProfilingResult, ProfilingSession } from './lib/start-profiling.js';

/** The clock and the timeline of this thread. Its time origin is that of `node:perf_hooks`. */
export const performance: NodePerformance;

/** What a {@link Profiler} is constructed with. What is optional is no part of the W3C draft. */
export interface ProfilerInitOptions {
  /** What happens when a sample is due and the buffer is full. Default: `stop`, as the draft has it. */
  bufferPolicy?: ProfilerBufferPolicy;
  /**
   * Whether the trace gets the marks and measures that are made during the session and overlap its time, with Node's
   * `performance` or with this package's. Default: false.
   */
  includeEntries?: boolean;
  /** The sample buffer size limit, in samples; with `chunks`, the size of a chunk. When one more is due, the `bufferPolicy` says what happens. */
  maxBufferSize: number;
  /**
   * With `chunks`, how many may wait for whoever iterates. Default: 16. When one more is full, `samplebufferfull` fires and
   * sampling rests until a chunk is taken; what was recorded is kept.
   */
  maxChunks?: number;
  /** The desired sample interval in milliseconds, 0 or more. Rounded up to a whole number of milliseconds. */
  sampleInterval: number;
}

/**
 * What happens when a sample is due and the buffer is full.
 *
 * - `stop`: `samplebufferfull` fires and sampling ends.
 * - `circular`: the oldest sample makes room, so that the trace holds the last `maxBufferSize` samples. No event fires, and
 *   memory stays bounded however long it goes on.
 * - `chunks`: the full buffer becomes a trace of its own, which {@link Profiler.chunks} gives, and sampling goes on with an
 *   empty buffer; no sample is lost between them. A chunk costs the thread a millisecond or two: some hundred samples or
 *   more are a good size.
 */
export type ProfilerBufferPolicy = 'stop' | 'circular' | 'chunks';

/** What {@link Profiler.stop} gives: a {@link ProfilerTrace}, or the same as JSON that is compressed with gzip. */
export type ProfilerTraceFormat = 'object' | 'json-gzip';

/** What the profilers of this thread can do; see {@link Profiler.capabilities}. */
export interface ProfilerCapabilities {
  /** The values of {@link ProfilerInitOptions.bufferPolicy}. */
  bufferPolicies: ProfilerBufferPolicy[];
  /** How many profilers may run at once; `Infinity` where memory is the only limit. */
  concurrentSessions: number;
  /** Whether the thread counts as cross-origin isolated: the finest clock, and all markers. */
  crossOriginIsolated: boolean;
  /** The types of the performance entries that a trace may hold. */
  entryTypes: ('mark' | 'measure')[];
  /** The values that `format` may have in {@link Profiler.stop}. */
  formats: ProfilerTraceFormat[];
  /** The markers that samples may carry. */
  markers: ProfilerMarker[];
  /** When V8 takes note of functions: always (`eager`), or while a profiler runs (`lazy`). */
  mode: 'eager' | 'lazy';
  /** The modes that a thread may be given when the package is loaded. */
  modes: ('eager' | 'lazy')[];
  /** Sample intervals in milliseconds: the shortest, and the one that all are multiples of. */
  sampleIntervals: { min: number; quantum: number };
  /** Whether one call can profile the threads of the process. */
  threads: boolean;
  /** The grid that timestamps lie on, in milliseconds. */
  timeResolution: number;
}

/** What the thread was doing when a sample was taken. */
export type ProfilerMarker = 'script' | 'gc' | 'parse' | 'style' | 'layout' | 'paint' | 'other';

/** One sample. */
export interface ProfilerSample {
  /** Milliseconds since `performance.timeOrigin`, rounded down to a multiple of 5 microseconds. */
  timestamp: number;
  /** Index into {@link ProfilerTrace.stacks}; absent when no JavaScript was on the stack. */
  stackId?: number;
  /**
   * Absent when the thread was idle. V8 reports no stack for a `gc` sample; its stack is the part that the samples
   * before and after it share.
   */
  marker?: ProfilerMarker;
}

/** A function, as called by the function of its parent stack. */
export interface ProfilerStack {
  /** Index into {@link ProfilerTrace.stacks} of the caller; absent for an outermost call. */
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

/** A mark or a measure: what `PerformanceEntry.toJSON()` gives, without `detail`. Not part of the W3C draft. */
export interface ProfilerEntry {
  /** 0 for a mark; negative for a measure that ends before it begins. */
  duration: number;
  entryType: 'mark' | 'measure';
  name: string;
  /** Milliseconds since `performance.timeOrigin`. */
  startTime: number;
}

/** A recorded profile. */
export interface ProfilerTrace {
  /**
   * How many entries did not fit, since there is room for as many as samples; absent when all did. A circular buffer lets
   * go of the oldest without a count. Not part of the W3C draft.
   */
  droppedEntriesCount?: number;
  /** In the order of their start times; there with {@link ProfilerInitOptions.includeEntries} alone. Not part of the W3C draft. */
  entries?: ProfilerEntry[];
  /** URLs or paths of the scripts that frames belong to. */
  resources: string[];
  frames: ProfilerFrame[];
  stacks: ProfilerStack[];
  /** In the order of their timestamps. */
  samples: ProfilerSample[];
}

/** The events of a {@link Profiler}. */
export interface ProfilerEventMap {
  /**
   * The buffer was full when one more sample was due; no more are taken. `stop()` still gives the trace. With `chunks`, as
   * many chunks as may were waiting besides, and sampling goes on when one is taken.
   */
  samplebufferfull: Event;
}

/** A profiling session on the current thread. It starts with its construction. */
export class Profiler extends EventTarget {
  /**
   * @throws TypeError when a member is missing or has no value of its kind
   * @throws RangeError when `sampleInterval` is below 0 or above 2147483
   */
  constructor(options: ProfilerInitOptions);
  /** What the profilers of this thread can do. Starts nothing. Not part of the W3C draft. */
  static capabilities(): ProfilerCapabilities;
  /** The sample interval that the session really has, in milliseconds. */
  readonly sampleInterval: number;
  /** Whether `stop()` or `cancel()` was called. */
  readonly stopped: boolean;
  /**
   * Ends the session and gives its trace, which is built on another thread. Rejects with an `InvalidStateError`
   * `DOMException` when the session was ended before.
   */
  stop(options?: { format?: 'object' }): Promise<ProfilerTrace>;
  /**
   * Ends the session and gives its trace as JSON that is compressed with gzip. Both are done on another thread, so that
   * the trace can be sent away while this thread hardly notices. Not part of the W3C draft.
   */
  stop(options: { format: 'json-gzip' }): Promise<ArrayBuffer>;
  stop(options: { format?: ProfilerTraceFormat }): Promise<ProfilerTrace | ArrayBuffer>;
  /**
   * The full buffers of a profiler with the `bufferPolicy` `chunks`, as they come: each is a whole trace of exactly
   * `maxBufferSize` samples, given once, whoever asks first. Ends after `stop()`, whose promise gives the last samples, and
   * after `cancel()`. An iteration that is broken off may be taken up again. Waiting for a chunk keeps the profiler, but not
   * the program, alive. Not part of the W3C draft.
   *
   * @throws DOMException `InvalidStateError` when the profiler has another `bufferPolicy`
   */
  chunks(): AsyncIterableIterator<ProfilerTrace>;
  /** The same as {@link Profiler.chunks}, for `for await (const trace of profiler)`. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ProfilerTrace>;
  /**
   * Ends the session and forgets what it recorded: no trace is built, no event fires. Not part of the W3C draft.
   *
   * @throws DOMException `InvalidStateError` when the session was ended before
   */
  cancel(): void;

  addEventListener<K extends keyof ProfilerEventMap>(
    type: K,
    listener: ((this: Profiler, event: ProfilerEventMap[K]) => unknown) | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** What {@link profileThreads} is called with. */
export interface ProfileThreadsOptions {
  /** What happens when the buffer of a thread is full. Default: `stop`, of which no event tells. */
  bufferPolicy?: 'stop' | 'circular';
  /**
   * Whether each trace gets the marks and measures of its thread, as with a {@link Profiler}. Default: false. Other threads
   * begin to collect theirs when their event loops turn.
   */
  includeEntries?: boolean;
  /** The sample buffer size limit of each thread, in samples. */
  maxBufferSize: number;
  /** The desired sample interval in milliseconds, as for a {@link Profiler}. */
  sampleInterval: number;
}

/** What one thread did. */
export interface ThreadProfile<Trace = ProfilerTrace> {
  /** `threadId` of `node:worker_threads`; 0 is the main thread. */
  threadId: number;
  /**
   * `main`, or the name that the worker was given, or `worker-` and its id where it was given none or Node does not tell
   * (before 22.20 and 24.6).
   */
  name: string;
  /** What it recorded; absent when it is unresponsive. */
  trace?: Trace;
  /** There when the thread did not answer within a second, because it is blocked in native code. */
  unresponsive?: true;
}

/** All threads of the process, being profiled. */
export interface ThreadsProfiling {
  /** The sample interval that each thread really has, in milliseconds. */
  readonly sampleInterval: number;
  /** Whether `stop()` or `cancel()` was called. */
  readonly stopped: boolean;
  /**
   * Ends it and gives what each thread recorded, in the order of their ids; threads that have ended are among them.
   * Timestamps of all count from `performance.timeOrigin`, which the threads of a process share. Rejects with an
   * `InvalidStateError` `DOMException` when it was ended before.
   */
  stop(options?: { format?: 'object' }): Promise<{ threads: ThreadProfile[] }>;
  /** The same with each trace as JSON that is compressed with gzip. */
  stop(options: { format: 'json-gzip' }): Promise<{ threads: ThreadProfile<ArrayBuffer>[] }>;
  stop(options: {
    format?: ProfilerTraceFormat;
  }): Promise<{ threads: ThreadProfile<ProfilerTrace | ArrayBuffer>[] }>;
  /**
   * Ends it and forgets what was recorded.
   *
   * @throws DOMException `InvalidStateError` when it was ended before
   */
  cancel(): void;
}

/**
 * Profiles all threads of the process that have loaded this package (`node --import selfprof/register` loads it in every
 * worker), those included that load it or end before `stop()`. Threads that have not loaded it are not listed. Several
 * profilings and any number of profilers may go on at once. Not part of the W3C draft.
 *
 * @returns a promise that is resolved when all threads are being profiled, or after a second; a thread that is blocked in
 * native code joins when it is free
 * @throws TypeError, RangeError (as rejections) for options that a {@link Profiler} would not take
 */
export function profileThreads(options: ProfileThreadsOptions): Promise<ThreadsProfiling>;

/**
 * Calls a function whose work is marked as this in the traces of this thread's profilers, with what it calls in turn: for
 * programs that lay out, paint, resolve styles or parse, as browsers do. Of an asynchronous function, that is its work until
 * it first waits. It costs two calls, whether or not a profiler runs.
 *
 * https://github.com/WICG/js-self-profiling/blob/main/markers.md
 *
 * @throws TypeError for another marker, or what is no function; and what the function throws
 */
export function withMarker<T>(marker: 'layout' | 'paint' | 'parse' | 'style', work: () => T): T;
