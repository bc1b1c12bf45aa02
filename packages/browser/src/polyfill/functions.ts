// The table of functions that `selfprof instrument` writes: which function is at a position of an instrumented file.

import { TABLE_TIMEOUT } from './constants.ts';
import { AbortSignal, apply, dictionary, exec, fetch, min, URL } from './intrinsics.ts';
import { captureStack, type Line, parseLine } from './stack-text.ts';

/**
 * The name, line and column in the file as it was; start and end in the instrumented text; the index of the function
 * around it, or -1. With `--mode trace`, the first function of a file also has its number; the others follow.
 */
export type FunctionEntry = [
  name: string,
  line: number,
  column: number,
  startLine: number,
  startColumn: number,
  endLine: number,
  endColumn: number,
  parent: number,
  id?: number,
];

/** The functions of a file, sorted by their starts. */
interface FileFunctions extends Array<FunctionEntry> {
  /** Where the file is as it was, if it is served, too. */
  url?: string;
}

/** By the URL of the instrumented file. */
export type Functions = Record<string, FileFunctions | undefined>;

/** The URL of this script. */
export const ownUrl = parseLine(captureStack())?.url;

let loading: Promise<Functions> | undefined;
/** The URL of the table. */
let base: URL | undefined;
let hasWarned = false;

/** The table, or `undefined` if it cannot be loaded now. */
export async function loadFunctions(): Promise<Functions | undefined> {
  loading ??= load();
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    if (!hasWarned) console.warn(`Profiler: no table of functions. Is ${base} served?`, error);
    hasWarned = true;
  }
}

async function load(): Promise<Functions> {
  base = new URL('SELFPROF_FUNCTIONS', ownUrl);
  // Chromium 103, Firefox 100 and Safari 16 have it.
  const response = await fetch(base, { signal: AbortSignal.timeout?.(TABLE_TIMEOUT) });
  const { version, files } = await response.json();
  if (version !== 1) throw version;
  const table = dictionary<FileFunctions>();
  for (const path in files) {
    const { functions, plain } = files[path];
    table[new URL(path, base).href] = functions;
    if (plain) functions.url = new URL(plain, base).href;
  }
  return table;
}

/**
 * The function that contains a position, if the code there was instrumented. The line gets the URL of the file as it
 * was.
 */
export function functionAt(table: Functions, at: Line): FunctionEntry | undefined {
  const file = (apply(exec, /^[^?#]*/, [at.url]) as RegExpExecArray)[0];
  const functions = table[file] ?? table[`${file}index.html`];
  if (!functions) return undefined;
  at.url = functions.url ?? at.url;
  const position = positionOf(at.line, at.column);
  let low = 0;
  let high = functions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positionOf(functions[middle][3], functions[middle][4]) > position) high = middle;
    else low = middle + 1;
  }
  let index = low - 1;
  // Parents come first.
  while (functions[index] && positionOf(functions[index][5], functions[index][6]) <= position)
    index = min(functions[index][7], index - 1);
  return functions[index];
}

/** Files are smaller than 2^28 bytes. */
const positionOf = (line: number, column: number) => line * 2 ** 28 + column;
