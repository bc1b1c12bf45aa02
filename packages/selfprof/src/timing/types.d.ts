/** Types that the files of this folder share. */

import type { PerformanceEntry } from './interfaces.js';

/** The constructors of a global object's realm that the interfaces inherit from, create and throw. */
export interface Realm {
  Array: ArrayConstructor;
  DOMException: typeof DOMException;
  EventTarget: typeof EventTarget;
  Function: FunctionConstructor;
  Object: ObjectConstructor;
  TypeError: TypeErrorConstructor;
  structuredClone: typeof structuredClone;
}

/** Consecutive entry objects in the order of the calls, and then the number of the block. */
export type Block = (object | number | undefined)[];

/** What every entry has, also one of Node's classes. */
export type AnyEntry = Pick<PerformanceEntry, 'name' | 'entryType' | 'startTime' | 'duration'>;

/** How the attributes of one type of entry are read. */
export interface EntryReader<E extends object = object> {
  entryType: string;
  /** Whether a value is an entry of this type. */
  has(value: unknown): boolean;
  /** The block of an entry that is on the timeline of marks and measures. */
  block(entry: E): Block | undefined;
  name(entry: E): string;
  startTime(entry: E): number;
  duration(entry: E): number;
  /** For types that number their entries themselves. */
  id?(entry: E): number;
  /** For marks and measures. */
  setDetail?(entry: E, detail: unknown): void;
}

/** Records entries of further types, in addition to marks and measures. */
export interface EntrySource {
  readonly entryTypes: readonly string[];
  /** The entries on the timeline, of one type or of all, in the order of start times. */
  getEntries(type?: string): AnyEntry[];
  /** The entries for observers with `buffered`; by default those on the timeline. */
  bufferedEntries?(type: string): AnyEntry[];
  /** How many entries of a type did not fit. */
  droppedEntries?(type: string): number;
  /** Reports each new entry of a type until `unwatch`. */
  watch(type: string, report: (entry: AnyEntry) => void): void;
  unwatch(type: string): void;
}

/** A partial interface that a specification or a host adds to `Performance`. */
export type Extension = (requirePerformance: (value: unknown) => void) => {
  /** Operations and attributes, as members of an object literal. */
  members: object & ThisType<EventTarget>;
  /** How many arguments operations require, if any. */
  lengths?: Record<string, number>;
  /** What `toJSON()` shows. */
  json?: Record<string, () => unknown>;
};

/** A long task, in milliseconds since the time origin. */
export interface LongTask {
  name: string;
  startTime: number;
  duration: number;
}

/** What was fetched, and when, on the clock of the global object. It contains only what the global object may know. */
export interface ResourceDescription extends FetchDescription {
  url: string;
  initiator: string;
  startTime: number;
}

/** How a resource or a document was fetched. */
export interface FetchDescription {
  protocol: string;
  redirectStart: number;
  redirectEnd: number;
  redirectCount: number;
  fetchStart: number;
  domainLookupStart: number;
  domainLookupEnd: number;
  connectStart: number;
  connectEnd: number;
  secureConnectionStart: number;
  requestStart: number;
  responseStart: number;
  responseEnd: number;
  transferSize: number;
  encodedSize: number;
  decodedSize: number;
  status: number;
  contentType: string;
  contentEncoding: string;
}

/** How a window's document is loaded. */
export interface PageLoading {
  /** The document's URL. */
  name(): string;
  /** How the document was fetched; undefined when it came from no network. */
  fetched(): FetchDescription | undefined;
  /** The time of a milestone of loading; 0 when it has not been reached. */
  milestones(name: string): number;
  /** Calls back when the document is loaded. */
  onLoaded(listener: () => void): void;
}

/** What the timing interfaces of a global object are made from. */
export interface TimingSettings {
  /** The time origin on the monotonic clock, in milliseconds. */
  origin: number;
  /** The time origin since the Unix epoch, in milliseconds. */
  timeOrigin: number;
  /** In microseconds. */
  resolution: 5 | 100;
  limits: { mark?: number; measure?: number };
  intrinsics: Partial<Realm>;
  queueTask(task: () => void): void;
  reportException(error: unknown): void;
  /** For windows. */
  page?: {
    timing: { [attribute: string]: number | undefined };
    navigation: { type?: number; redirectCount?: number };
  };
  /** Records entries of further types. */
  source?: EntrySource;
  /** Is called once, with the function to call for each long task. Windows have these in place of a `source`. */
  longTasks?(onTask: (task: LongTask) => void): void;
  /** Is called once, with the function to call for each resource. Needs `fireEvent`, and in windows `loading`. */
  resources?(onResource: (resource: ResourceDescription) => void): void;
  loading?: PageLoading;
  fireEvent?(target: EventTarget, type: string): void;
  /** The times of milestones that measures can name like marks; undefined for other names. */
  milestone?(name: string): number | undefined;
  extensions?: Extension[];
}
