// How long a report of 100,000 samples takes to be of use, and how long its frames take while it is panned; beside it, a page
// that does next to nothing, which says what the machine can do. Prints a line of JSON.
// Usage: node frames.mjs report|bare

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { make, open } from './browser.mjs';
import puppeteer from 'puppeteer-core';

const SAMPLES = 100_000;
const SOURCE = path.join(import.meta.dirname, '..', '..', 'crates/formats/fixtures/w3c/chromium-156-markers-isolated.json');
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
const { SELFPROF_TEST_CHROMIUM: executablePath } = process.env;
if (!['report', 'bare'].includes(subject)) throw new Error('usage: node frames.mjs report|bare');
if (!executablePath) throw new Error('SELFPROF_TEST_CHROMIUM names no Chromium\n\nhint: apt-get install chromium');

/** A trace of stretches of a real one, the same ones each time. */
function longTrace(trace) {
  const samples = [];
  let seed = 1;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  let now = trace.samples[0].timestamp;
  while (samples.length < SAMPLES) {
    const start = Math.floor(random() * trace.samples.length * 0.9);
    const stretch = trace.samples.slice(start, start + 20 + Math.floor(random() * 300));
    for (const sample of stretch) {
      now += 1 + random() * 0.1;
      samples.push({ ...sample, timestamp: Number(now.toFixed(3)) });
    }
  }
  return { ...trace, samples: samples.slice(0, SAMPLES) };
}

/** In the page: counts the time that scripts take in each frame, those that listen to the pointer among them. */
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

/** In the page: a drag from right to left, one step a frame, at three depths of zoom. Gives what each frame took. */
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
      // What was asked for by the move ran before this frame's own callback.
      scripts.push(scriptTime);
      frames.push(now - last);
      last = now;
    }
    end();
  }
  return { frames, scripts, interactive: performance.getEntriesByName('selfprof-interactive')[0].startTime };
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-frames-'));
const browser = await puppeteer.launch({ executablePath, headless: true, args: ['--no-sandbox'] });
try {
  let file = path.join(folder, 'bare.html');
  if (subject === 'bare') fs.writeFileSync(file, BARE);
  else file = make(folder, { 'long.json': longTrace(JSON.parse(fs.readFileSync(SOURCE, 'utf8'))) });
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
