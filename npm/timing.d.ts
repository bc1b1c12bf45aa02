/**
 * The timing interfaces for a host's global objects, such as the windows of a page host.
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
} from './lib/timing/interfaces.js';

/** What {@link createTiming} takes. */
export interface TimingOptions {
  /**
   * The time origin on the monotonic clock, in milliseconds: `Number(process.hrtime.bigint()) / 1e6` when it was. Follows
   * from `timeOrigin` when it is absent; now when both are.
   */
  origin?: number;
  /** The time origin in milliseconds since the Unix epoch. Follows from `origin` when it is absent. */
  timeOrigin?: DOMHighResTimeStamp;
  /** Whether the clock goes in steps of 5 µs rather than 100 µs. */
  crossOriginIsolated?: boolean;
  /**
   * The values of PerformanceTiming in milliseconds since the Unix epoch. What is absent or 0 has not happened. They are
   * read whenever a script asks, so the host may go on writing to the object.
   */
  timing?: { [attribute in PerformanceTimingAttribute]?: number };
  /** The values of PerformanceNavigation. */
  navigation?: { type?: number; redirectCount?: number };
  /** Whether the global object is a window; by default when there is `timing`. */
  window?: boolean;
  /** How many entries the buffers hold; no limit by default. More are dropped, and counted for observers. */
  limits?: { mark?: number; measure?: number };
  /**
   * The constructors of the global object's realm, which the interfaces inherit from, create and throw. Those of this realm
   * stand in for what is absent.
   */
  intrinsics?: {
    Array?: Function;
    DOMException?: Function;
    EventTarget?: Function;
    Function?: Function;
    Object?: Function;
    TypeError?: Function;
    structuredClone?: Function;
    [other: string]: unknown;
  };
  /** Runs a task later, for observers; `setImmediate` by default. */
  queueTask?: (task: () => void) => void;
  /** Reports what an observer's callback threw; as an uncaught exception by default. */
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

/** As {@link Timing}, of a window. */
export interface WindowTiming extends Timing<WindowPerformance> {
  PerformanceTiming: typeof PerformanceTiming;
  PerformanceNavigation: typeof PerformanceNavigation;
}

/**
 * Makes the interfaces anew, with a clock and a timeline of their own.
 *
 * @throws TypeError when an option is not of its type
 * @throws RangeError when a limit is not a number of entries
 */
export function createTiming(
  options: TimingOptions & ({ window: true } | { timing: object; window?: true }),
): WindowTiming;
export function createTiming(options?: TimingOptions): Timing;
