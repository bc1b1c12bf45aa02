'use strict';

// Tells when a page has come to rest: nothing that it asked for is on its way, and its thread has next to nothing to do.

/** How often it is looked at, in milliseconds. */
const STEP = 50;
/** The part of the time that a page at rest may be busy, with animations or with polling. */
const BUSY = 0.2;

/** The time at which somebody looks, and the processor time that the thread had by then, in milliseconds. */
function look() {
  const { user, system } = process.threadCpuUsage();
  return { at: performance.now(), cpu: (user + system) / 1_000 };
}

/**
 * @param {number} quiet for how many milliseconds
 * @param {() => boolean} isLoading
 * @returns {Promise<void>}
 */
function stillness(quiet, isLoading) {
  return new Promise((resolve) => {
    let last = look();
    let since = last.at;
    const timer = setInterval(() => {
      const now = look();
      const isBusy = now.cpu - last.cpu > BUSY * (now.at - last.at);
      last = now;
      if (isLoading() || isBusy) {
        since = now.at;
      } else if (now.at - since >= quiet) {
        clearInterval(timer);
        resolve();
      }
    }, STEP);
  });
}

module.exports = { stillness };
