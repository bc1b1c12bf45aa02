// Pages whose calls are traced, in browsers, and what the program makes of their traces. SELFPROF_TEST_CHROMIUM is the
// path of Chromium; SELFPROF_TEST_FIREFOX is that of Firefox, without which its tests are skipped.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, it } from 'node:test';

import { instrumentFolder } from '@selfprof/instrument';
import puppeteer from 'puppeteer-core';

import { serveFolder } from './local-server.mjs';
import { temporaryFolder, write } from './package-folder.mjs';

const { SELFPROF_TEST_CHROMIUM: chromium, SELFPROF_TEST_FIREFOX: firefox } = process.env;

/** In milliseconds. Browsers are slow to start on a busy machine. */
const TIMEOUT = 60_000;

/** How often each function of it is called is known. */
const APPLICATION = `
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function* numbers(n) { for (let i = 0; i < n; i++) yield i }
async function waits(n) { for (let i = 0; i < n; i++) await null; return n }
async function* delayed(n) { for (let i = 0; i < n; i++) { await null; yield i } }
function thrower(n) { if (n === 0) throw new Error('deep'); thrower(n - 1) }
class Cart { #items = []; add(item) { this.#items.push(item); return this } get total() { return this.#items.reduce((sum, item) => sum + item, 0) } static of() { return new Cart() } }
async function rejects() { try { await Promise.reject(new Error('no')) } catch { return fib(1) } }
async function work() {
  fib(10);
  try { thrower(4) } catch { fib(0) }
  let sum = 0;
  for (const number of numbers(3)) sum += number;
  for (const number of numbers(100)) { if (number === 2) break; sum += number }
  await waits(5);
  await rejects();
  for await (const number of delayed(2)) sum += number;
  const cart = Cart.of().add(1).add(2);
  return sum + cart.total;
}
function deep(n) { return n + deep(n + 1) }
function catchesDeep() { try { deep(0) } catch (error) { return error.name } }
function spin(ms) { const end = performance.now() + ms; while (performance.now() < end); }
function startInside(options) { spin(5); globalThis.inner = new ProfilerPolyfill(options); spin(5); return fib(2) }
function stopInside() { spin(5); const stopped = inner.stop(); spin(5); return stopped }
document.documentElement.dataset.ready = 'true';
`;

/** Calls and resumptions of `work`. A function has as many resumptions as it has awaits and yields that end. */
const EXPECTED = {
  fib: [177 + 1 + 1, 0],
  numbers: [2, 3 + 3],
  waits: [1, 5],
  delayed: [1, 2 + 2],
  thrower: [5, 0],
  add: [2, 0],
  'get total': [1, 0],
  of: [1, 0],
  rejects: [1, 1],
  '': [2, 0],
  work: [1, 5],
};

const PAGE = `<!doctype html><html lang="en"><head><title>page</title><script>function inline() { return fib(1) }</script>
<script src="app.js"></script></head><body>ready</body></html>`;

const program = createRequire(import.meta.url)('selfprof/internal/native-package.cjs').program();

/** The program's answer. */
function run(...words) {
  const home = path.dirname(createRequire(import.meta.url).resolve('selfprof/package.json'));
  return execFileSync(program, words, { env: { SELFPROF_NPM: home, ...process.env }, encoding: 'utf8' });
}

/** A page in a browser, instrumented with these options. */
async function open(t, launch, options = {}) {
  const folder = temporaryFolder(t);
  write(folder, { 'index.html': PAGE, 'app.js': APPLICATION });
  const { folder: output } = await instrumentFolder(folder, { mode: 'trace', html: false, ...options });
  const browser = await puppeteer.launch({ headless: true, timeout: TIMEOUT, protocolTimeout: TIMEOUT, ...launch });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const url = await serveFolder(t, output);
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.ready);
  return { page, url, folder };
}

const names = ({ frames, calls }) => calls.frameIds.map((id) => frames[id].name);

/** Calls and resumptions by name. */
function counts(trace) {
  const found = {};
  names(trace).forEach((name, index) => {
    found[name] ??= [0, 0];
    if (trace.calls.types[index] === 0) found[name][0]++;
    if (trace.calls.types[index] === 3) found[name][1]++;
  });
  return found;
}

/** Entries and exits nest. Gives the names of functions that were running at the start and at the end. */
function assertNested({ calls, frames }) {
  const open = [];
  const before = [];
  calls.types.forEach((type, index) => {
    const id = calls.frameIds[index];
    if (type === 0 || type === 3) open.push(id);
    else if (open.length) assert.equal(open.pop(), id, `event ${index}`);
    else before.push(frames[id].name);
    assert.ok(index === 0 || calls.timestamps[index] >= calls.timestamps[index - 1]);
  });
  return { before, after: open.map((id) => frames[id].name) };
}

const browsers = [
  ['Chromium', { executablePath: chromium, args: ['--no-sandbox'] }, chromium],
  ['Firefox', { browser: 'firefox', executablePath: firefox }, firefox],
];

for (const [browserName, launch, executable] of browsers) {
  describe(`in ${browserName}`, { skip: executable ? false : 'there is none', timeout: 5 * TIMEOUT }, () => {
    it('each call is counted, and the program shows and converts it', async (t) => {
      const { page, url, folder } = await open(t, launch);
      const { trace, result } = await page.evaluate(async () => {
        const profiler = new ProfilerPolyfill({ mode: 'trace', maxBufferSize: 100_000 });
        const result = await work();
        inline();
        return { trace: await profiler.stop(), result };
      });
      assert.equal(result, 3 + 1 + 1 + 3);
      const expected = { ...EXPECTED, fib: [EXPECTED.fib[0] + 1, 0], inline: [1, 0] };
      assert.deepEqual(counts(trace), expected);
      assert.deepEqual(assertNested(trace), { before: [], after: [] });
      assert.deepEqual([trace.samples, trace.stacks, trace.calls.truncated], [[], [], false]);
      const { start, end, timestamps } = trace.calls;
      assert.ok(start <= timestamps[0] && timestamps.at(-1) <= end);
      assert.deepEqual([...trace.resources].sort(), [`${url}app.js`, `${url}index.html`]);
      const place = (name) => trace.frames.find((frame) => frame.name === name);
      const line = APPLICATION.split('\n')[1];
      assert.deepEqual([place('fib').line, place('fib').column], [2, line.indexOf('(') + 1]);

      const file = path.join(folder, 'trace.json');
      fs.writeFileSync(file, JSON.stringify(trace));
      const top = JSON.parse(run('top', file, '--json', '--top', '100', '--no-source-maps'));
      const rows = top.functions.map(({ name, calls, resumptions }) => [name, [calls, resumptions]]);
      assert.deepEqual(Object.fromEntries(rows), expected);
      assert.equal(rows.length, Object.keys(expected).length);
      assert.equal(top.calls.events, trace.calls.types.length);
      const chrome = path.join(folder, 'chrome.json');
      run('convert', file, '-o', chrome, '--to', 'chrome', '--no-source-maps');
      const { traceEvents } = JSON.parse(fs.readFileSync(chrome, 'utf8'));
      const fibs = traceEvents.filter(({ name, ph }) => name === 'fib' && ph === 'B');
      assert.equal(fibs.length, expected.fib[0]);
      const ends = traceEvents.filter(({ ph, cat }) => ph === 'E' && cat === 'selfprof.calls');
      assert.equal(2 * ends.length, trace.calls.types.length);
      const profile = path.join(folder, 'firefox.json');
      run('convert', file, '-o', profile, '--to', 'firefox', '--no-source-maps');
      const { threads } = JSON.parse(fs.readFileSync(profile, 'utf8'));
      const markers = threads[0].markers.data.filter(({ name }) => name === 'fib');
      assert.equal(markers.length, expected.fib[0]);
    });

    it('chosen functions are traced, and no others', async (t) => {
      const { page } = await open(t, launch, { functions: ['fib', 'get *'], include: ['app.js'] });
      const trace = await page.evaluate(async () => {
        const profiler = new ProfilerPolyfill({ mode: 'trace', maxBufferSize: 100_000, sampleInterval: 10 });
        await work();
        return profiler.stop();
      });
      assert.deepEqual(counts(trace), { fib: EXPECTED.fib, 'get total': [1, 0] });
    });

    it('a full buffer ends the recording, and that is said', async (t) => {
      const { page, folder } = await open(t, launch);
      const { trace, later, hasFired } = await page.evaluate(async () => {
        const profiler = new ProfilerPolyfill({ mode: 'trace', maxBufferSize: 2_500 });
        const full = new Promise((resolve) => profiler.addEventListener('samplebufferfull', resolve));
        fib(20);
        await full;
        const trace = await profiler.stop();
        const exact = new ProfilerPolyfill({ mode: 'trace', maxBufferSize: 2 });
        let hasFired = false;
        exact.addEventListener('samplebufferfull', () => {
          hasFired = true;
        });
        fib(1);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { trace, later: await exact.stop(), hasFired };
      });
      assert.deepEqual([trace.calls.types.length, trace.calls.truncated], [2_500, true]);
      const { before, after } = assertNested(trace);
      assert.ok(before.length === 0 && after.length > 2 && after.every((name) => name === 'fib'), `${after}`);
      assert.deepEqual([later.calls.types, later.calls.truncated, hasFired], [[0, 1], false, false]);
      const file = path.join(folder, 'trace.json');
      fs.writeFileSync(file, JSON.stringify(trace));
      assert.match(run('top', file, '--no-source-maps'), /then the buffer was full, and later calls are not counted/);
    });

    it('profilers overlap, and start and stop inside of functions', async (t) => {
      const { page } = await open(t, launch);
      const { outer, inner, again } = await page.evaluate(async () => {
        const options = { mode: 'trace', maxBufferSize: 10_000 };
        const outerProfiler = new ProfilerPolyfill(options);
        fib(1);
        startInside(options);
        fib(1);
        const inner = await stopInside();
        fib(1);
        const outer = await outerProfiler.stop();
        // Activations of the time before are no entries of this one.
        const generator = numbers(3);
        generator.next();
        const third = new ProfilerPolyfill(options);
        generator.next();
        return { outer, inner, again: await third.stop() };
      });
      assert.deepEqual(counts(outer).fib, [1 + 3 + 1 + 1, 0]);
      assert.deepEqual(assertNested(outer), { before: [], after: [] });
      assert.deepEqual(counts(inner), { spin: [2, 0], fib: [4, 0], stopInside: [1, 0], startInside: [0, 0] });
      assert.deepEqual(assertNested(inner), { before: ['startInside'], after: ['stopInside'] });
      assert.deepEqual(again.calls.types, [3, 2]);
    });

    it('entries and exits nest at the end of the stack', async (t) => {
      const { page } = await open(t, launch);
      const { trace, name } = await page.evaluate(async () => {
        // Compiled and not compiled, functions take more and less of it.
        for (let i = 0; i < 3; i++) catchesDeep();
        const profiler = new ProfilerPolyfill({ mode: 'trace', maxBufferSize: 1_000_000 });
        let name;
        for (let i = 0; i < 5; i++) name = catchesDeep();
        fib(1);
        return { trace: await profiler.stop(), name };
      });
      assert.match(name, /RangeError|InternalError/);
      assert.deepEqual(assertNested(trace), { before: [], after: [] });
      const { deep, catchesDeep, fib } = counts(trace);
      assert.ok(deep[0] > 1_000);
      assert.deepEqual(
        [catchesDeep, fib],
        [
          [5, 0],
          [1, 0],
        ],
      );
    });

    it('the interface says what it can do', async (t) => {
      const { page } = await open(t, launch);
      const found = await page.evaluate(async () => {
        const thrown = (act) => {
          try {
            act();
            return 'nothing';
          } catch (error) {
            return `${error.name}: ${error.message}`;
          }
        };
        const profiler = new ProfilerPolyfill({ mode: 'trace', maxBufferSize: 10 });
        const members = [profiler.sampleInterval, profiler.stopped, ProfilerPolyfill.polyfilled, String(profiler)];
        await profiler.stop();
        return {
          members: [...members, profiler.stopped],
          errors: [
            thrown(() => new ProfilerPolyfill({ sampleInterval: 10, maxBufferSize: 10 })),
            thrown(() => new ProfilerPolyfill({ mode: 'sample', sampleInterval: 10, maxBufferSize: 10 })),
            thrown(() => new ProfilerPolyfill({ mode: 'trace' })),
            thrown(() => new ProfilerPolyfill()),
          ],
          again: await profiler.stop().catch((error) => error.name),
        };
      });
      const failed = "TypeError: Failed to construct 'Profiler': ";
      assert.deepEqual(found, {
        members: [0, false, true, '[object Profiler]', true],
        errors: [
          `${failed}mode must be 'trace': the scripts were instrumented with --mode trace.`,
          `${failed}mode must be 'trace': the scripts were instrumented with --mode trace.`,
          `${failed}maxBufferSize is missing.`,
          `${failed}maxBufferSize is missing.`,
        ],
        again: 'InvalidStateError',
      });
    });

    it('scripts that are instrumented for samples are not traced', async (t) => {
      const { page } = await open(t, launch, { mode: 'sample' });
      const error = await page.evaluate(() => {
        try {
          return new ProfilerPolyfill({ mode: 'trace', sampleInterval: 10, maxBufferSize: 10 });
        } catch (error) {
          return String(error);
        }
      });
      const failed = "TypeError: Failed to construct 'Profiler': ";
      assert.equal(error, `${failed}mode 'trace' needs scripts instrumented with --mode trace.`);
    });
  });
}
