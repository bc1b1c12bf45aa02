// Runs the collector, and opens its page in headless Chromium. SELFPROF_TEST_CHROMIUM and SELFPROF_TEST_COLLECTOR are
// the paths of the two programs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import puppeteer from 'puppeteer-core';

const { SELFPROF_TEST_CHROMIUM: chromium, SELFPROF_TEST_COLLECTOR: program } = process.env;

export const shop = path.join(import.meta.dirname, '..', '..', '..', 'fixtures', 'shop');

/** In milliseconds. Chromium is slow to start on a busy machine. */
const TIMEOUT = 120_000;

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

/** Starts a collector without profiles, which is stopped when the test ends. `settings` is the text of its settings. */
export async function startCollector(t, settings) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-collector-'));
  const options = [];
  if (settings !== undefined) {
    fs.writeFileSync(path.join(folder, 'settings.toml'), settings);
    options.push('--config', path.join(folder, 'settings.toml'));
  }
  const server = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--data', path.join(folder, 'data'), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGTERM');
    await once(server, 'exit');
  };
  t.after(async () => {
    await stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const [line] = await once(readline.createInterface(server.stdout), 'line');
  const [url] = /http:\S+/.exec(line);
  return { url: `${url}/`, stop };
}

/** Sends lines of JSON, and waits until they can be asked for. */
export async function send(collector, app, body, headers = {}) {
  const { profiles: known } = await ask(collector, 'functions', { app });
  const response = await fetch(`${collector.url}v1/profiles?key=${collector.key ?? ''}`, {
    method: 'POST',
    body,
    headers,
  });
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
  const { accepted } = await response.json();
  for (;;) {
    const { profiles } = await ask(collector, 'functions', { app });
    if (profiles >= known + accepted) return;
    await sleep(200);
  }
}

/** The profiles of both releases of the shop, and their source maps. */
export async function sendShop(collector) {
  for (const release of ['1.3', '1.4']) {
    const body = fs.readFileSync(path.join(shop, 'profiles', `${release}.jsonl.gz`));
    await send(collector, 'shop', body, { 'content-encoding': 'gzip' });
  }
  await uploadMaps(collector);
}

/** The source maps of both releases of the shop. */
export async function uploadMaps(collector) {
  for (const release of ['1.3', '1.4']) {
    const map = fs.readFileSync(path.join(shop, 'releases', release, 'shop.js.map'));
    const parameters = new URLSearchParams({ app: 'shop', release, script: 'shop.js' });
    const headers = headersOf(collector);
    const response = await fetch(`${collector.url}api/v1/maps?${parameters}`, { method: 'POST', body: map, headers });
    if (!response.ok) throw new Error(await response.text());
  }
}

function headersOf({ token }) {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** What the collector answers. */
export async function ask(collector, question, parameters) {
  const url = `${collector.url}api/v1/${question}?${new URLSearchParams(parameters)}`;
  const response = await fetch(url, { headers: headersOf(collector) });
  return await response.json();
}

/** Opens the page, and waits until it shows something. `faults` collects errors, dialogs and requests to others. */
export async function open(
  browser,
  { url },
  query = '',
  { width = 1200, height = 800, scheme = 'light', isPhone = false } = {},
) {
  const page = await browser.newPage();
  page.setDefaultTimeout(TIMEOUT);
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    // Chromium reports each answer that is an error.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) faults.push(`request: ${request.url()}`);
  });
  await page.setViewport({
    width,
    height,
    ...(isPhone ? { deviceScaleFactor: 2, isMobile: true, hasTouch: true } : {}),
  });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const response = await page.goto(url + query);
  await settled(page);
  return { page, faults, response };
}

/** Waits until the page shows an answer, or what is shown in its place. */
export async function settled(page) {
  await page.waitForFunction(
    () =>
      document.querySelector('main:not([aria-busy]) .views > *') !== null &&
      document.querySelector('.views .progress') === null,
  );
}

export async function textOf(page, selector) {
  return await page.$eval(selector, (node) => node.textContent);
}

/** The texts of a table, by row and column. */
export async function rowsOf(page, row, cell) {
  return await page.$$eval(
    row,
    (all, selector) => all.map((one) => [...one.querySelectorAll(selector)].map((each) => each.textContent)),
    cell,
  );
}

/** Does something that makes the page ask the collector, and waits for the answer. */
export async function andSettled(page, act) {
  await act();
  await settled(page);
}
