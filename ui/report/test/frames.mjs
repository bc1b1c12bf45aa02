// Measures how long a report of 100,000 samples takes to become interactive, and how long its frames take while it is panned.
// `bare` measures an almost empty page instead, for what the machine can do. Prints a line of JSON.
// Usage: node frames.mjs report|bare

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { FIXTURE, launch, makeReport, open } from './browser.mjs';

const SAMPLES = 100_000;
const BARE = `<!doctype html><canvas width=1400 height=650></canvas><script>
const context = document.querySelector('canvas').getContext('2d', { alpha: false });
let shade = 0;
globalThis.step = () => requestAnimationFrame(() => {
  context.fillStyle = (shade += 1) % 2 ? '#fff' : '#eee';
  context.fillRect(0, 0, 1400, 650);
});
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('selfprof-interactive')));
</script>`;

const [subject] = process.argv.slice(2);
if (!['report', 'bare'].includes(subject)) throw new Error('usage: node frames.mjs report|bare');
if (!process.env.SELFPROF_TEST_CHROMIUM)
  throw new Error(
    'SELFPROF_TEST_CHROMIUM is not set\n\nhint: `apt-get install chromium`, and set it to /usr/bin/chromium',
  );

/** A long trace made of pieces of a real one, the same pieces each time. */
function longTrace(trace) {
  const samples = [];
  let seed = 1;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  let now = trace.samples[0].timestamp;
  while (samples.length < SAMPLES) {
    const start = Math.floor(random() * trace.samples.length * 0.9);
    const piece = trace.samples.slice(start, start + 20 + Math.floor(random() * 300));
    for (const sample of piece) {
      now += 1 + random() * 0.1;
      samples.push({ ...sample, timestamp: Number(now.toFixed(3)) });
    }
  }
  return { ...trace, samples: samples.slice(0, SAMPLES) };
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
    if (subject === 'report') {
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
  else file = makeReport(folder, { 'long.json': longTrace(JSON.parse(fs.readFileSync(FIXTURE, 'utf8'))) });
  const { page, faults } = await open(browser, file, { width: 1400, height: 900, first: watchScripts });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const { frames, scripts, interactive } = await page.evaluate(pan, subject);
  const sorted = { frames: frames.toSorted((a, b) => a - b), scripts: scripts.toSorted((a, b) => a - b) };
  const at = (values, part) => values[Math.min(values.length - 1, Math.floor(values.length * part))];
  console.log(
    JSON.stringify({
      ...(subject === 'report' ? { interactive } : {}),
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
