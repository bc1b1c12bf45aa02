/**
 * The interfaces of High Resolution Time, Performance Timeline and User Timing.
 *
 * @see https://w3c.github.io/hr-time/
 * @see https://w3c.github.io/performance-timeline/
 * @see https://w3c.github.io/user-timing/
 * @see https://www.w3.org/TR/2012/WD-user-timing-20120508/
 */

/** A time in milliseconds since the time origin, or a duration in milliseconds. */
export type DOMHighResTimeStamp = number;

/** In the order of start times. */
export type PerformanceEntryList = PerformanceEntry[];

/** The options of {@link Performance.mark} and {@link PerformanceMark}. */
export interface PerformanceMarkOptions {
  /** Any value that the structured clone algorithm supports. */
  detail?: any;
  /** The time of the mark, 0 or more. Default: now. */
  startTime?: DOMHighResTimeStamp;
}

/** The options of {@link Performance.measure}. `start` or `end` is required, and not all three times can be given. */
export interface PerformanceMeasureOptions {
  /** Any value that the structured clone algorithm supports. */
  detail?: any;
  /** The name of a mark, or a time that is 0 or more. */
  start?: string | DOMHighResTimeStamp;
  /** The duration, 0 or more. */
  duration?: DOMHighResTimeStamp;
  /** The name of a mark, or a time that is 0 or more. Default: now, if there is no duration. */
  end?: string | DOMHighResTimeStamp;
}

/** A performance entry as JSON. */
export interface PerformanceEntryJSON {
  id: number;
  name: string;
  entryType: string;
  startTime: DOMHighResTimeStamp;
  duration: DOMHighResTimeStamp;
  navigationId: number;
}

/** An entry of the performance timeline. */
export class PerformanceEntry {
  protected constructor();
  /** Unique on its timeline; 0 for an entry that is not on a timeline. */
  readonly id: number;
  readonly name: string;
  /** `'mark'`, `'measure'`, or another type that the host supports. */
  readonly entryType: string;
  readonly startTime: DOMHighResTimeStamp;
  /** 0 for a mark. Negative for a measure that ends before it starts. */
  readonly duration: DOMHighResTimeStamp;
  /** The id of the document's navigation; 0 without a document. */
  readonly navigationId: number;
  /** The attributes of this interface. Those of inheriting interfaces are left out. */
  toJSON(): PerformanceEntryJSON;
}

/** A point in time that a program has marked. */
export class PerformanceMark extends PerformanceEntry {
  /**
   * Makes a mark without adding it to the timeline.
   *
   * @throws TypeError when `startTime` is not finite or below 0
   * @throws DOMException `SyntaxError` in a window, for the name of an attribute of PerformanceTiming
   * @throws DOMException `DataCloneError` when `detail` cannot be copied
   */
  constructor(markName: string, markOptions?: PerformanceMarkOptions);
  /** A copy of the detail in the options; null if there was none. */
  readonly detail: any;
}

/** The time between two points in time. */
export class PerformanceMeasure extends PerformanceEntry {
  protected constructor();
  /** A copy of the detail in the options; null if there was none. */
  readonly detail: any;
}

/** The clock and the timeline of a global object. */
export class Performance extends EventTarget {
  protected constructor();
  /** The milliseconds since the time origin. Never decreases, even if the system clock is set back. */
  now(): DOMHighResTimeStamp;
  /** The time origin, in milliseconds since the Unix epoch. */
  readonly timeOrigin: DOMHighResTimeStamp;
  toJSON(): any;

  /** All buffered entries, in the order of start times. */
  getEntries(): PerformanceEntryList;
  getEntriesByType(type: string): PerformanceEntryList;
  getEntriesByName(name: string, type?: string): PerformanceEntryList;

  /**
   * Adds a mark to the timeline.
   *
   * @throws like the constructor of {@link PerformanceMark}
   */
  mark(markName: string, markOptions?: PerformanceMarkOptions): PerformanceMark;
  /** Removes the marks with a name, or all marks. */
  clearMarks(markName?: string): void;
  /**
   * Measures the time between two marks. In a window, attributes of PerformanceTiming can be named like marks.
   *
   * @param startOrMeasureOptions the name of a mark, or options. Default: the time origin
   * @param endMark the name of a mark. Default: now
   * @throws DOMException `SyntaxError` when there is no mark with a name
   * @throws DOMException `InvalidAccessError` when an attribute of PerformanceTiming is 0, which means that it has not
   *   happened
   * @throws DOMException `DataCloneError` when `detail` cannot be copied
   * @throws TypeError when a time is not finite or below 0, when options exclude each other, and, outside windows, for
   *   the name of an attribute of PerformanceTiming
   */
  measure(
    measureName: string,
    startOrMeasureOptions?: string | PerformanceMeasureOptions,
    endMark?: string,
  ): PerformanceMeasure;
  /** Removes the measures with a name, or all measures. */
  clearMeasures(measureName?: string): void;

  /** The start times of all marks by name, in the order of the calls. From the 2012 draft. */
  getMarks(): Record<string, DOMHighResTimeStamp[]>;
  /** The start times of the marks with a name, in the order of the calls. */
  getMarks(markName: string): DOMHighResTimeStamp[];
  /** The durations of all measures by name, in the order of the calls. From the 2012 draft. */
  getMeasures(): Record<string, DOMHighResTimeStamp[]>;
  /** The durations of the measures with a name, in the order of the calls. */
  getMeasures(measureName: string): DOMHighResTimeStamp[];
}

/** The options of {@link PerformanceObserver.observe}: several types, or one type. */
export type PerformanceObserverInit =
  | { entryTypes: readonly string[]; type?: undefined }
  | {
      type: string;
      entryTypes?: undefined;
      /** Whether to include entries that are already buffered. Default: false. */
      buffered?: boolean;
    };

export interface PerformanceObserverCallbackOptions {
  /**
   * How many entries of the observed types were dropped from full buffers. Only in the first call after `observe()`.
   */
  droppedEntriesCount?: number;
}

export type PerformanceObserverCallback = (
  this: PerformanceObserver,
  entries: PerformanceObserverEntryList,
  observer: PerformanceObserver,
  options: PerformanceObserverCallbackOptions,
) => void;

/** Receives new entries, in a task after they were made. */
export class PerformanceObserver {
  /** @throws TypeError when the callback is not a function */
  constructor(callback: PerformanceObserverCallback);
  /** The types that can be observed, in alphabetical order. */
  static readonly supportedEntryTypes: readonly string[];
  /**
   * Starts observing. Unsupported types are ignored. A call with `entryTypes` replaces the previous call; a call with
   * `type` adds a type.
   *
   * @throws TypeError unless either `entryTypes` or `type` is given
   * @throws DOMException `InvalidModificationError` when an earlier call used the other one
   */
  observe(options?: PerformanceObserverInit): void;
  /** Stops observing. Entries that were not delivered are discarded. */
  disconnect(): void;
  /** Takes the entries that were not yet delivered. */
  takeRecords(): PerformanceEntryList;
}

/** The entries for a callback of a {@link PerformanceObserver}. */
export class PerformanceObserverEntryList {
  protected constructor();
  getEntries(): PerformanceEntryList;
  getEntriesByType(type: string): PerformanceEntryList;
  getEntriesByName(name: string, type?: string): PerformanceEntryList;
}

/** An attribute of {@link PerformanceTiming}. */
export type PerformanceTimingAttribute =
  | 'navigationStart'
  | 'unloadEventStart'
  | 'unloadEventEnd'
  | 'redirectStart'
  | 'redirectEnd'
  | 'fetchStart'
  | 'domainLookupStart'
  | 'domainLookupEnd'
  | 'connectStart'
  | 'connectEnd'
  | 'secureConnectionStart'
  | 'requestStart'
  | 'responseStart'
  | 'responseEnd'
  | 'domLoading'
  | 'domInteractive'
  | 'domContentLoadedEventStart'
  | 'domContentLoadedEventEnd'
  | 'domComplete'
  | 'loadEventStart'
  | 'loadEventEnd';

/** The attributes as a base class. */
declare const PerformanceTimingBase: abstract new () => { readonly [attribute in PerformanceTimingAttribute]: number };

/**
 * How a window's document was loaded: times in milliseconds since the Unix epoch, 0 for an event that has not happened.
 */
export class PerformanceTiming extends PerformanceTimingBase {
  protected constructor();
  toJSON(): Record<PerformanceTimingAttribute, number>;
}

/** How a window's document was navigated to. */
export class PerformanceNavigation {
  protected constructor();
  static readonly TYPE_NAVIGATE: 0;
  static readonly TYPE_RELOAD: 1;
  static readonly TYPE_BACK_FORWARD: 2;
  static readonly TYPE_RESERVED: 255;
  readonly TYPE_NAVIGATE: 0;
  readonly TYPE_RELOAD: 1;
  readonly TYPE_BACK_FORWARD: 2;
  readonly TYPE_RESERVED: 255;
  readonly type: number;
  readonly redirectCount: number;
  toJSON(): { type: number; redirectCount: number };
}
