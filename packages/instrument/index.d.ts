// Options of the plugin, and what it does outside of bundlers.

import type { UnpluginInstance } from 'unplugin';

export interface Options {
  /**
   * The folder of the second output, inside of the first: `selfprof` by default, so that `dist/app.js` is instrumented
   * as `dist/selfprof/app.js`.
   */
  outDir?: string;
  /**
   * The part of the sessions that load the instrumented scripts, from 0 to 1; 0.1 by default. It is decided once for
   * each session, which is a tab. Decisions that were made already stay.
   */
  sampleRate?: number;
  /**
   * `'no-api'`, the default unless `mode` is `'trace'`: chosen sessions load the instrumented scripts only where the
   * browser has no `Profiler` of its own, or does not allow it on the page. `'always'`: wherever they were chosen.
   */
  when?: 'no-api' | 'always';
  /**
   * The name of the application that `@selfprof/browser` gets. With it, both choose the same sessions: the agent keeps
   * the choice that this plugin's pages have made, and respects Global Privacy Control.
   */
  app?: string;
  /**
   * Whether the pages of the first output choose. With `false` they stay byte for byte as they were, and a server
   * chooses which of the two outputs it sends. By default `true`.
   */
  html?: boolean;
  /**
   * Patterns of scripts to instrument, such as `assets/*.js`; all by default. Those without `/` are matched against
   * file names.
   */
  include?: string[];
  /** Patterns of scripts to leave out. */
  exclude?: string[];
  /**
   * What profilers of the second output record: `'sample'`, the default, the stack at regular times; `'trace'`, each
   * entry and exit of functions, for `new ProfilerPolyfill({ mode: 'trace', maxBufferSize })`. `@selfprof/browser`
   * sends samples only.
   */
  mode?: 'sample' | 'trace';
  /**
   * With `mode: 'trace'`, patterns of the names of functions to trace, such as `parse*`; all by default. `(anonymous)`
   * stands for functions without a name. Patterns that match no function are named on the console.
   */
  functions?: string[];
  /**
   * Without `mode: 'trace'`: functions with fewer statements are left out, unless they have a loop, an await or a slow
   * call; 4 by default.
   */
  minStatements?: number;
  /** Whether the second output has source maps, composed with those of the first; `false` by default. */
  sourceMap?: boolean;
}

/** What was instrumented. */
export interface Result {
  /** The folder of the second output. */
  folder: string;
  /** How many script files are instrumented. */
  scripts: number;
  /** How many scripts inside of pages are instrumented. */
  inlineScripts: number;
  /** Bytes of what is instrumented, plain and instrumented, and the same gzipped. */
  bytes: { plain: number; instrumented: number };
  gzipBytes: { plain: number; instrumented: number };
  /** The pages that choose, by their paths in the folder. */
  choosingPages: string[];
}

/**
 * Instruments what a build has written to a folder, for build tools without a plugin. `undefined` if there is no
 * program for this platform, which is said on the console.
 *
 * @throws {TypeError} if there is an option that does not exist
 * @throws {Error} if the program fails, with its message
 */
export function instrumentFolder(folder: string, options?: Options): Promise<Result | undefined>;

/** The plugin for all bundlers. */
declare const plugin: UnpluginInstance<Options | undefined, false>;
export default plugin;
