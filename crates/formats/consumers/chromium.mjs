// Runs Chromium for consumers that are web pages: one browser for all tests of a file.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';

import { require } from './conversion.mjs';

const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')));

const { SELFPROF_TEST_CHROMIUM: executablePath } = process.env;
assert(executablePath, '`cargo xtask test --only consumers` runs these tests');

// No timeout, because the machine may be busy. Node.js ends tests that hang.
const timeout = 0;

/** Media types of files that a page can only use with the right type. */
const TYPES = { '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.svg': 'image/svg+xml' };

let started;
after(async () => (await started)?.close());

/** Answers requests for an origin with the files of a folder. */
async function serve(page, { origin, folder }) {
  await page.setRequestInterception(true);
  page.on('request', async (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin) return request.continue();
    try {
      const body = await readFile(join(folder, decodeURIComponent(url.pathname)));
      return await request.respond({ body, contentType: TYPES[extname(url.pathname)] ?? 'application/octet-stream' });
    } catch (error) {
      return request.respond({ status: 404, body: String(error) });
    }
  });
}

/**
 * Opens a page, calls `use` with it, and closes it. Errors in the page fail the test.
 *
 * @param {string} url
 * @param {(page: object) => unknown} use
 * @param {{ first?: () => void, files?: { origin: string, folder: string } }} [options] `first` runs before the page's
 *   own scripts
 */
export async function inPage(url, use, { first, files } = {}) {
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
    if (files) await serve(page, files);
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
