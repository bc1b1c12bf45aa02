/**
 * The interfaces of High Resolution Time, Performance Timeline and User Timing, as a global object has them.
 *
 * @see https://w3c.github.io/hr-time/
 * @see https://w3c.github.io/performance-timeline/
 * @see https://w3c.github.io/user-timing/
 * @see https://www.w3.org/TR/2012/WD-user-timing-20120508/
 */

/** Milliseconds since the time origin, or a span of them. */
export type DOMHighResTimeStamp = number;

/** In the order of start times. */
export type PerformanceEntryList = PerformanceEntry[];

/** What {@link Performance.mark} and {@link PerformanceMark} take. */
export interface PerformanceMarkOptions {
  /** Whatever the structured clone algorithm can copy. */
  detail?: any;
  /** The mark's time, 0 or more; now when it is absent. */
  startTime?: DOMHighResTimeStamp;
}

/** What {@link Performance.measure} takes in place of marks. At least `start` or `end` is there, and not all three times. */
export interface PerformanceMeasureOptions {
  /** Whatever the structured clone algorithm can copy. */
  detail?: any;
  /** The name of a mark, or a time that is 0 or more. */
  start?: string | DOMHighResTimeStamp;
  /** How long the measure is, 0 or more. */
  duration?: DOMHighResTimeStamp;
  /** The name of a mark, or a time that is 0 or more; now when it is absent and there is no duration. */
  end?: string | DOMHighResTimeStamp;
}

/** An entry as JSON shows it. */
export interface PerformanceEntryJSON {
  id: number;
  name: string;
  entryType: string;
  startTime: DOMHighResTimeStamp;
  duration: DOMHighResTimeStamp;
  navigationId: number;
}

/** Something that took time, or a moment. */
export class PerformanceEntry {
  protected constructor();
  /** A number that no other entry of the timeline has; 0 for an entry that is on no timeline. */
  readonly id: number;
  readonly name: string;
  /** `'mark'`, `'measure'`, or one of the types that a host records. */
  readonly entryType: string;
  readonly startTime: DOMHighResTimeStamp;
  /** 0 for a mark. Below 0 for a measure whose end comes before its start. */
  readonly duration: DOMHighResTimeStamp;
  /** Which of its document's navigations the entry belongs to; 0 where there is no document. */
  readonly navigationId: number;
  /** The attributes of this interface, without those of the interfaces that inherit from it. */
  toJSON(): PerformanceEntryJSON;
}

/** A moment that a program marked. */
export class PerformanceMark extends PerformanceEntry {
  /**
   * Makes a mark that is on no timeline.
   *
   * @throws TypeError when `startTime` is not finite or below 0
   * @throws DOMException `SyntaxError` in a window, for the name of an attribute of PerformanceTiming
   * @throws DOMException `DataCloneError` when `detail` cannot be copied
   */
  constructor(markName: string, markOptions?: PerformanceMarkOptions);
  /** A copy of what the options had; null when they had nothing. */
  readonly detail: any;
}

/** The span between two moments. */
export class PerformanceMeasure extends PerformanceEntry {
  protected constructor();
  /** A copy of what the options had; null when they had nothing. */
  readonly detail: any;
}

/** The clock and the timeline of a global object. */
export class Performance extends EventTarget {
  protected constructor();
  /** Milliseconds since the time origin. Goes up only, whatever happens to the system's clock. */
  now(): DOMHighResTimeStamp;
  /** The time origin, in milliseconds since the Unix epoch. */
  readonly timeOrigin: DOMHighResTimeStamp;
  toJSON(): any;

  /** All buffered entries. */
  getEntries(): PerformanceEntryList;
  getEntriesByType(type: string): PerformanceEntryList;
  getEntriesByName(name: string, type?: string): PerformanceEntryList;

  /**
   * Marks a moment.
   *
   * @throws as the constructor of {@link PerformanceMark}
   */
  mark(markName: string, markOptions?: PerformanceMarkOptions): PerformanceMark;
  /** Removes the marks of a name, or all. */
  clearMarks(markName?: string): void;
  /**
   * Measures the time between two marks. In a window, an attribute of PerformanceTiming can be named in place of a mark.
   *
   * @param startOrMeasureOptions the name of a mark; the time origin when it is absent
   * @param endMark the name of a mark; now when it is absent
   * @throws DOMException `SyntaxError` when there is no mark of a name
   * @throws DOMException `InvalidAccessError` when an attribute of PerformanceTiming is 0: it has not happened
   * @throws DOMException `DataCloneError` when `detail` cannot be copied
   * @throws TypeError when a time is not finite or below 0, when options do not go together, and, outside of windows, for
   *   the name of an attribute of PerformanceTiming
   */
  measure(
    measureName: string,
    startOrMeasureOptions?: string | PerformanceMeasureOptions,
    endMark?: string,
  ): PerformanceMeasure;
  /** Removes the measures of a name, or all. */
  clearMeasures(measureName?: string): void;

  /** The start times of all marks by name, in the order of the calls; a copy. From the draft of 2012. */
  getMarks(): Record<string, DOMHighResTimeStamp[]>;
  /** The start times of the marks of a name, in the order of the calls; a copy. */
  getMarks(markName: string): DOMHighResTimeStamp[];
  /** The durations of all measures by name, in the order of the calls; a copy. From the draft of 2012. */
  getMeasures(): Record<string, DOMHighResTimeStamp[]>;
  /** The durations of the measures of a name, in the order of the calls; a copy. */
  getMeasures(measureName: string): DOMHighResTimeStamp[];
}

/** Which entries a {@link PerformanceObserver} is to hear of: those of several types, or of one. */
export type PerformanceObserverInit =
  | { entryTypes: readonly string[]; type?: undefined }
  | {
      type: string;
      entryTypes?: undefined;
      /** Whether also those that are in the buffer already. */
      buffered?: boolean;
    };

export interface PerformanceObserverCallbackOptions {
  /** How many entries of the observed types did not fit into their buffers. Only in the first call after `observe()`. */
  droppedEntriesCount?: number;
}

export interface PerformanceObserverCallback {
  (
    this: PerformanceObserver,
    entries: PerformanceObserverEntryList,
    observer: PerformanceObserver,
    options: PerformanceObserverCallbackOptions,
  ): void;
}

/** Hears of new entries, a task after they were made. */
export class PerformanceObserver {
  /** @throws TypeError when the callback is not a function */
  constructor(callback: PerformanceObserverCallback);
  /** The types that can be observed, in alphabetical order. */
  static readonly supportedEntryTypes: readonly string[];
  /**
   * Begins to observe. Types that are not supported are ignored. With `entryTypes`, a call replaces the one before; with
   * `type`, it adds a type.
   *
   * @throws TypeError when neither `entryTypes` nor `type` is there, or both
   * @throws DOMException `InvalidModificationError` when the observer was called the other way before
   */
  observe(options?: PerformanceObserverInit): void;
  /** Ends observing. What was not delivered is lost. */
  disconnect(): void;
  /** Takes the entries that were not delivered yet. */
  takeRecords(): PerformanceEntryList;
}

/** What a callback of a {@link PerformanceObserver} gets. */
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

/** What a class would be that has these attributes and cannot be constructed. */
declare const PerformanceTimingBase: abstract new () => { readonly [attribute in PerformanceTimingAttribute]: number };

/** How a window's page was loaded: milliseconds since the Unix epoch, 0 for what has not happened. */
export class PerformanceTiming extends PerformanceTimingBase {
  protected constructor();
  toJSON(): Record<PerformanceTimingAttribute, number>;
}

/** How a window's page was reached. */
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
