// Which threads V8 samples. For each of them V8 starts a thread of its own, which takes the samples.

'use strict';

const { readdirSync, readFileSync } = require('node:fs');

/**
 * How often in a row no thread must be seen: V8's thread has no name at first, and a new profile may start another one.
 */
const QUIET = 5;
const PATIENCE = 10_000;

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

/** How many threads of this process V8 samples, as far as its threads have their names. */
function sampledThreads() {
  return readdirSync('/proc/self/task').filter((task) => {
    try {
      return readFileSync(`/proc/self/task/${task}/comm`, 'utf8').startsWith('v8:ProfEvntProc');
    } catch {
      return false; // It ended meanwhile.
    }
  }).length;
}

/**
 * Waits until V8 samples `count` threads.
 *
 * @returns {Promise<boolean>} false when it does not within ten seconds
 */
async function areSampled(count = 1) {
  for (const end = performance.now() + PATIENCE; sampledThreads() < count; await turn()) {
    if (performance.now() > end) return false;
  }
  return true;
}

/**
 * Waits until V8 samples no thread, and collects garbage meanwhile where the program may.
 *
 * @returns {Promise<boolean>} false when it still does after ten seconds
 */
async function untilNoneIsSampled() {
  const end = performance.now() + PATIENCE;
  for (let quiet = 0; quiet < QUIET; quiet = sampledThreads() > 0 ? 0 : quiet + 1) {
    if (performance.now() > end) return false;
    globalThis.gc?.();
    await turn();
  }
  return true;
}

module.exports = { areSampled, sampledThreads, untilNoneIsSampled };
