// Runs Chromium for consumers that are web pages: one browser for all tests of a file.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';

import { require } from './conversion.mjs';

const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')));

const { SELFPROF_TEST_CHROMIUM: executablePath } = process.env;
assert(executablePath, '`cargo xtask test --only consumers` runs these tests');

// No timeout, because the machine may be busy. Node.js ends tests that hang.
const timeout = 0;

let started;
after(async () => (await started)?.close());

/** Opens a page, calls `use` with it, and closes it. `first` runs before the page's own scripts. Errors in the page fail the test. */
export async function inPage(url, use, first) {
  // Containers do not support the sandbox, and all pages are trusted.
  started ??= puppeteer.launch({
    executablePath,
    headless: true,
    timeout,
    protocolTimeout: timeout,
    args: ['--no-sandbox'],
  });
  const page = await (await started).newPage();
  const thrown = [];
  page.on('pageerror', (error) => thrown.push(String(error)));
  page.setDefaultTimeout(timeout);
  // High enough to show all rows of a table.
  await page.setViewport({ width: 1600, height: 4000 });
  try {
    if (first) await page.evaluateOnNewDocument(first);
    await page.goto(url);
    const result = await use(page);
    assert.deepEqual(thrown, []);
    return result;
  } catch (error) {
    throw thrown.length > 0 ? new Error(`the page threw: ${thrown.join('\n')}`, { cause: error }) : error;
  } finally {
    await page.close();
  }
}
