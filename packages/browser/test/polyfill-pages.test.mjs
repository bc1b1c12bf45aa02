// The runtime in browsers: pages and workers that are instrumented as `selfprof instrument` does.
// SELFPROF_TEST_INSTRUMENT is the example of crates/instrument, SELFPROF_TEST_CHROMIUM and SELFPROF_TEST_FIREFOX are
// browsers, and SELFPROF_TEST_WEBKIT is WebKitWebDriver. Browsers without their variable are left out.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { before, describe, it } from 'node:test';

import puppeteer from 'puppeteer-core';

import { launchWebKit } from '../../../fixtures/webkit/webkit.mjs';
import { brief } from './polyfill.mjs';
import { functionsOf, SCRIPT, startReceiver, TIMEOUT, until } from './site.mjs';

const {
  SELFPROF_TEST_CHROMIUM: chromium,
  SELFPROF_TEST_FIREFOX: firefox,
  SELFPROF_TEST_WEBKIT: webkit,
  SELFPROF_TEST_INSTRUMENT: program,
} = process.env;

const TEMPLATE = fs.readFileSync(path.join(import.meta.dirname, '..', 'dist', 'polyfill.js'), 'utf8');

/** Jobs that say how long they have run: on a busy machine that is not what they were meant to. */
const APPLICATION = `
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const until = (ms, step) => {
  const end = performance.now() + ms;
  while (performance.now() < end) step();
};
function spinNumbers() { let sum = 0; for (let i = 0; i < 200; i++) sum += Math.sqrt(i); return sum }
function spinTexts() { let text = ''; for (let i = 0; i < 40; i++) text += String.fromCharCode(97 + (i % 26)); return text.split('a').length }
function forty() { until(40, spinNumbers) }
function thirty() { until(30, spinTexts) }
const twenty = () => { until(20, () => spinNumbers()) };
class Ten { run() { until(10, spinNumbers) } }
const times = { forty: 0, thirty: 0, twenty: 0, run: 0 };
function job() {
  const start = performance.now();
  forty();
  const afterForty = performance.now();
  thirty();
  const afterThirty = performance.now();
  twenty();
  const afterTwenty = performance.now();
  new Ten().run();
  const end = performance.now();
  times.forty += afterForty - start;
  times.thirty += afterThirty - afterForty;
  times.twenty += afterTwenty - afterThirty;
  times.run += end - afterTwenty;
}
async function waits() { await sleep(0); until(30, spinNumbers); await null; until(30, spinNumbers) }
async function shares(rounds) { for (let i = 0; i < rounds; i++) { job(); await sleep(0) } }
let busy = 0;
async function mostlyIdle(rounds) { busy = 0; for (let i = 0; i < rounds; i++) { busy -= performance.now(); forty(); busy += performance.now(); await sleep(60) } }
async function nested() { for (let i = 0; i < 10; i++) { [1, 2].forEach(function each() { thirty() }); await sleep(0) } }
async function waiting() { for (let i = 0; i < 10; i++) await waits() }
async function profiled(act, argument) {
  for (const name of Object.keys(times)) times[name] = 0;
  const created = performance.now();
  const profiler = new ProfilerPolyfill({ sampleInterval: 10, maxBufferSize: 100000 });
  const start = performance.now();
  await act(argument);
  const end = performance.now();
  const stopping = profiler.stop();
  const stopped = performance.now();
  return { trace: await stopping, ms: end - start, created, start, end, stopped, busy, times };
}
`;

const WORKER = `
importScripts('/selfprof-polyfill.js', '/app.js');
onmessage = async () => postMessage(await profiled(shares, 10));
`;

/** What `selfprof instrument` writes, by path: the runtime, the table, and the instrumented files. */
function instrumented(sources) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-instrument-'));
  try {
    const names = Object.keys(sources);
    for (const name of names) fs.writeFileSync(path.join(folder, name), sources[name]);
    const output = execFileSync(
      program,
      names.map((name) => path.join(folder, name)),
      { maxBuffer: 1 << 28 },
    );
    const built = JSON.parse(output);
    const words = ['ENTER', 'CHECK', 'LEAVE', 'NATIVE', 'SCAN', 'RESUME'].map((word) => `SELFPROF_${word}`);
    const runtime = TEMPLATE.replace(/\bSELFPROF_\w+/g, (word) =>
      word === 'SELFPROF_FUNCTIONS' ? 'selfprof-functions.json' : built.names[words.indexOf(word)],
    );
    const files = Object.fromEntries(names.map((name, index) => [name, { functions: built.files[index].functions }]));
    return {
      '/selfprof-polyfill.js': runtime,
      '/selfprof-functions.json': JSON.stringify({ version: 1, files }),
      ...Object.fromEntries(names.map((name, index) => [`/${name}`, built.files[index].text])),
    };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** For WebKit, whose exceptions WebDriver does not report. */
const NOTE_FAULTS = `<script>
  globalThis.faults = [];
  addEventListener('error', ({ message }) => faults.push(message));
  addEventListener('unhandledrejection', ({ reason }) => faults.push(String(reason)));
  for (const kind of ['error', 'warn']) console[kind] = (...values) => faults.push(values.join(' '));
</script>`;

async function launch(browserName) {
  if (browserName === 'webkit') return await launchWebKit(TIMEOUT);
  return await puppeteer.launch({
    browser: browserName,
    executablePath: browserName === 'firefox' ? firefox : chromium,
    headless: true,
    // Chromium's sandbox does not work in most containers. Only our own pages are opened.
    args: browserName === 'firefox' ? [] : ['--no-sandbox'],
    timeout: TIMEOUT,
    protocolTimeout: TIMEOUT,
  });
}

/** A site, and a page of it in a browser. */
async function open(t, browserName, files) {
  const server = http.createServer((request, response) => {
    const file = files[new URL(request.url, 'http://localhost').pathname];
    response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript');
    response.end(
      file ??
        `<!doctype html><html lang="en"><head><title>page</title>${browserName === 'webkit' ? NOTE_FAULTS : ''}<script src="/selfprof-polyfill.js"></script>
         <script src="/app.js?version=1"></script><script type="module" src="/module.js"></script></head></html>`,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await launch(browserName);
  t.after(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });
  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && faults.push(message.text()));
  const url = `http://127.0.0.1:${server.address().port}/`;
  await page.goto(`${url}page`);
  const allFaults = async () => (browserName === 'webkit' ? await page.evaluate(() => globalThis.faults) : faults);
  return { page, url, allFaults };
}

/** The share of each function among the samples in which any of them is on the stack, by the outermost of them. */
function sharesOf(trace, names) {
  const counts = Object.fromEntries(names.map((name) => [name, 0]));
  let total = 0;
  for (const stack of brief(trace)) {
    const name = stack.split(' > ').find((its) => names.includes(its));
    if (name === undefined) continue;
    counts[name]++;
    total++;
  }
  return { total, shares: Object.fromEntries(names.map((name) => [name, counts[name] / total])) };
}

const distance = (one, other) => Object.keys(one).reduce((sum, key) => sum + Math.abs(one[key] - other[key]), 0) / 2;

/** Something that depends on how busy the machine is, three times at most. */
async function attempt(act) {
  for (let count = 1; count < 3; count++) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
    }
  }
  return await act();
}

const JOBS = ['forty', 'thirty', 'twenty', 'run'];

function checkShares({ trace, times }) {
  const { total, shares } = sharesOf(trace, JOBS);
  const busy = Object.values(times).reduce((sum, time) => sum + time);
  const expected = Object.fromEntries(JOBS.map((name) => [name, times[name] / busy]));
  assert.ok(distance(shares, expected) <= 0.1, JSON.stringify({ shares, expected }));
  // On a busy machine a job takes longer than its time.
  assert.ok(total >= 50, `${total} samples`);
  const unknown = brief(trace).filter((stack) => stack === '?').length;
  assert.ok(unknown / trace.samples.length <= 0.1, `${unknown} of ${trace.samples.length} samples have no place`);
}

for (const [browserName, executable] of [
  ['chrome', chromium],
  ['firefox', firefox],
  ['webkit', webkit],
]) {
  const skip = executable && program ? false : 'a program is not set';
  describe(`an instrumented page in ${browserName}`, { skip }, () => {
    let files;
    before(() => {
      files = instrumented({
        'app.js': APPLICATION,
        'module.js':
          'export function inModule() { let sum = 0; for (let i = 0; i < 9; i++) sum += i; return sum }\nglobalThis.inModule = inModule;\n',
        'worker.js': WORKER,
      });
    });

    it('has the shares of its functions', async (t) => {
      const { page, url, allFaults } = await open(t, browserName, files);
      const { trace, created, start, end, stopped } = await attempt(async () => {
        const result = await page.evaluate(() => profiled(shares, 10));
        checkShares(result);
        return result;
      });
      // One sample for each interval.
      const { length } = trace.samples;
      assert.ok(length >= Math.floor((end - start) / 10), `${length} samples in ${end - start} ms`);
      assert.ok(length <= Math.ceil((stopped - created) / 10) + 1, `${length} samples in ${stopped - created} ms`);
      assert.ok(trace.samples[0].timestamp <= start && trace.samples[length - 1].timestamp >= end - 20);
      for (const index of trace.samples.keys())
        if (index) assert.ok(Math.abs(trace.samples[index].timestamp - trace.samples[index - 1].timestamp - 10) < 0.01);
      assert.deepEqual(await allFaults(), []);

      // Places are those of the source. WebKit leaves queries out of stacks.
      const resource = `${url}app.js${browserName === 'webkit' ? '' : '?version=1'}`;
      const lines = APPLICATION.split('\n');
      const place = (name, text) => {
        const line = lines.findIndex((its) => its.includes(text));
        const frame = trace.frames.find((its) => its.name === name);
        assert.deepEqual(
          [frame?.line, frame?.column, trace.resources[frame?.resourceId]],
          [line + 1, lines[line].indexOf(text) + text.length, resource],
          name,
        );
      };
      place('forty', 'function forty(');
      place('twenty', 'const twenty = (');
      place('run', 'class Ten { run(');
      const stacks = new Set(brief(trace));
      assert.ok(
        stacks.has('shares > job > forty > until > spinNumbers') || stacks.has('job > forty > until > spinNumbers'),
      );
    });

    it('is idle when it does nothing', async (t) => {
      const { page } = await open(t, browserName, files);
      await attempt(async () => {
        const { trace, ms, busy } = await page.evaluate(() => profiled(mostlyIdle, 12));
        const stacks = brief(trace);
        const idle = stacks.filter((stack) => stack === '-').length / stacks.length;
        const expected = 1 - busy / ms;
        assert.ok(Math.abs(idle - expected) <= 0.05, `${idle} instead of ${expected}`);
      });
    });

    it('has stacks through native functions, and what runs after an await', async (t) => {
      const { page } = await open(t, browserName, files);
      await attempt(async () => {
        const nested = brief((await page.evaluate(() => profiled(nested))).trace);
        const within = nested.filter(
          (stack) => /nested > each > thirty/.test(stack) || /^each > thirty/.test(stack),
        ).length;
        // Where a check comes late, the sample is in a caller.
        assert.ok(within / nested.length >= 0.5, `${within} of ${nested.length}`);
      });
      let hasWaiting = false;
      await attempt(async () => {
        const { trace, ms } = await page.evaluate(() => profiled(waiting));
        const stacks = brief(trace);
        hasWaiting ||= stacks.some((stack) => stack.includes('waiting > waits > until'));
        const waits = stacks.filter((stack) => /^waits( > |$)/.test(stack)).length;
        assert.ok(waits * 10 >= 0.7 * ms, `${waits} of ${stacks.length}`);
      });
      // Callers that wait are not running.
      assert.ok(!hasWaiting);
    });

    it('sees modules', async (t) => {
      const { page } = await open(t, browserName, files);
      const { trace } = await page.evaluate(() =>
        profiled(async () => {
          for (const end = performance.now() + 200; performance.now() < end; ) inModule();
        }),
      );
      assert.ok(brief(trace).filter((stack) => stack.endsWith('inModule')).length >= 10);
    });

    it('profiles workers', async (t) => {
      const { page } = await open(t, browserName, files);
      await attempt(async () => {
        const result = await page.evaluate(
          () =>
            new Promise((resolve, reject) => {
              const worker = new Worker('/worker.js');
              worker.onerror = (event) => reject(new Error(event.message));
              worker.onmessage = ({ data }) => resolve(data);
              worker.postMessage('');
            }),
        );
        checkShares(result);
      });
    });

    it('is profiled by the agent', async (t) => {
      const receiver = await startReceiver(t);
      const { page, allFaults } = await open(t, browserName, { ...files, '/selfprof.js': SCRIPT });
      await page.addScriptTag({ url: '/selfprof.js' });
      await page.evaluate(async (url) => {
        globalThis.agent = selfprof.init({ url, app: 'shop' });
        await shares(3);
        agent.flush();
      }, `${receiver.url}v1/profiles`);
      await until(() => receiver.profiles().length > 0 && receiver.coverage().length > 0);
      const names = functionsOf(receiver.profiles());
      for (const name of JOBS) assert.ok(names.has(name), name);
      assert.deepEqual(
        receiver.coverage().map(({ coverage }) => coverage),
        ['polyfill'],
      );
      // Chromium says that its own is not allowed.
      assert.deepEqual(
        (await allFaults()).filter((fault) => !fault.startsWith('Document policy violation')),
        [],
      );
    });

    it('keeps the settings of Error', async (t) => {
      const { page, allFaults } = await open(t, browserName, files);
      const result = await page.evaluate(async () => {
        let calls = 0;
        Error.stackTraceLimit = 1;
        Error.prepareStackTrace = () => {
          calls++;
          return 'prepared';
        };
        const prepare = Error.prepareStackTrace;
        const { trace } = await profiled(shares, 3);
        return { trace, calls, kept: [Error.stackTraceLimit, Error.prepareStackTrace === prepare] };
      });
      assert.deepEqual([result.calls, result.kept], [0, [1, true]]);
      assert.ok(brief(result.trace).some((stack) => stack.split(' > ').length >= 4));
      assert.deepEqual(await allFaults(), []);
    });
  });
}
