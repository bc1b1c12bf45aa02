// A Vite app with the plugin and the agent, in Chromium with its own Profiler, in Chromium without the header, in
// Firefox and in WebKit: all profiles name the same functions. With SELFPROF_TEST_COLLECTOR, the path of the collector,
// they are sent to it, and its answers and its page show one row for each function. The browsers are as in
// browser.test.mjs.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import selfprof from '@selfprof/instrument/vite';
import puppeteer from 'puppeteer-core';
import { build } from 'vite';

import { launchWebKit } from '../../../fixtures/webkit/webkit.mjs';
import { listen } from './local-server.mjs';
import { temporaryFolder, write } from './package-folder.mjs';

const {
  SELFPROF_TEST_CHROMIUM: chromium,
  SELFPROF_TEST_FIREFOX: firefox,
  SELFPROF_TEST_WEBKIT: webkit,
  SELFPROF_TEST_COLLECTOR: collectorProgram,
  SELFPROF_TEST_SCREENSHOT: screenshot,
} = process.env;

/** In milliseconds. Browsers are slow to start on a busy machine. */
const TIMEOUT = 60_000;

/** How long each function works in a job, in milliseconds. */
const WORK = { sortPrices: 25, formatRows: 15, parseOrders: 10 };
const JOBS = 30;

/** What tells them in the minified script. */
const CALLS = { sortPrices: '.sort(', formatRows: '.padStart(', parseOrders: 'JSON.parse(' };

/**
 * A share of the time may differ by this much between browsers: a profile has some 150 samples, and the machine may be
 * busy.
 */
const TOLERANCE = 0.12;

const SOURCES = {
  'index.html': `<!doctype html><html lang="en"><head><title>shop</title><link rel="icon" href="data:,"></head>
    <body><script type="module" src="/main.js"></script></body></html>`,
  'main.js': `import { init } from '@selfprof/browser';
    import { formatRows, parseOrders, sortPrices } from './work.js';
    const { searchParams } = new URL(location.href);
    const options = { url: searchParams.get('to'), app: 'shop', release: '1.0', environment: searchParams.get('as') };
    globalThis.agent = init(options);
    globalThis.job = () => sortPrices(${WORK.sortPrices}) + formatRows(${WORK.formatRows}) + parseOrders(${WORK.parseOrders});`,
  'work.js': `const prices = Array.from({ length: 400 }, (_, index) => (index * 7919) % 1009);
    export function sortPrices(ms) {
      let sum = 0;
      for (const end = performance.now() + ms; performance.now() < end; ) sum += [...prices].sort((a, b) => a - b)[1];
      return sum;
    }
    export function formatRows(ms) {
      let length = 0;
      for (const end = performance.now() + ms; performance.now() < end; )
        for (const price of prices) length += String(price).padStart(8, ' ').length;
      return length;
    }
    export function parseOrders(ms) {
      let count = 0;
      const text = JSON.stringify(prices);
      for (const end = performance.now() + ms; performance.now() < end; ) count += JSON.parse(text).length;
      return count;
    }`,
};

const VARIANTS = [
  { name: 'native', browser: 'chrome', isThere: chromium, hasHeader: true, coverage: 'native' },
  { name: 'chromium', browser: 'chrome', isThere: chromium, coverage: 'polyfill' },
  { name: 'firefox', browser: 'firefox', isThere: firefox, coverage: 'polyfill' },
  { name: 'webkit', browser: 'webkit', isThere: webkit, coverage: 'polyfill' },
].filter(({ isThere }) => isThere);

async function until(isSo) {
  for (const end = Date.now() + TIMEOUT; ; await sleep(100)) {
    const value = await isSo();
    if (value) return value;
    if (Date.now() > end) throw new Error(`this did not happen: ${isSo}`);
  }
}

/** Builds the app, and serves it: with the header to those who ask for it. */
async function startApp(t) {
  const folder = temporaryFolder(t);
  write(folder, SOURCES);
  fs.symlinkSync(path.join(import.meta.dirname, '..', '..', '..', 'node_modules'), path.join(folder, 'node_modules'));
  const plugins = [selfprof({ sampleRate: 1, app: 'shop' })];
  await build({ root: folder, configFile: false, logLevel: 'error', build: { sourcemap: true }, plugins });
  const dist = path.join(folder, 'dist');
  const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.json': 'application/json' };
  const url = await listen(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const file = path.join(dist, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    if (!fs.existsSync(file)) return response.writeHead(404).end();
    const headers = searchParams.get('as') === 'native' ? { 'document-policy': 'js-profiling' } : {};
    response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'text/plain', ...headers });
    response.end(fs.readFileSync(file));
  });
  return { url, dist };
}

async function launch(t, browser) {
  const opened =
    browser === 'webkit'
      ? await launchWebKit(TIMEOUT)
      : await puppeteer.launch({
          browser,
          executablePath: browser === 'firefox' ? firefox : chromium,
          headless: true,
          // Chromium's sandbox does not work in most containers. Only our own pages are opened.
          args: browser === 'firefox' ? [] : ['--no-sandbox'],
          timeout: TIMEOUT,
          protocolTimeout: TIMEOUT,
        });
  t.after(() => opened.close());
  return opened;
}

/** Visits the app in all browsers, one after the other. `arrived` waits for the profiles of a variant. */
async function visitAll(t, app, receiver, arrived) {
  for (const { name, browser } of VARIANTS) {
    const opened = await launch(t, browser);
    const page = await opened.newPage();
    await page.goto(`${app}?${new URLSearchParams({ as: name, to: `${receiver}v1/profiles` })}`);
    await page.evaluate(async (jobs) => {
      while (!globalThis.job) await new Promise((resolve) => setTimeout(resolve, 20));
      for (let count = 0; count < jobs; count++) {
        job();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      agent.flush();
    }, JOBS);
    await arrived(name);
    await page.close();
  }
}

/** The shares of the functions in the samples with a stack, with their callees, by name and place. */
function sharesOf(uploads) {
  const counts = new Map();
  let total = 0;
  for (const { trace } of uploads) {
    for (const { stackId } of trace.samples) {
      if (stackId === undefined) continue;
      total++;
      const seen = new Set();
      for (let id = stackId; id !== undefined; id = trace.stacks[id].parentId) {
        const { name, resourceId, line, column } = trace.frames[trace.stacks[id].frameId];
        seen.add(`${name} ${trace.resources[resourceId]}:${line}:${column}`);
      }
      for (const key of seen) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return new Map([...counts].map(([key, count]) => [key, count / total]));
}

/** The hottest functions first. */
const hottest = (shares) => [...shares].sort((one, other) => other[1] - one[1]);

test('all browsers name the same hot functions', { timeout: 10 * TIMEOUT }, async (t) => {
  const app = await startApp(t);
  const uploads = [];
  const receiver = await listen(t, async (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const text = (body[0] === 0x1f ? gunzipSync(body) : body).toString();
    if (text) uploads.push(...text.split('\n').map((line) => JSON.parse(line)));
    response.writeHead(202).end('{}');
  });
  const of = (name) => uploads.filter(({ environment }) => environment === name);
  await visitAll(t, app.url, receiver, (name) => until(() => of(name).some(({ trace }) => trace)));

  const assets = fs.readdirSync(path.join(app.dist, 'assets'));
  const script = assets.find((file) => file.endsWith('.js'));
  const [plain, instrumented] = ['assets', 'selfprof/assets'].map((folder) =>
    fs.readFileSync(path.join(app.dist, folder, script), 'utf8'),
  );
  const [reference] = VARIANTS.map(({ name }) => sharesOf(of(name).filter(({ trace }) => trace)));
  const lines = plain.split('\n');
  /** The text of a function of the app, from its parameters on. */
  const textOf = (key) => {
    const [, line, column] = /:(\d+):(\d+)$/.exec(key) ?? [];
    if (!key.includes(` ${app.url}assets/${script}:`)) return '';
    return lines[line - 1].slice(column - 1).split('}function ')[0];
  };
  const named = Object.keys(WORK).map((name) => {
    const found = hottest(reference).find(([key]) => textOf(key).includes(CALLS[name]));
    assert.ok(found, `${name}: ${JSON.stringify(hottest(reference))}`);
    return found[0];
  });
  assert.equal(new Set(named).size, named.length, JSON.stringify(named));
  const total = Object.values(WORK).reduce((sum, ms) => sum + ms, 0);
  const expected = Object.values(WORK).map((ms) => ms / total);
  for (const { name, coverage } of VARIANTS) {
    assert.deepEqual([...new Set(of(name).flatMap((upload) => upload.coverage ?? []))], [coverage], name);
    const shares = sharesOf(of(name).filter(({ trace }) => trace));
    for (const [index, key] of named.entries()) {
      const share = shares.get(key) ?? 0;
      assert.ok(
        Math.abs(share - expected[index]) <= TOLERANCE,
        `${name}: ${key} has ${share}: ${JSON.stringify(hottest(shares))}`,
      );
    }
  }

  // The agent has no checks.
  const marker = plain.indexOf('selfprof: leave alone');
  assert.ok(marker > 0 && instrumented.includes(plain.slice(marker - 1_000, marker + 400)));
});

async function startCollector(t) {
  const folder = temporaryFolder(t);
  const child = spawn(collectorProgram, ['serve', '--listen', '127.0.0.1:0', '--data', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [line] = await once(readline.createInterface(child.stdout), 'line');
  return `${/http:\/\/\S+/.exec(line)[0]}/`;
}

test('the collector shows the profiles of all browsers in the same rows', {
  skip: collectorProgram ? false : 'SELFPROF_TEST_COLLECTOR is not set',
  timeout: 10 * TIMEOUT,
}, async (t) => {
  const app = await startApp(t);
  const collector = await startCollector(t);
  const ask = async (question, parameters) => {
    const response = await fetch(
      `${collector}api/v1/${question}?${new URLSearchParams({ app: 'shop', ...parameters })}`,
    );
    assert.ok(response.ok, `${question}: ${response.status}`);
    return await response.json();
  };
  const of = (name) => ({ where: `environment = '${name}'` });
  await visitAll(t, app.url, collector, (name) => until(async () => (await ask('functions', of(name))).profiles > 0));

  // The maps of the plain output are for both.
  for (const file of fs.readdirSync(path.join(app.dist, 'assets')).filter((name) => name.endsWith('.map'))) {
    const parameters = new URLSearchParams({ app: 'shop', release: '1.0', script: file.replace(/\.map$/, '') });
    const body = fs.readFileSync(path.join(app.dist, 'assets', file));
    const response = await fetch(`${collector}api/v1/maps?${parameters}`, { method: 'POST', body });
    assert.ok(response.ok, await response.text());
  }
  const rowsOf = async (parameters) => {
    const { functions } = await ask('functions', parameters);
    return functions.filter(({ name }) => name in WORK);
  };
  const all = await rowsOf({});
  assert.deepEqual(all.map(({ name }) => name).sort(), Object.keys(WORK).sort(), 'each function has one row');
  for (const { name } of VARIANTS) {
    const rows = await rowsOf(of(name));
    const hot = rows.sort((one, other) => other.totalTime - one.totalTime).map((row) => row.name);
    assert.deepEqual(hot, Object.keys(WORK), name);
  }

  const browser = await launch(t, 'chrome');
  const page = await browser.newPage();
  await page.setViewport({ width: 1200, height: 800 });
  await page.goto(`${collector}?app=shop`);
  await page.waitForFunction(() => document.body.innerText.includes('sortPrices'), { timeout: TIMEOUT });
  const text = await page.evaluate(() => document.body.innerText);
  for (const name of Object.keys(WORK)) assert.equal(text.split(name).length, 2, `${name} in ${text}`);
  if (screenshot) await page.screenshot({ path: screenshot });
});
