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

/** The clock and the timeline of this thread. Its time origin is that of `node:perf_hooks`. */
export const performance: NodePerformance;

/** What a {@link Profiler} is constructed with. */
export interface ProfilerInitOptions {
  /** The desired sample interval in milliseconds, 0 or more. Rounded up to a whole number of milliseconds. */
  sampleInterval: number;
  /** The sample buffer size limit, in samples. When one more is due, `samplebufferfull` fires and sampling ends. */
  maxBufferSize: number;
}

/** What the thread was doing when a sample was taken. */
export type ProfilerMarker = 'script' | 'gc' | 'style' | 'layout' | 'paint' | 'other';

/** One sample. */
export interface ProfilerSample {
  /** Milliseconds since `performance.timeOrigin`. */
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

/** A recorded profile. */
export interface ProfilerTrace {
  /** URLs or paths of the scripts that frames belong to. */
  resources: string[];
  frames: ProfilerFrame[];
  stacks: ProfilerStack[];
  /** In the order of their timestamps. */
  samples: ProfilerSample[];
}

/** The events of a {@link Profiler}. */
export interface ProfilerEventMap {
  /** The buffer was full when one more sample was due; no more are taken. `stop()` still gives the trace. */
  samplebufferfull: Event;
}

/** A profiling session on the current thread. It starts with its construction. */
export class Profiler extends EventTarget {
  /**
   * @throws TypeError when a member is missing or `sampleInterval` is not finite
   * @throws RangeError when `sampleInterval` is below 0 or above 2147483
   */
  constructor(options: ProfilerInitOptions);
  /** The sample interval that the session really has, in milliseconds. */
  readonly sampleInterval: number;
  /** Whether `stop()` was called. */
  readonly stopped: boolean;
  /**
   * Ends the session and gives its trace, which is built on another thread. Rejects with an `InvalidStateError`
   * `DOMException` when it was called before.
   */
  stop(): Promise<ProfilerTrace>;

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
