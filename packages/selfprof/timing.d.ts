/**
 * High Resolution Time, Performance Timeline and User Timing for global objects that a host creates, such as windows.
 */

import type {
  DOMHighResTimeStamp,
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceNavigation,
  PerformanceObserver,
  PerformanceObserverEntryList,
  PerformanceTiming,
  PerformanceTimingAttribute,
} from './src/timing/interfaces.js';

/** The options of {@link createTiming}. */
export interface TimingOptions {
  /**
   * The time origin on the monotonic clock, in milliseconds: the value of `Number(process.hrtime.bigint()) / 1e6` at
   * that time. Default: computed from `timeOrigin`, or now if both are absent.
   */
  origin?: number;
  /** The time origin in milliseconds since the Unix epoch. Default: computed from `origin`. */
  timeOrigin?: DOMHighResTimeStamp;
  /** Whether the clock has a resolution of 5 µs instead of 100 µs. Default: false. */
  crossOriginIsolated?: boolean;
  /**
   * The values of PerformanceTiming in milliseconds since the Unix epoch; absent or 0 for an event that has not
   * happened. They are read on each access, so the host can update the object while a page loads.
   */
  timing?: { [attribute in PerformanceTimingAttribute]?: number };
  /** The values of PerformanceNavigation. */
  navigation?: { type?: number; redirectCount?: number };
  /** Whether the global object is a window. Default: true if `timing` is given. */
  window?: boolean;
  /**
   * How many entries the buffers hold. Default: no limit. Further entries are dropped, and observers receive their
   * number.
   */
  limits?: { mark?: number; measure?: number };
  /**
   * The constructors of the global object's realm. The interfaces inherit from them, and create and throw instances of
   * them. Default: the constructors of the caller's realm. The global object itself can be passed.
   */
  intrinsics?: {
    Array?: ArrayConstructor;
    DOMException?: typeof DOMException;
    EventTarget?: typeof EventTarget;
    Function?: FunctionConstructor;
    Object?: ObjectConstructor;
    TypeError?: TypeErrorConstructor;
    structuredClone?: typeof structuredClone;
    [other: string]: unknown;
  };
  /** Queues a task that calls the observers. Default: `setImmediate`. */
  queueTask?: (task: () => void) => void;
  /** Reports an exception thrown by an observer's callback. Default: as an uncaught exception. */
  reportException?: (error: unknown) => void;
}

/** The interface objects and the `performance` of a global object. */
export interface Timing<P extends Performance = Performance> {
  performance: P;
  Performance: typeof Performance;
  PerformanceEntry: typeof PerformanceEntry;
  PerformanceMark: typeof PerformanceMark;
  PerformanceMeasure: typeof PerformanceMeasure;
  PerformanceObserver: typeof PerformanceObserver;
  PerformanceObserverEntryList: typeof PerformanceObserverEntryList;
}

/** The `performance` of a window. */
export interface WindowPerformance extends Performance {
  readonly timing: PerformanceTiming;
  readonly navigation: PerformanceNavigation;
}

/** The interface objects and the `performance` of a window. */
export interface WindowTiming extends Timing<WindowPerformance> {
  PerformanceTiming: typeof PerformanceTiming;
  PerformanceNavigation: typeof PerformanceNavigation;
}

/**
 * Creates a new set of interfaces, with its own clock and timeline.
 *
 * @throws TypeError when an option has the wrong type
 * @throws RangeError when a limit is not an integer from 0 to 2^32 - 1, or Infinity
 */
export function createTiming(
  options: TimingOptions & ({ window: true } | { timing: object; window?: true }),
): WindowTiming;
export function createTiming(options?: TimingOptions): Timing;
