/** What `init` is told. */
export interface Options {
  /** Where profiles are sent: `https://HOST/v1/profiles?key=KEY` of a collector. */
  url: string;
  /** The name of the application, as the collector knows it. */
  app: string;
  /** The version of the application. Source maps are found by it, and releases are compared by it. */
  release?: string;
  /** Such as `production`. */
  environment?: string;
  /** The part of sessions that is profiled, from 0 to 1; 1 by default. It is decided once for each session. */
  sampleRate?: number;
  /** The time between samples in milliseconds; 10 by default. */
  sampleInterval?: number;
  /** The samples that a profiler may take before the next one begins; those of 60 seconds by default. */
  maxBufferSize?: number;
  /**
   * The name of the page at this address. By default it is the path, with `:id` in place of numbers, long hexadecimal
   * numbers and addresses of e-mail.
   */
  route?(location: Location): string;
  /** Gets what is about to be sent. It may change it, or return nothing, and then it is not sent. */
  beforeSend?(upload: Upload): Upload | null | undefined;
  /**
   * A class with the interface of `Profiler`, for browsers without it. By default it is the global `ProfilerPolyfill`,
   * if there is one.
   */
  Profiler?: ProfilerClass;
  /**
   * The worker that compresses and sends: by default one from a `blob:` URL, which needs `worker-src blob:` in a
   * Content Security Policy. `false` does it in the page, as happens if the worker cannot start.
   */
  worker?: boolean;
  /** The session of another page or of the page of a worker: `agent.session`. It is profiled. */
  session?: string;
}

/** What `init` returns. */
export interface Agent {
  /** The session, if it is profiled. By it, its profiles are deleted. */
  readonly session: string | undefined;
  /** Sends what there is. */
  flush(): void;
  /** Ends profiling in this page, and sends what there is. */
  stop(): void;
  /** Takes the measurements of the package `web-vitals`, so that the collector can say what ran meanwhile. */
  addVitals(vitals: WebVitals): void;
}

/** A profile as it is sent. docs/collector.md says what its members mean. */
export interface Upload {
  id: string;
  app: string;
  release?: string | undefined;
  environment?: string | undefined;
  page: string;
  session: string;
  rate: number;
  entries: Entry[];
  trace: Trace;
}

/** A performance entry. Times are in milliseconds. */
export interface Entry {
  entryType: string;
  name: string;
  startTime: number;
  duration: number;
  interactionId?: number;
}

/** What `Profiler.stop()` resolves to: https://wicg.github.io/js-self-profiling/#the-profilertrace-dictionary */
export interface Trace {
  resources: string[];
  frames: { name: string; resourceId?: number; line?: number; column?: number }[];
  stacks: { parentId?: number; frameId: number }[];
  samples: { timestamp: number; stackId?: number; marker?: string }[];
}

/** What `stop()` resolves to with `mode: 'trace'`: there are calls instead of samples. */
export interface CallTrace extends Trace {
  /** The events in their order, as columns: the first of each list are one event. */
  calls: {
    /** When recording began and ended, in milliseconds since the time origin. */
    start: number;
    end: number;
    /** Whether events were lost, because the buffer was full: recording ended with the first that did not fit. */
    truncated: boolean;
    /** The functions, as indexes of `frames`. */
    frameIds: number[];
    /**
     * 0: a function is called. 1: it returns or throws. 2: it is suspended, by `await` or `yield`. 3: it is resumed.
     *
     * A function that was called before recording began has an exit without an entry, and one that runs still has an
     * entry without an exit. Everything else nests.
     */
    types: number[];
    /** In milliseconds since the time origin. */
    timestamps: number[];
  };
}

/** https://wicg.github.io/js-self-profiling/#the-profiler-interface */
export interface ProfilerClass {
  new (options: {
    sampleInterval: number;
    maxBufferSize: number;
  }): {
    readonly sampleInterval: number;
    stop(): Promise<Trace>;
    addEventListener(type: 'samplebufferfull', listener: () => void): void;
  };
  /** Whether it is not the browser's own. */
  readonly polyfilled?: boolean;
}

/**
 * The class that the runtime of instrumented pages (`dist/polyfill.js`) defines as the global `ProfilerPolyfill`, and
 * as `Profiler` where the browser has none. README.md says what it sees and what it costs.
 *
 * The interval is a multiple of 10 ms, the requested one rounded up. `new` throws a `TypeError` if a member is missing
 * or is not a number, or if 100 profilers are running, and a `RangeError` if the interval is negative or above
 * 2,147,483 ms. `stop()` rejects with an `InvalidStateError` if it was called before. In the trace, a sample with the
 * marker `script` and without a stack is one in which JavaScript ran, and it is unknown which.
 */
export interface ProfilerPolyfillClass {
  new (options: {
    /** In milliseconds. */
    sampleInterval: number;
    /** The number of samples after which `samplebufferfull` fires, and none are taken any more. */
    maxBufferSize: number;
  }): EventTarget & {
    /** In milliseconds. */
    readonly sampleInterval: number;
    readonly stopped: boolean;
    stop(): Promise<Trace>;
  };
  /** Tells it from the browser's own. */
  readonly polyfilled: true;
}

/**
 * The class that `dist/tracing.js` defines in its place on pages that are instrumented with
 * `selfprof instrument --mode trace`. `new` throws a `TypeError` without `mode: 'trace'` or `maxBufferSize`, or if 100
 * profilers are running.
 */
export interface TracingProfilerClass {
  new (options: {
    mode: 'trace';
    /** The number of events that are recorded. With the next one, `samplebufferfull` fires, and recording ends. */
    maxBufferSize: number;
    /** Has no meaning here. */
    sampleInterval?: number;
  }): EventTarget & {
    /** 0: there are no samples. */
    readonly sampleInterval: number;
    readonly stopped: boolean;
    stop(): Promise<CallTrace>;
  };
  /** Tells it from the browser's own. */
  readonly polyfilled: true;
}

/** The functions of `web-vitals` that are used. */
export interface WebVitals {
  onFCP?(callback: (metric: VitalMetric) => void): void;
  onINP?(callback: (metric: VitalMetric) => void): void;
  onLCP?(callback: (metric: VitalMetric) => void, options?: { reportAllChanges?: boolean }): void;
  onTTFB?(callback: (metric: VitalMetric) => void): void;
}

/** A measurement of `web-vitals`. */
export interface VitalMetric {
  name: string;
  value: number;
  entries: { startTime: number }[];
}

/**
 * Begins to profile this page or worker, if its session is among those that are profiled. Where profiling is not
 * possible, it tells the collector so, once in a session. It never throws.
 */
export function init(options: Options): Agent;
