'use strict';

// Waits until a page is idle: no request of it is pending, and its thread has next to nothing to do.

const { clearInterval, setInterval } = require('node:timers');

/** How often the page is polled, in milliseconds. */
const INTERVAL_MS = 50;
/** The part of the time that an idle page may be busy, with animations or with polling. */
const BUSY = 0.2;

/** The time, and the processor time of the thread so far, in milliseconds. */
function readClocks() {
  const { user, system } = process.threadCpuUsage();
  return { at: performance.now(), cpu: (user + system) / 1_000 };
}

/**
 * @param {number} quiet for how many milliseconds the page has to be idle
 * @param {() => boolean} isLoading
 * @returns {Promise<void>}
 */
function waitForIdle(quiet, isLoading) {
  return new Promise((resolve) => {
    let last = readClocks();
    let since = last.at;
    const timer = setInterval(() => {
      const now = readClocks();
      const isBusy = now.cpu - last.cpu > BUSY * (now.at - last.at);
      last = now;
      if (isLoading() || isBusy) {
        since = now.at;
      } else if (now.at - since >= quiet) {
        clearInterval(timer);
        resolve();
      }
    }, INTERVAL_MS);
  });
}

module.exports = { waitForIdle };
