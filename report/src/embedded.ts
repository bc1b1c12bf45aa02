// What `selfprof report` writes into the page. crates/cli/src/report/embedded.rs is the other side.

/** The version of this shape; a page shows those of its own version alone. */
export const VERSION = 1;

/** Times are in milliseconds, ids are indices, and -1 stands for none. */
export interface Embedded {
  version: number;
  /** The program that wrote it, with its version. */
  generator: string;
  traces: EmbeddedTrace[];
  /** What `selfprof diff` says of the first two. */
  comparison: Comparison | null;
}

/** Functions, those that changed most first. Shares are of the samples at which anything ran, from 0 to 1. */
export interface Comparison {
  /** Frames of the first trace and of the second, or -1. */
  base: number[];
  new: number[];
  baseShare: number[];
  newShare: number[];
  /** Whether the change is more than chance. */
  isSignificant: number[];
}

export interface EmbeddedTrace {
  /** The name of its file. */
  name: string;
  /** The typical time between samples; null when there are too few. */
  interval: number | null;
  /** What was wrong with the file, and how many frames were mapped to their sources. */
  notes: string[];
  names: string[];
  resources: string[];
  /** Columns of equal length. Lines and columns count from 1, 0 stands for none. */
  frames: { name: number[]; resource: number[]; line: number[]; column: number[] };
  /** A stack's parent comes before it. */
  stacks: { frame: number[]; parent: number[] };
  /** A sample stands for the `weight` that ends at its `time`. Markers are indices into `markers`. */
  samples: { time: number[]; weight: number[]; stack: number[]; marker: number[] };
  markers: string[];
  /** Marks have no duration. */
  entries: { names: string[]; name: number[]; isMeasure: number[]; start: number[]; duration: number[] };
  /** Source text around functions, by frame. */
  snippets: Record<string, Snippet>;
}

export interface Snippet {
  /** The number of the first line, from 1. */
  first: number;
  lines: string[];
}

/** Reads what is in the page: base64 of gzip of JSON, so that nothing in it can be taken for markup. */
export async function readEmbedded(text: string): Promise<Embedded> {
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const embedded = (await new Response(stream).json()) as Embedded;
  if (embedded.version !== VERSION) throw new Error(`the data is of version ${embedded.version}, and this page reads version ${VERSION}`);
  return embedded;
}
