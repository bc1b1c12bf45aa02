// The browsers that the instrumented tests run in. They take the certificate that is made for the run.

import puppeteer from 'puppeteer-core';

import { launchWebKit } from '../../../fixtures/webkit/webkit.mjs';

/** In milliseconds. Browsers are slow to start on a busy machine. */
const TIMEOUT = 120_000;

/**
 * Chromium's own Profiler is removed, so that `Profiler` is the polyfill.
 *
 * @param {{ name: 'chromium' | 'firefox' | 'webkit', program: string }} browser
 * @returns {Promise<{ newPage(): Promise<object>, close(): Promise<void> }>}
 */
export async function launch({ name, program }) {
  if (name === 'webkit')
    return await launchWebKit(TIMEOUT, { driver: program, capabilities: { acceptInsecureCerts: true } });
  const isFirefox = name === 'firefox';
  const browser = await puppeteer.launch({
    browser: isFirefox ? 'firefox' : 'chrome',
    executablePath: program,
    headless: true,
    // Chromium's sandbox does not work in most containers. Only the tests are opened.
    args: isFirefox ? [] : ['--no-sandbox'],
    acceptInsecureCerts: true,
    timeout: TIMEOUT,
    protocolTimeout: TIMEOUT,
  });
  const newPage = async () => {
    const page = await browser.newPage();
    if (!isFirefox) await page.evaluateOnNewDocument(() => delete globalThis.Profiler);
    return page;
  };
  return { newPage, close: () => browser.close() };
}
