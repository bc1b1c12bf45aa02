// What `selfprof instrument --json` prints, as far as it is used here.

export interface Size {
  plain: number;
  instrumented: number;
}

/** A page that loads scripts which are instrumented. Offsets count bytes. */
export interface Page {
  /** From the folder of the build. */
  path: string;
  /** Where a script goes that is to run first. */
  head: number;
  /** The nonce that its scripts have. */
  nonce: string | null;
  /** The URL of the runtime, as in the page. */
  runtime: string;
  /** The elements that load such scripts, in their order, and what loads the instrumented ones. */
  scripts: { start: number; end: number; instrumented: string }[];
}

export interface Summary {
  scripts: number;
  inlineScripts: number;
  bytes: Size;
  gzipBytes: Size;
  pages: Page[];
  /** The patterns of `functions` that match no function. */
  unmatchedFunctions: string[];
}
