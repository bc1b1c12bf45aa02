// Measures how long a report of 100,000 samples takes to become interactive, and how long its frames take while it is
// panned. `threads` measures 1,000,000 samples of 20 threads; `bare` measures an almost empty page instead, for what
// the machine can do. Prints a line of JSON.
// Usage: node frames.mjs report|threads|bare [TRACE]

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { FIXTURE, launch, makeReport, open, threads } from './browser.mjs';

const SAMPLES = 100_000;
const THREADS = 20;
const SAMPLES_OF_A_THREAD = 50_000;
const BARE = `<!doctype html><canvas width=1400 height=650></canvas><script>
const context = document.querySelector('canvas').getContext('2d', { alpha: false });
let shade = 0;
globalThis.step = () => requestAnimationFrame(() => {
  context.fillStyle = (shade += 1) % 2 ? '#fff' : '#eee';
  context.fillRect(0, 0, 1400, 650);
});
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('selfprof-interactive')));
</script>`;

const [subject, source = FIXTURE] = process.argv.slice(2);
if (!['report', 'threads', 'bare'].includes(subject))
  throw new Error('usage: node frames.mjs report|threads|bare [TRACE]');
if (!process.env.SELFPROF_TEST_CHROMIUM)
  throw new Error(
    'SELFPROF_TEST_CHROMIUM is not set\n\nhint: `apt-get install chromium`, and set it to /usr/bin/chromium',
  );

/** A long trace made of pieces of a real one, the same pieces each time. */
function longTrace(trace, count = SAMPLES, seedOfTrace = 1) {
  const samples = [];
  let seed = seedOfTrace;
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  let now = trace.samples[0].timestamp;
  while (samples.length < count) {
    const start = Math.floor(random() * trace.samples.length * 0.9);
    const piece = trace.samples.slice(start, start + 20 + Math.floor(random() * 300));
    for (const sample of piece) {
      now += 1 + random() * 0.1;
      samples.push({ ...sample, timestamp: Number(now.toFixed(3)) });
    }
  }
  return { ...trace, samples: samples.slice(0, count) };
}

/** A file with several such threads. */
function longThreads(trace) {
  return threads(
    Array.from({ length: THREADS }, (_, index) => {
      const pid = 4700 + Math.floor(index / 4);
      const name = index % 4 === 0 ? 'main-thread' : `worker-${index % 4}`;
      return [
        { name, pid, tid: index % 4, command: `node build-${pid}.js` },
        longTrace(trace, SAMPLES_OF_A_THREAD, index + 1),
      ];
    }),
  );
}

/** In the page: adds up the time of scripts in each frame, including pointer listeners. */
function watchScripts() {
  globalThis.scriptTime = 0;
  globalThis.timed = (work) => {
    const start = performance.now();
    work();
    globalThis.scriptTime += performance.now() - start;
  };
  const { requestAnimationFrame: request } = globalThis;
  globalThis.requestAnimationFrame = (callback) => request((now) => timed(() => callback(now)));
}

/** In the page: drags from right to left, one step per frame, at three zoom levels. Returns the times of all frames. */
async function pan(subject) {
  const frames = [];
  const scripts = [];
  const nextFrame = () => new Promise(requestAnimationFrame);
  for (const part of [1 / 2, 1 / 20, 1 / 500]) {
    let move = () => step();
    let end = () => {};
    if (subject !== 'bare') {
      const canvas = document.querySelector('#view-time canvas');
      const { extent } = selfprofReport.state.profile;
      const width = (extent.end - extent.start) * part;
      const y = canvas.getBoundingClientRect().top + 300;
      const send = (type, x) => canvas.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: x, clientY: y }));
      selfprofReport.report.zoomTo({ start: extent.start + width / 8, end: extent.start + width / 8 + width });
      await nextFrame();
      send('mousemove', 1300);
      send('mousedown', 1300);
      move = (count) => send('mousemove', 1300 - count * 10);
      end = () => send('mouseup', 100);
    }
    let last = await nextFrame();
    for (let count = 1; count <= 120; count++) {
      scriptTime = 0;
      timed(() => move(count));
      const now = await nextFrame();
      // The callbacks that the move requested ran before the one of `nextFrame`.
      scripts.push(scriptTime);
      frames.push(now - last);
      last = now;
    }
    end();
  }
  return { frames, scripts, interactive: performance.getEntriesByName('selfprof-interactive')[0].startTime };
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-frames-'));
const browser = await launch();
try {
  let file = path.join(folder, 'bare.html');
  if (subject === 'bare') fs.writeFileSync(file, BARE);
  else {
    const trace = JSON.parse(fs.readFileSync(source, 'utf8'));
    file = makeReport(folder, { 'long.json': subject === 'threads' ? longThreads(trace) : longTrace(trace) });
  }
  const megabytes = fs.statSync(file).size / 1e6;
  const { page, faults } = await open(browser, file, { width: 1400, height: 900, first: watchScripts });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const { frames, scripts, interactive } = await page.evaluate(pan, subject);
  const sorted = { frames: frames.toSorted((a, b) => a - b), scripts: scripts.toSorted((a, b) => a - b) };
  const at = (values, part) => values[Math.min(values.length - 1, Math.floor(values.length * part))];
  console.log(
    JSON.stringify({
      ...(subject === 'bare' ? {} : { interactive, megabytes }),
      script: at(sorted.scripts, 0.5),
      scriptMost: at(sorted.scripts, 0.99),
      frame: at(sorted.frames, 0.5),
      late: (100 * frames.filter((time) => time > 25).length) / frames.length,
      longest: sorted.frames.at(-1),
    }),
  );
} finally {
  await browser.close();
  fs.rmSync(folder, { recursive: true });
}
