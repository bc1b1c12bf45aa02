'use strict';

// The host's modules as one page thread has loaded them, kept for threads that start later: finding, reading and compiling jsdom's modules
// takes more than half of the time in which a page opens. The first page thread that is closed while idle provides them.

const { clearTimeout, setTimeout } = require('node:timers');

/** @typedef {import('../any-realm/packed-modules.cjs').PackedModules} PackedModules */

/** @type {PackedModules | undefined} */
let loaded;
let isRequested = false;

/** How long a thread may take to answer, in milliseconds. A thread that is too busy to answer is terminated without it. */
const TIMEOUT = 500;

/**
 * Requests the modules of a thread, unless they are here or on their way.
 *
 * @param {() => { answer: Promise<{ modules?: PackedModules }>, forget: () => void }} request
 */
async function takeFrom(request) {
  if (loaded !== undefined || isRequested) return;
  isRequested = true;
  const { answer, forget } = request();
  const timer = setTimeout(forget, TIMEOUT).unref();
  try {
    loaded = (await answer).modules;
  } catch {
    // Another thread may provide them.
  } finally {
    clearTimeout(timer);
    isRequested = false;
  }
}

module.exports = { current: () => loaded, takeFrom };
