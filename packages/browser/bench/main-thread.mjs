// The time that the agent takes of a page's main thread: `node packages/browser/bench/main-thread.mjs [SECONDS]`, with
// SELFPROF_TEST_CHROMIUM. Each call into the agent is timed: its timers, its listeners, its observer and its promises.
// What the browser does in `new Profiler()` and `stop()` is counted apart. The median of the calls of a kind times
// their number is printed, because on a machine with other work some calls are interrupted.

import http from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { launch, SCRIPT, startReceiver } from '../test/site.mjs';

const SECONDS = Number(process.argv[2] ?? 185);

/**
 * A page that works 4 ms in each 100 ms, in stacks of up to 20 of 200 functions, and measures something each second.
 */
const APPLICATION = `${Array.from({ length: 200 }, (_, index) => {
  const next = `work${(index * 7 + 3) % 200}`;
  return `function work${index}(depth, ms) {
    if (depth > 0) return ${next}(depth - 1, ms);
    for (const end = performance.now() + ms; performance.now() < end; );
  }`;
}).join('\n')}
let count = 0;
setInterval(() => self['work' + (count++ * 13 % 200)](count % 20, 4), 100);
setInterval(() => { performance.mark('begin'); work1(3, 4); performance.measure('render', 'begin'); }, 1000);
document.querySelector('button').onclick = () => work1(5, 120);
setInterval(() => history.pushState({}, '', '/p/' + count), 15_000);`;

/** Runs in the page: the names that the agent uses are timed ones. `code` is the agent, `options` are its own. */
function harness(code, options) {
  const calls = {};
  let browser = 0;
  let depth = 0;
  const note = (name, time) => {
    calls[name] ??= [];
    calls[name].push(time);
  };
  const timed = (name, act) =>
    function (...parameters) {
      if (depth > 0) return act.apply(this, parameters);
      depth++;
      const before = browser;
      const start = performance.now();
      try {
        return act.apply(this, parameters);
      } finally {
        note(name, performance.now() - start - (browser - before));
        depth--;
      }
    };
  const ofBrowser = (name, act) => {
    const start = performance.now();
    try {
      return act();
    } finally {
      const time = performance.now() - start;
      browser += time;
      note(name, time);
    }
  };
  const TimedProfiler = class {
    constructor(one) {
      this.profiler = ofBrowser('browser: new Profiler()', () => new Profiler(one));
    }
    addEventListener(name, listener) {
      this.profiler.addEventListener(name, timed('listeners', listener));
    }
    stop() {
      const promise = ofBrowser('browser: stop()', () => this.profiler.stop());
      // biome-ignore lint/suspicious/noThenProperty: the agent awaits it.
      return { then: (done, failed) => promise.then(timed('promises', done), failed) };
    }
  };
  const own = {
    Profiler: TimedProfiler,
    requestIdleCallback: (act, one) => requestIdleCallback(timed('idle callbacks', act), one),
    navigation: {
      addEventListener: (name, listener) => navigation.addEventListener(name, timed('listeners', listener)),
    },
  };
  const scope = new Proxy(globalThis, {
    get: (target, name) => own[name] ?? (Reflect.has(target, name) ? target[name] : undefined),
  });
  const TimedObserver = class extends PerformanceObserver {
    constructor(listener) {
      super(timed('entries', listener));
    }
  };
  const TimedWorker = class extends Worker {
    set onmessage(listener) {
      super.onmessage = timed('listeners', listener);
    }
  };
  const names = ['globalThis', 'self', 'setTimeout', 'addEventListener', 'PerformanceObserver', 'Worker'];
  const values = [
    scope,
    self,
    (act, ms) => setTimeout(timed('timers', act), ms),
    (name, listener) => addEventListener(name, timed('listeners', listener)),
    TimedObserver,
    TimedWorker,
  ];
  timed('init', () => new Function(...names, `${code}; return selfprof;`)(...values).init(options))();
  globalThis.calls = calls;
}

const closing = [];
const t = { after: (act) => closing.unshift(act) };
const receiver = await startReceiver(t);
const options = { url: `${receiver.url}v1/profiles`, app: 'shop', release: '1.4' };
const server = http.createServer((request, response) => {
  response.setHeader('document-policy', 'js-profiling');
  // The clock of an isolated page is finer.
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('cross-origin-embedder-policy', 'require-corp');
  const scripts = {
    '/harness.js': `(${harness})(${JSON.stringify(SCRIPT)}, ${JSON.stringify(options)})`,
    '/app.js': APPLICATION,
  };
  const script = scripts[request.url];
  response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
  response.end(
    script ??
      '<!doctype html><title>A page</title><script src="/harness.js"></script><button>Click</button><script src="/app.js"></script>',
  );
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
t.after(() => server.close());
const browser = await launch(t);
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/`);
for (const end = Date.now() + SECONDS * 1_000; Date.now() < end; await sleep(5_000)) await page.click('button');
const { calls, seconds } = await page.evaluate(() => ({ calls: globalThis.calls, seconds: performance.now() / 1_000 }));
let sum = 0;
for (const [name, times] of Object.entries(calls)) {
  times.sort((a, b) => a - b);
  // Some idle callbacks start a profiler, and others make uploads: two kinds.
  const half = name === 'idle callbacks' ? times.length >> 1 : 0;
  const of = (list) => (list.length ? list[list.length >> 1] * list.length : 0);
  const time = of(times.slice(0, half)) + of(times.slice(half));
  const inMinute = (time / seconds) * 60;
  if (name !== 'init' && !name.startsWith('browser')) sum += inMinute;
  const shown = name === 'init' ? `${time.toFixed(2)} ms, once` : `${inMinute.toFixed(2)} ms in a minute`;
  console.log(`${shown.padEnd(24)} ${name} (${times.length} calls)`);
}
console.log(`${sum.toFixed(2)} ms in a minute, all but init and the browser; ${receiver.profiles().length} profiles`);
for (const close of closing) await close();
