/**
 * The minimal API that the explainer of JS Self-Profiling proposed, before there was a `Profiler`.
 *
 * @see https://github.com/WICG/js-self-profiling/blob/6510f55/README.md#minimal-api-proposal
 */

/** What `performance.startProfiling()` takes. */
export interface ProfilingOptions {
  /** The desired sample interval in milliseconds, 0 or more. Default: 10. */
  interval?: number;
  /** How many samples to keep; recording ends with the last. The explainer has no limit. Default: 1,000,000. */
  maxBufferSize?: number;
  /** The version of the format: 1, which is the only one and the default. */
  version?: 1;
}

/** The profiling of a thread, while it goes on: what the explainer calls a `Profiler`. */
export interface ProfilingSession {
  /** Ends it and gives the profile. Rejects with an `InvalidStateError` `DOMException` when it was ended before. */
  stopProfiling(): Promise<ProfilingResult>;
  /** Ends it and forgets what was recorded. Rejects with an `InvalidStateError` `DOMException` when it was ended before. */
  cancelProfiling(): Promise<void>;
}

/** A profile in version 1 of the explainer's format. */
export interface ProfilingResult {
  version: 1;
  /** The configuration that was really used. */
  options: { interval: number; maxBufferSize: number; version: 1 };
  /** The median time between samples in milliseconds, null when there were fewer than two. */
  effectiveInterval: number | null;
  profile: {
    /** Functions as `name @ resource:line:column`, as far as these are known. */
    strings: string[];
    /** Functions, by id, as called by the function of their parent: `name` is an index into `strings`. */
    stackFrames: Record<string, { name: number; parent?: number }>;
  } & {
    /** What happened on a thread, in time order. Times are milliseconds since `performance.timeOrigin`. */
    [thread: `worker-${number}`]: ProfilingEvent[];
    'main-thread'?: ProfilingEvent[];
  };
}

/** A sample, or a mark or a measure of User Timing. */
export type ProfilingEvent =
  /** `stack` is an id in `stackFrames`; absent when nothing ran. */
  | { type: 'stack'; timestamp: number; stack?: number }
  | { type: 'mark'; timestamp: number; name: string }
  | { type: 'measure'; timestamp: number; name: string; duration: number };
