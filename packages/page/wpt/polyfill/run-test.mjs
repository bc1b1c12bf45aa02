// Runs one test in a new page of a browser.

import { setTimeout as delay } from 'node:timers/promises';

import { takeNews } from '../take-news.mjs';

/** How long a test may exceed its time limit. Normally, testharness.js ends it first. */
const GRACE = 10_000;

/** How long the server and the browser may take until a page is loaded. */
const LOADING = 60_000;

/**
 * @param {{ newPage(): Promise<object> }} browser
 * @param {string} url
 * @param {number} limit the time limit of testharness.js, in milliseconds
 */
export async function runTest(browser, url, limit) {
  const started = performance.now();
  const notes = [];
  let subtests = [];
  const page = await browser.newPage();
  page.on('pageerror', (error) => notes.push(String(error).slice(0, 1_000)));
  const run = async () => {
    try {
      await page.goto(url, { timeout: LOADING });
      for (;;) {
        for (const message of JSON.parse(await page.evaluate(takeNews))) {
          if (message.type === 'subtest') subtests.push(message);
          if (message.type !== 'complete') continue;
          ({ subtests } = message);
          return { status: message.status, message: message.message };
        }
      }
    } catch (error) {
      return { status: 'ERROR', message: error.message };
    }
  };
  const late = delay(limit + GRACE + LOADING, { status: 'TIMEOUT', message: null }, { ref: false });
  const outcome = await Promise.race([run(), late]);
  await page.close().catch(() => {});
  return { ...outcome, subtests, notes, duration: Math.round(performance.now() - started) };
}
