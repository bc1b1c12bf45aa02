// Reports of several processes and threads: lanes, one thread alone, sums of all, and files together.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, it } from 'node:test';

import {
  makeReport,
  nextFrames,
  open,
  SIMPLE,
  showTab,
  start,
  tableRows,
  textOf,
  textsOf,
  threads,
  trace,
} from './browser.mjs';

const VITE = { pid: 4711, command: 'node node_modules/.bin/vite build' };

/** 100 to 159 ms: `main` of SIMPLE; 120 to 139 ms: `work` of a worker; 200 to 299 ms: another process. */
const THREE = threads([
  [{ name: 'main-thread', tid: 0, ...VITE }, SIMPLE],
  [{ name: 'worker-1', tid: 1, ...VITE }, trace(Array(20).fill('main;work'), { start: 120 })],
  [
    { name: 'main-thread', pid: 4800, tid: 0, command: 'node <b>tsc.js' },
    trace(Array(100).fill('check'), { start: 200 }),
  ],
]);

const lanes = (page) =>
  page.$$eval('.lane', (all) =>
    all.map((lane) => [...lane.querySelectorAll('.lane-name span')].map((one) => one.textContent)),
  );

describe('several threads', () => {
  it('have a lane each, and are summed up', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, makeReport(folder, { 'three.json': THREE }));
    assert.deepEqual(await lanes(page), [
      ['All threads (3)', '170 ms'],
      ['vite 4711', '25.0%'],
      ['worker-1', '10.0%'],
      ['<b>tsc 4800', '50.0%'],
    ]);
    assert.match(await textOf(page, '.summary'), /^3 threads · 200 ms · 180 samples · 170 ms busy/);
    await showTab(page, 'Functions');
    // `work` ran for 5 ms in the main thread, and for 20 ms in the worker.
    const work = (await tableRows(page)).find((row) => row[3] === 'work');
    assert.match(work[0], /^25\.0 ms/);
    assert.match(work[1], /^50\.0 ms/);
    assert.deepEqual(faults, []);
  });

  it('show waiting apart from work and from idle time', async (t) => {
    const { browser, folder } = await start(t);
    // 100 to 139 ms: it waits for 30.5 ms, then runs for 9.5 ms, then is idle for 10 ms. One sample waits for half of
    // its time.
    const lines = [...Array(40).fill('main;wait'), ...Array(10).fill('')];
    const waitingTimes = { timestamps: [100, 130.5], values: [0, 30.5] };
    const waits = { ...trace(lines), waitingTimes };
    const { page, faults } = await open(
      browser,
      makeReport(folder, {
        'waits.json': threads([
          [{ name: 'main-thread' }, waits],
          [{ name: 'worker-1' }, SIMPLE],
        ]),
      }),
    );
    const labels = await page.$$eval('.lane', (all) => all.map((lane) => lane.getAttribute('aria-label')));
    assert.match(labels[1], /^main-thread: 40\.0 ms busy, \d+\.\d%, of which 30\.5 ms waiting$/);
    assert.doesNotMatch(labels[2], /waiting/);
    await page.click('#thread-0');
    assert.match(await textOf(page, '.summary'), /· 50 samples ·/);
    await showTab(page, 'Functions');
    const rows = await tableRows(page);
    assert.deepEqual(
      rows.map((row) => [row[3], row[0].split(' ms')[0], row[1].split(' ms')[0]]),
      [
        ['(waiting)', '30.5', '30.5'],
        ['wait', '9.5', '40.0'],
        ['main', '0', '40.0'],
      ],
    );
    assert.match(await textOf(page, '.timeline .visually-hidden'), /waiting \d+\.\d%, idle \d+\.\d%\.$/);
    assert.deepEqual(faults, []);
  });

  it('are shown alone after a click on a lane, or a key', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'three.json': THREE }));
    const names = async () => new Set((await tableRows(page)).map((row) => row[3]));
    await showTab(page, 'Functions');
    await page.click('#thread-1');
    assert.deepEqual(await names(), new Set(['main', 'work']));
    assert.equal(await textOf(page, '.lane[aria-selected=true] .lane-name span'), 'worker-1');
    assert.match(await textOf(page, '.timeline .visually-hidden'), /^Of 200 ms: running 10\.0%\.$/);
    await page.focus('.thread-lanes');
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await names(), new Set(['check']));
    assert.equal(await page.$eval('.thread-lanes', (list) => list.getAttribute('aria-activedescendant')), 'thread-2');
    await page.select('select[aria-label=Thread]', '-1');
    assert.equal((await names()).size, 6);
  });

  it('are one below the other in time order, on the time axis of the timeline', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'three.json': THREE }));
    const box = async (selector) => await (await page.$(selector)).boundingBox();
    for (const frame of [-1, 0]) {
      await page.evaluate((selected) => selfprofReport.state.selectFrame(selected), frame);
      await nextFrames(page);
      const [plot, boxes, lane] = [
        await box('.timeline .u-over'),
        await box('#view-time canvas'),
        await box('#thread-1 canvas'),
      ];
      for (const other of [boxes, lane]) {
        assert.ok(Math.abs(plot.x - other.x) <= 1, `left edges: ${plot.x}, ${other.x}`);
        assert.ok(Math.abs(plot.width - other.width) <= 1, `widths: ${plot.width}, ${other.width}`);
      }
    }
    await page.evaluate(() => selfprofReport.state.selectFrame(-1));
    await nextFrames(page);
    // The busiest thread comes first. Rows: a title, `check`, a title, three levels, a title, and two levels.
    const { x, y, width } = await box('#view-time canvas');
    const row = (index) => y + 22 + index * 18 + 9;
    const hovered = async (part, index) => {
      await page.mouse.move(x + width * part, row(index));
      return await page.$eval('#view-time .tooltip', (node) => (node.hidden ? '' : node.firstChild.textContent));
    };
    assert.equal(await hovered(0.05, 0), '');
    assert.equal(await hovered(0.75, 1), 'check');
    assert.equal(await hovered(0.05, 3), 'main');
    assert.equal(await hovered(0.15, 8), 'work');
    assert.equal(await hovered(0.05, 8), '');
    // Threads without calls in the selected range are left out.
    await page.evaluate(() => selfprofReport.state.selectRange({ start: 101, end: 118 }));
    await nextFrames(page);
    assert.equal(await hovered(0.5, 1), 'main');
    assert.equal(await hovered(0.5, 4), '');
  });

  it('select a time range by dragging over their lanes', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'three.json': THREE }));
    const { x, y, width } = await (await page.$('#thread-2 canvas')).boundingBox();
    await page.mouse.move(x + width / 2, y + 5);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.75, y + 5, { steps: 4 });
    await page.mouse.up();
    const { start: from, end } = await page.evaluate(() => selfprofReport.state.range);
    assert.ok(Math.abs(from - 199) < 1 && Math.abs(end - 249) < 1, `${from} to ${end}`);
    assert.equal(await page.evaluate(() => selfprofReport.state.selectedThread), -1);
    assert.equal(await page.$eval('.lane-range', (node) => node.hidden), false);
  });

  it('scroll if there are many, and the busiest are listed', async (t) => {
    const { browser, folder } = await start(t);
    const many = Array.from({ length: 230 }, (_, index) => [
      { name: `worker-${index}`, pid: 7, tid: index, command: 'node a.js' },
      trace(index < 20 ? ['', '', ''] : ['main', 'main', 'main']),
    ]);
    const { page, faults } = await open(browser, makeReport(folder, { 'many.json': threads(many) }));
    assert.equal((await lanes(page)).length, 201);
    assert.equal(await textOf(page, '.lane-rest'), '30 more threads, less busy than these');
    const { height } = await (await page.$('.thread-lanes')).boundingBox();
    assert.ok(height < 200, `${height} pixels high`);
    assert.deepEqual(faults, []);
  });

  it('are compared as a whole', async (t) => {
    const { browser, folder } = await start(t);
    const one = trace([...Array(60).fill('main'), ...Array(40).fill('main;check')]);
    const { page } = await open(browser, makeReport(folder, { 'three.json': THREE, 'one.json': one }));
    await showTab(page, 'Diff');
    const rows = await page.$$eval('.diff tbody tr', (all) =>
      all.map((row) => [...row.cells].map((cell) => cell.textContent)),
    );
    const check = rows.find((row) => row[4] === 'check' && row[1] !== '0.00%');
    // 100 of 170 busy samples.
    assert.equal(check[1], '58.82%');
  });

  it('come from several files with --together, each beginning at 0', async (t) => {
    const { browser, folder } = await start(t);
    const late = trace(Array(30).fill('draw'), { start: 90_000 });
    const file = makeReport(folder, { 'server.json': SIMPLE, 'client.json': late }, '--together');
    const { page, faults } = await open(browser, file);
    assert.deepEqual(
      (await lanes(page)).map(([name]) => name),
      ['All threads (2)', 'server.json', 'client.json'],
    );
    assert.equal(await page.title(), 'server.json, client.json – selfprof');
    assert.match(
      await textOf(page, '.notes'),
      /The files have no common time axis: the first sample of each file is at 0/,
    );
    const extent = await page.evaluate(() => selfprofReport.state.profile.extent);
    assert.deepEqual(extent, { start: 0, end: 60 });
    assert.equal((await textsOf(page, '[role=tab]')).includes('Diff'), false);
    assert.ok(fs.statSync(file).size > 0);
    assert.deepEqual(faults, []);
  });
});
