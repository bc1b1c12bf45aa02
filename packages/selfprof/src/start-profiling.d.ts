/**
 * The minimal API that the explainer of JS Self-Profiling proposed before `Profiler`.
 *
 * @see https://github.com/WICG/js-self-profiling/blob/6510f55/README.md#minimal-api-proposal
 */

/** The options of `performance.startProfiling()`. */
export interface ProfilingOptions {
  /** The requested sample interval in milliseconds, 0 or more. Default: 10. */
  interval?: number;
  /** How many samples to record at most. Not part of the explainer. Default: 1,000,000. */
  maxBufferSize?: number;
  /** The version of the format. 1 is the default and the only one. */
  version?: 1;
}

/** A running profile of all threads: what the explainer calls a `Profiler`. */
export interface ProfilingSession {
  /**
   * Ends the recording and returns the profile. Rejects with an `InvalidStateError` `DOMException` if it has already
   * ended.
   */
  stopProfiling(): Promise<ProfilingResult>;
  /**
   * Ends the recording and discards its samples. Rejects with an `InvalidStateError` `DOMException` if it has already
   * ended.
   */
  cancelProfiling(): Promise<void>;
}

/** A profile in version 1 of the explainer's format. */
export interface ProfilingResult {
  version: 1;
  /** The actual configuration. */
  options: { interval: number; maxBufferSize: number; version: 1 };
  /** The median time between samples in milliseconds; null with fewer than two samples. */
  effectiveInterval: number | null;
  profile: {
    /** Functions as `name @ resource:line:column`; unknown parts are left out. */
    strings: string[];
    /** Calls by id. `name` is an index into `strings`, and `parent` is the id of the caller. */
    stackFrames: Record<string, { name: number; parent?: number }>;
  } & {
    /** What happened on a thread, in time order. Times are milliseconds since `performance.timeOrigin`. */
    [thread: `worker-${number}`]: ProfilingEvent[];
    'main-thread'?: ProfilingEvent[];
  };
}

/** A sample, or a mark or a measure of User Timing. */
export type ProfilingEvent =
  /** `stack` is an id in `stackFrames`; absent when no function was on the stack. */
  | { type: 'stack'; timestamp: number; stack?: number }
  | { type: 'mark'; timestamp: number; name: string }
  | { type: 'measure'; timestamp: number; name: string; duration: number };
