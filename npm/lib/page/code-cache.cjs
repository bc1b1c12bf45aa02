'use strict';

// What V8 made of the modules that every page thread loads, for the threads that come later: compiling jsdom takes more than
// a third of the time in which a page opens. The first page that is closed gives it, when it has nothing to lose by it.

/** @type {{ bytes: Uint8Array, index: Map<string, [from: number, to: number]> } | undefined} */
let held;
let isComing = false;

/** How long a page may take to give it, in milliseconds. One that is busy is ended without. */
const PATIENCE = 500;

/** @param {Map<string, Uint8Array>} pieces by name, as one piece of memory, which is quickly copied to a thread */
function pack(pieces) {
  let length = 0;
  const index = new Map();
  for (const [name, piece] of pieces) index.set(name, [length, (length += piece.byteLength)]);
  const bytes = new Uint8Array(length);
  for (const [name, piece] of pieces) bytes.set(piece, index.get(name)[0]);
  return { bytes, index };
}

/**
 * Has a thread give it, if it is still wanted.
 *
 * @param {() => { answer: Promise<{ code: object }>, forget: () => void }} ask
 */
async function takeFrom(ask) {
  if (held !== undefined || isComing) return;
  isComing = true;
  const { answer, forget } = ask();
  const timer = setTimeout(forget, PATIENCE);
  try {
    held = (await answer).code;
  } catch {
    // The next one may.
  } finally {
    clearTimeout(timer);
    isComing = false;
  }
}

module.exports = { current: () => held, pack, takeFrom };
