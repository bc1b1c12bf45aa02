// A Vite app in browsers: which sessions load the instrumented scripts, and what their profiles say.
// SELFPROF_TEST_CHROMIUM is the path of Chromium; SELFPROF_TEST_FIREFOX is that of Firefox, and SELFPROF_TEST_WEBKIT
// that of WebKitWebDriver, without which their tests are skipped.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { instrumentFolder } from '@selfprof/instrument';
import selfprof from '@selfprof/instrument/vite';
import puppeteer from 'puppeteer-core';
import { build } from 'vite';

import { launchWebKit } from '../../../fixtures/webkit/webkit.mjs';
import { serveFolder } from './local-server.mjs';
import { temporaryFolder, write } from './package-folder.mjs';

const { SELFPROF_TEST_CHROMIUM: chromium, SELFPROF_TEST_FIREFOX: firefox, SELFPROF_TEST_WEBKIT: webkit } = process.env;

/** In milliseconds. Browsers are slow to start on a busy machine. */
const TIMEOUT = 60_000;

const SOURCES = {
  'index.html': `<!doctype html><html lang="en"><head><title>shop</title></head>
    <body><script>function inline() {}</script><script type="module" src="/main.js"></script></body></html>`,
  'main.js': `import { sortPrices } from './prices.js';
    export function busyWork(ms) {
      let sum = 0;
      for (const end = performance.now() + ms; performance.now() < end; ) sum += sortPrices(300);
      return sum;
    }
    globalThis.busyWork = busyWork;
    globalThis.lazily = () => import('./lazy.js');
    document.body.append('ready');`,
  'prices.js': `export function sortPrices(count) {
    const prices = [];
    for (let i = 0; i < count; i++) prices.push((i * 7919) % 1009);
    return prices.sort((a, b) => a - b)[1];
  }`,
  'lazy.js': `export const word = () => 'lazy';`,
};

/** Builds the app and serves it. Gives its URL, its folder, and which files were asked for. */
async function serve(t, options, headers = {}) {
  const folder = temporaryFolder(t);
  write(folder, SOURCES);
  await build({ root: folder, configFile: false, logLevel: 'error', plugins: [selfprof(options)] });
  const requests = [];
  const dist = path.join(folder, 'dist');
  return { url: await serveFolder(t, dist, headers, requests), dist, requests };
}

async function open(t, url, options) {
  const browser = options.isWebKit
    ? await launchWebKit(TIMEOUT)
    : await puppeteer.launch({ headless: true, timeout: TIMEOUT, protocolTimeout: TIMEOUT, ...options });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(url);
  await page.evaluate(async () => {
    while (!document.body.textContent.includes('ready')) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  return { page, faults };
}

// Chromium's sandbox does not work in most containers. Only our own pages are opened.
const inChromium = { executablePath: chromium, args: ['--no-sandbox'] };
const inFirefox = { browser: 'firefox', executablePath: firefox };
const inWebKit = { isWebKit: true };

/** The browsers that lack the API, and why a test is skipped. */
const WITHOUT_API = [
  ['Firefox', inFirefox, firefox ? false : 'SELFPROF_TEST_FIREFOX is not set'],
  ['WebKit', inWebKit, webkit ? false : 'SELFPROF_TEST_WEBKIT is not set'],
];

/** A profile of the app's functions. Chromium has a `Profiler` also where it is not allowed. */
const profile = () =>
  (async () => {
    const Class = globalThis.ProfilerPolyfill ?? Profiler;
    const profiler = new Class({ sampleInterval: 10, maxBufferSize: 1_000 });
    // A profile of several jobs, as of a page.
    for (let job = 0; job < 10; job++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      busyWork(50);
    }
    const lazy = (await lazily()).word();
    return { lazy, polyfilled: Class.polyfilled, trace: await profiler.stop() };
  })();

async function checkProfile(t, browser) {
  const site = await serve(t, { sampleRate: 1 });
  const { page, faults } = await open(t, site.url, browser);
  const { lazy, polyfilled, trace } = await page.evaluate(profile);
  assert.deepEqual([lazy, polyfilled, faults], ['lazy', true, []]);
  const app = fs.readdirSync(path.join(site.dist, 'assets')).find((file) => file.startsWith('index-'));
  const plain = fs.readFileSync(path.join(site.dist, 'assets', app), 'utf8').split('\n');
  // The names are minified; the places are those of the plain file.
  const functionsOf = ({ stackId }) => {
    const names = [];
    for (let id = stackId; id !== undefined; id = trace.stacks[id].parentId) {
      const { name, resourceId, line, column } = trace.frames[trace.stacks[id].frameId];
      assert.equal(trace.resources[resourceId], `${site.url}assets/${app}`);
      const text = plain[line - 1].slice(column - 1);
      names.push([name, text.slice(0, text.indexOf('{') + 1)]);
    }
    return names;
  };
  const stacks = trace.samples.filter((sample) => sample.stackId !== undefined).map(functionsOf);
  assert.ok(stacks.length > 20, `${stacks.length} of ${trace.samples.length} samples have a stack`);
  const [busy, sort] = [/performance\.now\(\)/, /\.sort\(/].map((pattern) => {
    const found = plain.join('\n').match(new RegExp(`function (\\w+)(\\(\\w*\\)\\{)[^}]*?${pattern.source}`));
    assert.ok(found, `${pattern} in ${plain}`);
    return [found[1], found[2]];
  });
  const has = (stack, [name, text]) => stack.some((one) => one[0] === name && one[1] === text);
  const count = (one) => stacks.filter((stack) => has(stack, one)).length;
  assert.ok(count(busy) > 0.8 * stacks.length, `${busy}: ${JSON.stringify(stacks.slice(0, 9))}`);
  assert.ok(count(sort) > 0.5 * stacks.length, `${sort}: ${JSON.stringify(stacks.slice(0, 9))}`);
  assert.ok(!site.requests.includes('/assets/lazy.js'), 'chunks come from beside the entry');
}

test('a chosen session is profiled in Chromium without a policy', { timeout: 5 * TIMEOUT }, (t) =>
  checkProfile(t, inChromium),
);

for (const [name, browser, skip] of WITHOUT_API) {
  test(`a chosen session is profiled in ${name}`, { skip, timeout: 5 * TIMEOUT }, (t) => checkProfile(t, browser));
}

/** Each function says where it is. The table must say the same, whatever comes before it in its line. */
const INLINE = [
  '<!doctype html>\r\n<html lang="en"><head><title>é𝒳</title><script>globalThis.stacks = {}; function note(name) { stacks[name] = new Error().stack }</script>',
  '</head><body>𝒳é<script>function first(a) { for (const b of [1]) note("first"); return a } first();\r\n',
  '\tconst second = (a) => { while (a--) note("second") }; second(1);\r\n</script>\n<script>/**/ (function third() {',
  ' "é𝒳".split("").forEach(function fourth() { for (;;) return note("fourth") }) })();\n</script>',
  '<p onclick="note()">é</p><script type="module">\r\n\r\nconst fifth = async (a) => { await a; note("fifth") };\r\n',
  'await fifth(1); document.body.append("ready")</script></body></html>',
].join('');

async function checkInline(t, browser) {
  const folder = temporaryFolder(t);
  write(folder, { 'index.html': INLINE, 'app.js': 'app()' });
  const { folder: output, inlineScripts } = await instrumentFolder(folder, { minStatements: 0 });
  assert.equal(inlineScripts, 4);
  const { page, faults } = await open(t, await serveFolder(t, output), browser);
  const stacks = await page.evaluate(() => globalThis.stacks);
  assert.deepEqual([Object.keys(stacks), faults], [['first', 'second', 'fourth', 'fifth'], []]);
  const { files } = JSON.parse(fs.readFileSync(path.join(output, 'selfprof-functions.json'), 'utf8'));
  const functions = files['index.html'].functions;
  const isBefore = ([line, column], [otherLine, otherColumn]) =>
    line < otherLine || (line === otherLine && column <= otherColumn);
  const nameAt = (place) => {
    const around = functions.filter(
      ([, , , line, column, endLine, endColumn]) =>
        isBefore([line, column], place) && !isBefore([endLine, endColumn], place),
    );
    // The innermost one starts last.
    return around.at(-1)?.[0];
  };
  for (const [name, stack] of Object.entries(stacks)) {
    const places = [...stack.matchAll(/:(\d+):(\d+)\)?$/gm)].map(([, line, column]) => [Number(line), Number(column)]);
    assert.deepEqual(places.slice(0, 2).map(nameAt), ['note', name], stack);
  }
}

test('inline scripts are where the table says, in Chromium', { timeout: 5 * TIMEOUT }, (t) =>
  checkInline(t, inChromium),
);

for (const [name, browser, skip] of WITHOUT_API) {
  test(`inline scripts are where the table says, in ${name}`, { skip, timeout: 5 * TIMEOUT }, (t) =>
    checkInline(t, browser),
  );
}

test('other sessions load nothing of it', { timeout: 5 * TIMEOUT }, async (t) => {
  const site = await serve(t, { sampleRate: 0 });
  const { page, faults } = await open(t, site.url, inChromium);
  assert.deepEqual(faults, []);
  assert.equal(await page.evaluate(() => globalThis.ProfilerPolyfill === undefined && busyWork(10) > 0), true);
  assert.deepEqual(
    site.requests.filter((file) => file.startsWith('/selfprof')),
    [],
  );
});

test('Chromium profiles by itself where it may', { timeout: 5 * TIMEOUT }, async (t) => {
  const site = await serve(t, { sampleRate: 1 }, { 'document-policy': 'js-profiling' });
  const { page } = await open(t, site.url, inChromium);
  const { polyfilled, trace } = await page.evaluate(profile);
  assert.ok(!polyfilled && trace.samples.length > 0);
  assert.deepEqual(
    site.requests.filter((file) => file.startsWith('/selfprof')),
    [],
  );
});
