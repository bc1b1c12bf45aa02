// How long a report of 100,000 samples takes to be of use, and how long its frames take while it is panned: JSON on
// stdout. The trace is made of stretches of a real one. Usage: node frames.mjs TRACE [SAMPLES]

import fs from 'node:fs';

import { make, open } from './browser.mjs';
import puppeteer from 'puppeteer-core';

const [source, count = '100000'] = process.argv.slice(2);
const { SELFPROF_TEST_CHROMIUM: executablePath } = process.env;

/** The same stretches each time. */
function longTrace(trace, wanted) {
  const samples = [];
  let seed = 1;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  let now = trace.samples[0].timestamp;
  while (samples.length < wanted) {
    const start = Math.floor(random() * trace.samples.length * 0.9);
    const stretch = trace.samples.slice(start, start + 20 + Math.floor(random() * 300));
    for (const sample of stretch) {
      now += 1 + random() * 0.1;
      samples.push({ ...sample, timestamp: Number(now.toFixed(3)) });
    }
  }
  return { ...trace, samples: samples.slice(0, wanted) };
}

const folder = fs.mkdtempSync('/tmp/selfprof-frames-');
const browser = await puppeteer.launch({ executablePath, headless: true, args: ['--no-sandbox'] });
try {
  const file = make(folder, { 'long.json': longTrace(JSON.parse(fs.readFileSync(source, 'utf8')), Number(count)) });
  const rounds = [];
  for (let round = 0; round < 5; round++) {
    const { page } = await open(browser, file, { width: 1400, height: 900 });
    rounds.push(
      await page.evaluate(async () => {
        const interactive = performance.getEntriesByName('selfprof-interactive')[0].startTime;
        const canvas = document.querySelector('#view-time canvas');
        const frames = [];
        // A drag from right to left, one step a frame, at three depths of zoom.
        for (const part of [1 / 2, 1 / 20, 1 / 500]) {
          const { extent } = selfprofReport.state.profile;
          const width = (extent.end - extent.start) * part;
          selfprofReport.state.select(undefined);
          const drag = (type, x) => canvas.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: x, clientY: canvas.getBoundingClientRect().top + 300 }));
          selfprofReport.report.zoomTo({ start: extent.start + width / 8, end: extent.start + width / 8 + width });
          await new Promise(requestAnimationFrame);
          drag('mousemove', 1300);
          drag('mousedown', 1300);
          let last = await new Promise(requestAnimationFrame);
          for (let step = 1; step <= 120; step++) {
            drag('mousemove', 1300 - step * 10);
            const now = await new Promise(requestAnimationFrame);
            frames.push(now - last);
            last = now;
          }
          drag('mouseup', 100);
        }
        frames.sort((a, b) => a - b);
        return { interactive, median: frames[frames.length >> 1], late: frames.filter((time) => time > 25).length / frames.length, longest: frames.at(-1) };
      }),
    );
    await page.close();
  }
  console.log(JSON.stringify({ bytes: fs.statSync(file).size, rounds }, undefined, 1));
} finally {
  await browser.close();
  fs.rmSync(folder, { recursive: true });
}
