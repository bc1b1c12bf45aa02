// What pages cost next to plain jsdom in the same run: `node packages/page/bench/pages.mjs [ROUNDS]`, with
// SELFPROF_TEST_JSDOM if jsdom is not installed here. Opening and closing pages, navigations, the memory of the host
// process after 10 and 50 pages and after 240 and 360 iframes, and what the package does to the process that uses it.
// Each round takes a page and a jsdom window in turn. Times are of the clock, since a page's work is spread over two
// processes; times of CPU are of both processes together.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SELF = fileURLToPath(import.meta.url);
const ROUNDS = Number(process.argv[2] ?? 40);
const HTML = `<!doctype html><title>Page</title><ul></ul><script>
  for (let i = 0; i < 100; i++) document.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: i }));
</script>`;

const loadJsdom = () => createRequire(process.env.SELFPROF_TEST_JSDOM ?? import.meta.url)('jsdom');

/** Opens a file in plain jsdom, waits for its load event and closes it. */
async function openInJsdom({ JSDOM }, file) {
  const dom = await JSDOM.fromFile(file, { runScripts: 'dangerously', resources: 'usable', pretendToBeVisual: true });
  if (dom.window.document.readyState !== 'complete')
    await new Promise((resolve) => dom.window.addEventListener('load', resolve));
  if (dom.window.document.querySelectorAll('li').length !== 100) throw new Error('jsdom has not run the script');
  dom.window.close();
}

async function loadPackage() {
  const { PageHost } = await import('../index.mjs');
  return new PageHost({ jsdom: process.env.SELFPROF_TEST_JSDOM });
}

async function openInPackage(host, file) {
  const page = await host.open(file);
  if ((await page.evaluate('document.querySelectorAll("li").length')) !== 100)
    throw new Error('the page has not run its script');
  await page.close();
}

const childPids = () =>
  fs.readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);

/** Milliseconds of CPU of this process and its children. The clock of /proc ticks every 10 ms. */
function cpuTime() {
  const { user, system } = process.cpuUsage();
  const ofChild = (pid) => {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  return (
    (user + system) / 1000 +
    childPids()
      .map(ofChild)
      .reduce((a, b) => a + b, 0)
  );
}

/** Resident memory of the host process, in MiB. */
function residentMemory() {
  return childPids()
    .map((pid) => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024)
    .reduce((a, b) => a + b, 0);
}

const sorted = (values) => values.toSorted((a, b) => a - b);
const median = (values) => sorted(values)[values.length >> 1];
const spread = (values, digits = 1) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;
const timed = async (work) => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** A line of a comparison: medians with minimum and maximum, and the median of the ratios within each round. */
function compare(what, ours, jsdoms) {
  const ratios = ours.map((time, round) => time / jsdoms[round]);
  console.log(`| ${what} | ${spread(ours)} | ${spread(jsdoms)} | ${spread(ratios, 2)} |`);
}

/** The first page of a process with everything that is loaded for it; each in a process of its own. */
const first = {
  jsdom: (file) => timed(() => openInJsdom(loadJsdom(), file)),
  selfprof: async (file) => {
    let host;
    const time = await timed(async () => {
      host = await loadPackage();
      await openInPackage(host, file);
    });
    await host.close();
    return time;
  },
};

function count(end) {
  let sum = 0;
  for (let i = 0; i < end; i++) sum = (sum * 3 + i) | 0;
  return sum;
}

/**
 * What the process of the user is like: the time of a loop in WebAssembly and in JavaScript, flags, listeners, a later
 * worker's heap.
 */
const environment = {
  async report() {
    const { Worker } = await import('node:worker_threads');
    // (func (export "run") (param i32) (result i32)) that counts its parameter down, adding up.
    const bytes = new Uint8Array([
      0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 114, 117, 110, 0, 0, 10, 30, 1,
      28, 1, 1, 127, 3, 64, 32, 1, 32, 0, 106, 65, 3, 108, 33, 1, 32, 0, 65, 1, 107, 34, 0, 13, 0, 11, 32, 1, 11,
    ]);
    const { run } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
    const wasm = [];
    const script = [];
    for (let round = 0; round < 7; round++) {
      wasm.push(await timed(() => run(100_000_000)));
      script.push(await timed(() => count(100_000_000)));
    }
    const worker = new Worker(
      'require("node:worker_threads").parentPort.postMessage(require("node:v8").getHeapStatistics().heap_size_limit)',
      { eval: true },
    );
    const limit = await new Promise((resolve) => worker.on('message', resolve));
    const status = fs.readFileSync('/proc/self/status', 'utf8');
    const listeners = process.eventNames().map((name) => `${String(name)} ${process.listenerCount(name)}`);
    return {
      wasm: Math.min(...wasm),
      script: Math.min(...script),
      state: { limit, handlers: /SigCgt:\s+(\w+)/.exec(status)[1], listeners, flags: process.execArgv },
    };
  },
  async plain() {
    return await environment.report();
  },
  async selfprof(file) {
    const host = await loadPackage();
    await openInPackage(host, file);
    const report = await environment.report();
    await host.close();
    return report;
  },
};

const inProcess = (mode, file) =>
  JSON.parse(execFileSync(process.execPath, ['--max-old-space-size=300', SELF, mode, file], { encoding: 'utf8' }));

async function main(folder) {
  const file = path.join(folder, 'page.html');
  fs.writeFileSync(file, HTML);
  console.log(`Node ${process.version}, jsdom, ${ROUNDS} rounds; times in ms\n`);
  console.log('| | selfprof | jsdom | ratio |\n|---|---|---|---|');

  const firsts = { selfprof: [], jsdom: [] };
  for (let round = 0; round < 7; round++)
    for (const kind of ['selfprof', 'jsdom']) firsts[kind].push(inProcess(`first ${kind}`, file));
  compare('first page of a process, with everything it loads', firsts.selfprof, firsts.jsdom);

  const jsdom = loadJsdom();
  const host = await loadPackage();
  const page = await host.open(file);
  for (let i = 0; i < 5; i++) {
    await openInPackage(host, file);
    await openInJsdom(jsdom, file);
  }
  const later = { selfprof: [], jsdom: [], selfprofCpu: [], jsdomCpu: [] };
  const navigations = [];
  for (let round = 0; round < ROUNDS; round++) {
    let cpu = cpuTime();
    later.selfprof.push(await timed(() => openInPackage(host, file)));
    later.selfprofCpu.push(cpuTime() - cpu);
    cpu = cpuTime();
    later.jsdom.push(await timed(() => openInJsdom(jsdom, file)));
    later.jsdomCpu.push(cpuTime() - cpu);
    navigations.push(await timed(() => page.goto(pathToFileURL(file).href)));
  }
  compare('open and close a later page', later.selfprof, later.jsdom);
  compare('navigation of an open page', navigations, later.jsdom);
  const sum = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  console.log(
    `| CPU of a later page, mean | ${sum(later.selfprofCpu).toFixed(1)} | ${sum(later.jsdomCpu).toFixed(1)} | ${(sum(later.selfprofCpu) / sum(later.jsdomCpu)).toFixed(2)} |`,
  );
  await page.close();
  await host.close();

  const pages = await loadPackage();
  const memory = [];
  for (let count = 1; count <= 50; count++) {
    await openInPackage(pages, file);
    if (count === 10 || count === 50) {
      await sleep(1000);
      memory.push(residentMemory());
    }
  }
  console.log(
    `\nresident memory of the host after 10 pages ${memory[0].toFixed(0)} MiB, after 50 ${memory[1].toFixed(0)} MiB`,
  );
  await pages.close();

  const frames = await loadPackage();
  const outer = await frames.open(file);
  const frameMemory = [];
  for (let count = 1; count <= 360; count++) {
    await outer.evaluate(
      async (url) => {
        const frame = document.createElement('iframe');
        frame.src = url;
        await new Promise((resolve) => {
          frame.onload = resolve;
          document.body.append(frame);
        });
        frame.remove();
      },
      `${pathToFileURL(file).href}?${count}`,
    );
    if (count % 120 === 0) {
      await sleep(1000);
      frameMemory.push(residentMemory());
    }
  }
  console.log(
    `after 120, 240 and 360 iframes, each removed: ${frameMemory.map((size) => size.toFixed(0)).join(', ')} MiB`,
  );
  await frames.close();

  const reports = { plain: [], selfprof: [] };
  for (let round = 0; round < 5; round++)
    for (const kind of ['plain', 'selfprof']) reports[kind].push(inProcess(`environment ${kind}`, file));
  console.log(
    '\n| in the process that uses the package, with a page opened before | with | without | ratio |\n|---|---|---|---|',
  );
  for (const kind of ['wasm', 'script'])
    compare(
      kind === 'wasm' ? 'a loop in WebAssembly' : 'a loop in JavaScript',
      reports.selfprof.map((report) => report[kind]),
      reports.plain.map((report) => report[kind]),
    );
  console.log('without:', JSON.stringify(reports.plain[0].state));
  console.log('with:   ', JSON.stringify(reports.selfprof[0].state));
}

const [mode, argument] = process.argv.slice(2);
const [kind, variant] = (mode ?? '').split(' ');
if (kind === 'first') console.log(await first[variant](argument));
else if (kind === 'environment') console.log(JSON.stringify(await environment[variant](argument)));
else {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-bench-'));
  try {
    await main(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
