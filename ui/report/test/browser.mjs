// Opens reports in headless Chromium. SELFPROF_TEST_CHROMIUM and SELFPROF_TEST_CLI are the paths of the two programs.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import puppeteer from 'puppeteer-core';

const { SELFPROF_TEST_CHROMIUM: chromium, SELFPROF_TEST_CLI: cli } = process.env;

const checkout = path.join(import.meta.dirname, '..', '..', '..');
export const packageFolder = path.join(checkout, 'packages', 'selfprof');

/** A real trace from Chromium. */
export const FIXTURE = path.join(checkout, 'crates/formats/fixtures/w3c/chromium-156-markers-isolated.json');

/** In milliseconds. Chromium is slow to start on a busy machine. */
const TIMEOUT = 120_000;

/** Starts a browser and creates a temporary folder. Both are gone when the test ends. */
export async function start(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-report-'));
  const browser = await launch();
  t.after(async () => {
    await browser.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return { browser, folder };
}

export async function launch() {
  // Chromium's sandbox does not work in most containers. Only our own pages are opened.
  const args = ['--no-sandbox'];
  // In the POSIX locale, the language of chrome-headless-shell is a tag that `Intl` rejects.
  const env = { ...process.env, LC_ALL: 'en_US.UTF-8' };
  return await puppeteer.launch({ executablePath: chromium, headless: true, args, env, timeout: TIMEOUT });
}

/** Runs `selfprof report` on traces, by file name, and returns the path of the report. */
export function makeReport(folder, traces, ...options) {
  const files = Object.entries(traces).map(([name, trace]) => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, typeof trace === 'string' ? trace : JSON.stringify(trace));
    return file;
  });
  const output = path.join(folder, 'report.html');
  execFileSync(cli, ['report', ...files, '-o', output, ...options], {
    env: { ...process.env, SELFPROF_NPM: packageFolder },
    stdio: 'pipe',
  });
  return output;
}

/**
 * Opens a report and waits until it is interactive. `faults` collects errors, dialogs and network requests of the page.
 * `first` is a function that runs in the page before the page's own scripts.
 */
export async function open(
  browser,
  file,
  { width = 1200, height = 800, scheme = 'light', isPhone = false, first } = {},
) {
  const page = await browser.newPage();
  page.setDefaultTimeout(TIMEOUT);
  if (first !== undefined) await page.evaluateOnNewDocument(first);
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('file:') && !request.url().startsWith('data:'))
      faults.push(`request: ${request.url()}`);
  });
  await page.setViewport({
    width,
    height,
    ...(isPhone ? { deviceScaleFactor: 2, isMobile: true, hasTouch: true } : {}),
  });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(
    () => performance.getEntriesByName('selfprof-interactive').length > 0 || document.querySelector('.error'),
  );
  return { page, faults };
}

/** A trace in the W3C shape with a sample each millisecond, from lines `outer;inner@marker`. */
export function trace(lines, { resource = 'https://a.test/app.js', start = 100 } = {}) {
  const frames = [];
  const stacks = [];
  const frameOf = (name) => {
    const known = frames.findIndex((frame) => frame.name === name);
    return known === -1 ? frames.push({ name, resourceId: 0, line: frames.length + 1, column: 3 }) - 1 : known;
  };
  const stackOf = (names) => {
    let parentId;
    for (const name of names) {
      const frameId = frameOf(name);
      const known = stacks.findIndex((stack) => stack.frameId === frameId && stack.parentId === parentId);
      parentId = known === -1 ? stacks.push({ frameId, ...(parentId === undefined ? {} : { parentId }) }) - 1 : known;
    }
    return parentId;
  };
  const samples = lines.map((line, index) => {
    const [names, marker] = line.split('@');
    const stackId = names === '' ? undefined : stackOf(names.split(';'));
    return { timestamp: start + index, ...(stackId === undefined ? {} : { stackId }), ...(marker ? { marker } : {}) };
  });
  return { resources: [resource], frames, stacks, samples };
}

/** A file with several threads: pairs of a description and a trace. */
export function threads([first, ...others]) {
  const described = ([thread, of]) => ({ ...of, thread });
  return { ...described(first), threads: others.map(described) };
}

export function topJson(folder, name) {
  return JSON.parse(
    execFileSync(cli, ['top', '--json', '--top', '1000', path.join(folder, name)], { encoding: 'utf8' }),
  );
}

/** 60 ms: `main` calls `work`, which calls `sum`; after a garbage collection `main` calls `draw`; then idle time. */
export const SIMPLE = trace([
  ...Array(20).fill('main;work;sum@script'),
  ...Array(5).fill('main;work@script'),
  ...Array(5).fill('main;work@gc'),
  ...Array(20).fill('main;draw@style'),
  ...Array(10).fill(''),
]);
SIMPLE.entries = [
  { entryType: 'mark', name: 'ready', startTime: 105, duration: 0 },
  { entryType: 'measure', name: 'render', startTime: 110, duration: 25 },
];

/** The tabs of a report of two traces. */
export const TABS = ['Time order', 'Left heavy', 'Functions', 'Packages', 'Callers and callees', 'Diff'];

export async function textOf(page, selector) {
  return await page.$eval(selector, (node) => node.textContent);
}

export async function textsOf(page, selector) {
  return await page.$$eval(selector, (all) => all.map((node) => node.textContent));
}

/** The texts of the function table, by row and column. */
export async function tableRows(page) {
  return await page.$$eval('.rows .row', (all) =>
    all
      .filter((row) => row.closest('[hidden]') === null)
      .map((row) => [...row.querySelectorAll('.cell')].map((cell) => cell.textContent)),
  );
}

export async function showTab(page, title) {
  await page.evaluate(
    (wanted) => [...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === wanted).click(),
    title,
  );
}

/**
 * Waits until what was drawn last is on the screen: the flame graphs draw in the next frame, resized ones in the one
 * after.
 */
export async function nextFrames(page) {
  await page.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      ),
  );
}
