// The runtime of instrumented pages in a context of its own, with a clock that tests move and an event loop that they
// turn.

import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

/** What `selfprof instrument` puts in place of the template's words. */
const NAMES = {
  SELFPROF_ENTER: '$e',
  SELFPROF_CHECK: '$t',
  SELFPROF_LEAVE: '$x',
  SELFPROF_NATIVE: '$h',
  SELFPROF_SCAN: '$s',
  SELFPROF_RESUME: '$r',
  SELFPROF_FUNCTIONS: 'selfprof-functions.json',
};

const template = fs.readFileSync(path.join(import.meta.dirname, '..', 'dist', 'polyfill.js'), 'utf8');

export const POLYFILL = template.replace(/\bSELFPROF_\w+/g, (name) => NAMES[name]);

const SITE = 'https://shop.example/';

/** Code as it is instrumented. Each function says with `pass` how much time it takes. */
const APPLICATION = `
function outer(act) {$e?.(); pass(1); act(); $t?.() }
function inner(act) {$e?.(); act(); $t?.() }
function loop(rounds, ms) { for (let i = 0; i < rounds; i++) {$t?.(); pass(ms) } $t?.() }
function native(ms) { return $h(pass(ms)) }
function deep(n, act) {$e?.(); if (n) deep(n - 1, act); else act(); $t?.() }
function endless() {$e?.(); endless() }
async function wake(promise, ms) {$e?.(); $r(await promise); pass(ms); $t?.() }
function* endlessly() {$e?.(); for (;;) {$t?.(); $r(yield) } }
function consume(rounds, ms) {$e?.(); for (const _ of endlessly()) {$t?.(); if (rounds-- === 0) break; pass(ms) } }
async function later(ms) {$e?.(); $r(await null); pass(ms); $t?.() }
`;

const lines = APPLICATION.split('\n');

/**
 * The table of `APPLICATION`: each function has a line. Places in the source are made up, so that tests see where they
 * come from.
 */
export const TABLE = {
  version: 1,
  files: {
    'app.js': {
      functions: [['', 1, 1, 1, 1, lines.length, 1, -1]].concat(
        lines.flatMap((text, index) => {
          const name = /function (\w+)/.exec(text)?.[1];
          const column = text.indexOf('(') + 1;
          return name ? [[name, 100 + index, column, index + 1, column, index + 1, text.length + 1, 0]] : [];
        }),
      ),
    },
  },
};

/**
 * A page with the runtime and `APPLICATION`. `globals` are its further globals, and those of the browser that are other
 * than usual; `table` is what the server answers. `before` is code that runs before the runtime, and `after` between it
 * and the application.
 */
export function page({ globals = {}, table = TABLE, before = '', after = '', url = `${SITE}app.js` } = {}) {
  const it = { time: 1_000, clockReads: 0, microtasks: [], timers: [], requests: [], warnings: [] };
  const { EventTarget, Event, URL, AbortSignal, DOMException } = globalThis;
  /** Adds a timer. */
  it.later = (act, delay = 0) => {
    const timer = { act, at: it.time + Math.max(0, delay) };
    it.timers.push(timer);
    return timer;
  };
  const sandbox = {
    ...{ EventTarget, Event, URL, AbortSignal, DOMException },
    console: { warn: (...values) => it.warnings.push(values.join(' ')) },
    performance: {
      now() {
        it.clockReads++;
        return it.time;
      },
    },
    queueMicrotask: (act) => it.microtasks.push(act),
    setTimeout: (act, delay) => it.later(act, delay),
    clearTimeout: (timer) => it.timers.splice(0, Infinity, ...it.timers.filter((other) => other !== timer)),
    async fetch(address, options) {
      it.requests.push({ url: String(address), ...options });
      if (table instanceof Error) throw table;
      return { json: async () => (typeof table === 'string' ? JSON.parse(table) : table) };
    },
    pass(ms) {
      it.time += ms;
    },
    ...globals,
  };
  const context = vm.createContext(sandbox);
  it.run = (code, filename = `${SITE}page.js`) => vm.runInContext(code, context, { filename });
  it.run(before);
  it.run(POLYFILL, `${SITE}selfprof-polyfill.js`);
  it.run(after);
  it.run(APPLICATION, url);

  /** Runs a function or code as a job, with the microtasks that follow. */
  it.job = (job) => {
    const result = typeof job === 'string' ? it.run(job) : job();
    while (it.microtasks.length) it.microtasks.shift()();
    return result;
  };
  /** Lets time pass in which the page does nothing but what its timers do. */
  it.wait = (ms) => {
    const end = it.time + ms;
    for (;;) {
      const [next] = it.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      sandbox.clearTimeout(next);
      it.time = Math.max(it.time, next.at);
      it.job(next.act);
    }
    it.time = end;
  };
  it.start = (sampleInterval = 10, maxBufferSize = 1_000) => {
    let profiler;
    it.job(() => {
      profiler = it.run(`new ProfilerPolyfill({ sampleInterval: ${sampleInterval}, maxBufferSize: ${maxBufferSize} })`);
    });
    return profiler;
  };
  return it;
}

/** Samples in short: the names of the stack, innermost last; `-` if nothing runs, `?` if it is unknown what does. */
export function brief(trace) {
  // Arrays of another realm are not equal to ours, and may have lost their methods.
  const { frames, stacks, samples } = JSON.parse(JSON.stringify(trace));
  return samples.map(({ stackId, marker }) => {
    const names = [];
    for (let id = stackId; id !== undefined; id = stacks[id].parentId)
      names.unshift(frames[stacks[id].frameId].name || 'script');
    return names.join(' > ') || (marker ? '?' : '-');
  });
}
