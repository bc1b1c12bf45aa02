// The stack, as the engine writes it, and what its lines mean.

import { MAX_FRAMES } from './constants.ts';
import {
  apply,
  defineProperty,
  deleteProperty,
  Error,
  exec,
  getOwnPropertyDescriptor,
  set,
  slice,
} from './intrinsics.ts';

/** What was changed, last first, and the properties before. */
let changes: { key: string; before: PropertyDescriptor | undefined; earlier: typeof changes } | undefined;

/** Changes a property of the page's `Error`, without calling accessors of the page. */
function change(key: string, value: unknown): void {
  const before = getOwnPropertyDescriptor(Error, key);
  // WebKit notices assignments only.
  const isChanged =
    !before || before.writable
      ? set(Error, key, value)
      : defineProperty(Error, key, { __proto__: null, value } as PropertyDescriptor);
  if (isChanged) changes = { key, before, earlier: changes };
}

/**
 * Gives `Error` the properties that the page set. Also done when a job ends: at the end of the stack, it may have
 * failed.
 */
export function restoreError(): void {
  while (changes) {
    const { key, before, earlier } = changes;
    if (!before) deleteProperty(Error, key);
    else if (before.writable) set(Error, key, before.value);
    else defineProperty(Error, key, before);
    changes = earlier;
  }
}

// Firefox has an accessor, which a page can replace.
const stackGetter = getOwnPropertyDescriptor(Error.prototype, 'stack')?.get;

/**
 * The stack: a line for each frame, innermost first, with those of the runtime. V8 has a line with the name of the
 * error before them.
 */
export function captureStack(): string {
  try {
    change('stackTraceLimit', MAX_FRAMES);
    // V8 calls it to make the text, even if it is inherited.
    if ('prepareStackTrace' in Error) change('prepareStackTrace', undefined);
    const error = new Error();
    return `${stackGetter ? apply(stackGetter, error, []) : error.stack}`;
  } finally {
    restoreError();
  }
}

/** In V8, WebKit and Firefox, the first line of an awaiting caller, which is not running. */
const AWAITING = /^ +at async |^async |^\w[^@/(]*\*/;

/** Eval code and native functions have no such location in any engine. */
const LOCATION = /([a-z][\w.+-]*:\/\/\S*?):(\d+):(\d+)\)?$/im;

const NAME = /^(?: +at )?(.*?)[ (@]*$/;

/** A line of a stack. */
export interface Line {
  name: string;
  url: string;
  line: number;
  column: number;
}

/**
 * Returns `null` for the first line that does not belong to the running stack, and `undefined` for code without a
 * location.
 */
export function parseLine(text: string): Line | null | undefined {
  if (apply(exec, AWAITING, [text])) return null;
  const location = apply(exec, LOCATION, [text]);
  if (!location) return undefined;
  const name = apply(exec, NAME, [apply(slice, text, [0, location.index])]);
  return { name: name?.[1] ?? '', url: location[1], line: +location[2], column: +location[3] };
}
