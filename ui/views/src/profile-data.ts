// The data that pages receive: one trace as columns of numbers, and the comparison of two.
// Times are in milliseconds, ids are indices, and -1 means "none".

export interface ProfileData {
  /** The name of its file. */
  name: string;
  /** The median time between samples; null when there are too few samples. */
  interval: number | null;
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
  /** A sample stands for the interval of length `weight` that ends at its `time`. Markers are indices into `markers`. */
  samples: { time: number[]; weight: number[]; stack: number[]; marker: number[] };
  markers: string[];
  /** Performance marks and measures. Marks have no duration. */
  entries: { names: string[]; name: number[]; isMeasure: number[]; start: number[]; duration: number[] };
  /** Source text around functions, by frame. */
  snippets: Record<string, Snippet>;
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
