// Pages of a shop that send profiles, in headless Chromium. SELFPROF_TEST_CHROMIUM and SELFPROF_TEST_ESBUILD are the
// paths of the two programs.

import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { modules } from './collector.mjs';

const { SELFPROF_TEST_CHROMIUM: chromium, SELFPROF_TEST_ESBUILD: esbuild } = process.env;

const require = createRequire(path.join(modules, '..', 'package.json'));
const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')));

/** In milliseconds. Chromium is slow to start on a busy machine. */
export const TIMEOUT = 120_000;

/** A page that works for some time while its load is a transaction. */
const WITH_SENTRY = `
import * as Sentry from 'sentry';
const { options, dsn } = globalThis.settings;
Sentry.init({
  dsn, ...options, release: '1.4', environment: 'test',
  integrations: [Sentry.browserTracingIntegration(), Sentry.browserProfilingIntegration()],
});
function tokenize(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
if (options.profileLifecycle === 'manual') Sentry.uiProfiler.startProfiler();
setTimeout(() => {
  performance.mark('begin');
  tokenize(300);
  performance.measure('checkout', 'begin');
  Sentry.startSpan({ name: 'order', op: 'task' }, () => tokenize(100));
  if (options.profileLifecycle === 'manual') Sentry.uiProfiler.stopProfiler();
}, 50);
`;

/** The script of a page with @sentry/browser of a major. */
async function bundle(major) {
  const { build } = createRequire(import.meta.url)(path.resolve(esbuild));
  const { outputFiles } = await build({
    stdin: { contents: WITH_SENTRY, resolveDir: import.meta.dirname },
    alias: { sentry: path.join(modules, `sentry-${major}`) },
    bundle: true,
    format: 'iife',
    target: 'chrome120',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0].text;
}

/** Serves a page with @sentry/browser, and returns its URL. */
export async function serveSentryPage(t, { major, options }, dsn) {
  const settings = JSON.stringify({ options, dsn });
  const head = `<script>globalThis.settings = ${settings}</script><script src="/shop.js"></script>`;
  return await servePage(t, head, await bundle(major));
}

/** Serves a page of a shop, whose `/shop.js` is this script, and returns its URL. */
export async function servePage(t, head, script) {
  const server = http.createServer(({ url }, response) => {
    if (url === '/shop.js') return response.setHeader('content-type', 'text/javascript').end(script);
    response.setHeader('content-type', 'text/html').setHeader('document-policy', 'js-profiling');
    response.end(`<!doctype html><title>Shop</title>${head}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}/cart`;
}

/** A browser, which is closed when the test ends. */
export async function launch(t) {
  const browser = await puppeteer.launch({
    executablePath: chromium,
    headless: true,
    // Chromium's sandbox does not work in most containers. Only our own pages are opened.
    args: ['--no-sandbox'],
    env: { ...process.env, LC_ALL: 'en_US.UTF-8' },
    timeout: TIMEOUT,
  });
  t.after(() => browser.close());
  return browser;
}

/** A new page, and its errors and messages. */
export async function newPage(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(TIMEOUT);
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => faults.push(message.text()));
  return { page, faults };
}
