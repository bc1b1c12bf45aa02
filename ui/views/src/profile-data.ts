// The data that pages receive: a trace as columns of numbers, and the comparison of two.
// Times are in milliseconds unless stated otherwise, ids are indices, and -1 means "none".

export interface ProfileData {
  /** The name of its file. */
  name: string;
  /** Problems in the file, and other remarks. */
  notes: string[];
  names: string[];
  resources: string[];
  /** Columns of equal length. Lines and columns count from 1; 0 means "none". */
  frames: { name: number[]; resource: number[]; line: number[]; column: number[] };
  /** Names for anonymous functions, inferred from their source, by frame. */
  inferredNames: Record<string, string>;
  /** A stack's parent precedes it. */
  stacks: { frame: number[]; parent: number[] };
  /** By stack: the stack in which functions of Node.js's own scripts are folded; undefined if there are none. */
  foldedStacks?: number[];
  markers: string[];
  /** The names and values of each set of labels; undefined if no sample has labels. */
  labelSets?: [string, string][][];
  /** Source text around functions, by frame. */
  snippets: Record<string, Snippet>;
  /** All threads have the same time origin, and share the tables above. */
  threads: ThreadData[];
}

export interface ThreadData {
  name: string;
  /** `label` is the program's name and the process id. */
  process: { pid: number; tid: number; label: string; command: string } | null;
  /** The name of the thread's file, if the trace was read from several files. */
  file: string | null;
  /** The median time between samples; null when there are too few samples. */
  interval: number | null;
  /** Whether each sample stands for the time from one entry or exit of a function to the next; undefined if not. */
  hasCalls?: boolean;
  samples: SampleData;
  /** The samples from which on others have another set of labels, and these sets; undefined if none has labels. */
  labels?: { sample: number[]; set: number[] };
  /** Performance marks and measures. Marks have no duration. */
  entries: { names: string[]; name: number[]; isMeasure: number[]; start: number[]; duration: number[] };
}

/** Times are in microseconds. Markers are indices into the trace's `markers`. */
export interface SampleData {
  /** The time of the first sample. */
  start: number;
  /** The time since the previous sample, which is also the time that the sample stands for. */
  delta: number[];
  /** The samples that stand for another time, and these times. */
  weightOf: number[];
  weight: number[];
  /**
   * The first parts of samples that stand for two things, e.g. for waiting and then for work. Each part is a sample
   * here.
   */
  split: number[];
  stack: number[];
  marker: number[];
}

export interface Snippet {
  /** The number of the first line, from 1. */
  first: number;
  lines: string[];
}

/** One row per function, largest change first. Shares are fractions of the busy samples, from 0 to 1. */
export interface ComparisonData {
  /** The function's frame in the first trace and in the second, or -1. */
  base: number[];
  new: number[];
  baseShare: number[];
  newShare: number[];
  /** 1 when the change is statistically significant. */
  isSignificant: number[];
}
