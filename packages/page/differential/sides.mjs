// The two sides that are compared: Chromium, and the page host. Each opens a document and calls functions in it.

import { createRequire } from 'node:module';
import path from 'node:path';

/** How long a file of probes may take, in milliseconds. */
const LIMIT = 120_000;

/** @typedef {{ call(method: string, ...parameters: string[]): Promise<unknown>, close(): Promise<void> }} Page */
/** @typedef {{ version: string, open(url: string): Promise<Page>, close(): Promise<void> }} Side */

/** In the page: calls `probing`, once the modules of probes have run. */
async function callProbing(method, ...parameters) {
  while (globalThis.probing === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  return await globalThis.probing[method](...parameters);
}

/** @param {string} executable @returns {Promise<Side>} */
export async function openChromium(executable) {
  // The test of the report's page uses the same package.
  const require = createRequire(path.join(import.meta.dirname, '../../../ui/report/package.json'));
  const { default: puppeteer } = await import(require.resolve('puppeteer-core'));
  const browser = await puppeteer.launch({
    executablePath: executable,
    headless: true,
    // Chromium's sandbox does not work in most containers. Only our own pages are opened.
    args: ['--no-sandbox'],
    // In the POSIX locale, the language of chrome-headless-shell is a tag that `Intl` rejects.
    env: { ...process.env, LC_ALL: 'en_US.UTF-8' },
    timeout: LIMIT,
    protocolTimeout: LIMIT,
  });
  return {
    version: (await browser.version()).replace(/^.*\//, ''),
    async open(url) {
      const page = await browser.newPage();
      await page.goto(url);
      const call = (...parameters) => page.evaluate(callProbing, ...parameters);
      return { call, close: () => page.close() };
    },
    close: () => browser.close(),
  };
}

/**
 * @param {string} npm the folder of the package selfprof
 * @param {string} jsdom
 * @returns {Side}
 */
export function openHost(npm, jsdom) {
  const { PageHost } = createRequire(path.join(npm, 'package.json'))('@selfprof/page');
  const host = new PageHost({ jsdom, timeout: LIMIT });
  return {
    version: `Node ${process.versions.node}`,
    async open(url) {
      const page = await host.open(url);
      const call = (...parameters) => page.evaluate(callProbing, ...parameters);
      return { call, close: () => page.close() };
    },
    close: () => host.close(),
  };
}
