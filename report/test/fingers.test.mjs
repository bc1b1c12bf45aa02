// The report on a phone: fingers drag, pinch and tap; nothing needs a pointer that hovers.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SIMPLE, make, open, showTab, start, trace } from './browser.mjs';

const PHONE = { width: 390, height: 844, isPhone: true };

/** Fingers go down at some points, move to others in steps, and are lifted. */
async function touch(page, from, to = from) {
  const session = await page.createCDPSession();
  await page.evaluate(() => {
    globalThis.lifted = new Promise((resolve) => ['pointerup', 'pointercancel'].forEach((type) => addEventListener(type, resolve, { once: true })));
  });
  const send = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await send('touchStart', from);
  if (to !== from) {
    for (const part of [0.1, 0.4, 0.7, 1]) await send('touchMove', from.map(([x, y], index) => [x + (to[index][0] - x) * part, y + (to[index][1] - y) * part]));
  }
  await send('touchEnd', []);
  await page.evaluate(() => lifted);
  await session.detach();
}

async function boxOf(page, selector) {
  return await (await page.$(selector)).boundingBox();
}

const viewOf = (page) => page.evaluate(() => selfprofReport.report.view);

describe('fingers', () => {
  it('pinch a flame graph to zoom, and drag it', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, make(folder, { 'simple.json': SIMPLE }), PHONE);
    const { x, y, width } = await boxOf(page, '#view-time canvas');
    const middle = x + width / 2;
    const before = await viewOf(page);
    await touch(page, [[middle - 40, y + 90], [middle + 40, y + 90]], [[middle - 160, y + 90], [middle + 160, y + 90]]);
    const near = await viewOf(page);
    const factor = (before.end - before.start) / (near.end - near.start);
    assert.ok(factor > 3.5 && factor < 4.5, `zoomed by ${factor}`);
    // What was between the fingers is there still.
    assert.ok(Math.abs((near.start + near.end) / 2 - (before.start + before.end) / 2) < 1);
    await touch(page, [[middle + 50, y + 90]], [[middle - 50, y + 120]]);
    const moved = await viewOf(page);
    const expected = (100 * (near.end - near.start)) / width;
    assert.ok(Math.abs(moved.start - near.start - expected) < 1, `moved by ${moved.start - near.start} ms, not ${expected}`);
    assert.ok(Math.abs(moved.end - moved.start - (near.end - near.start)) < 1e-6);
    // Fingers that move choose nothing, and do not scroll the page.
    assert.equal(await page.evaluate(() => selfprofReport.state.frame), -1);
    assert.deepEqual(await page.evaluate(() => [scrollX, scrollY, visualViewport.scale]), [0, 0, 1]);
    assert.deepEqual(faults, []);
  });

  it('scroll a graph that is deeper than the screen', async (t) => {
    const { browser, folder } = await start(t);
    const deep = Array.from({ length: 80 }, (_, index) => `f${index}`).join(';');
    const { page } = await open(browser, make(folder, { 'deep.json': trace(Array(20).fill(deep)) }), PHONE);
    const { x, y, height } = await boxOf(page, '#view-time canvas');
    await touch(page, [[x + 100, y + height - 20]], [[x + 100, y + 20]]);
    await touch(page, [[x + 100, y + 40]]);
    await page.waitForFunction(() => selfprofReport.state.frame > 10);
  });

  it('tap a call, and see its details beside it', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }), PHONE);
    const { x, y, width } = await boxOf(page, '#view-time canvas');
    // The third row is that of `sum`, in the first third of the time.
    const at = [x + width / 6, y + 22 + 2 * 18 + 9];
    await touch(page, [at]);
    await page.waitForFunction(() => /^sum$/m.test(document.querySelector('.details').innerText));
    const details = await boxOf(page, '.details');
    assert.ok(details.y > at[1] && details.y + details.height <= 844.5, 'the details leave in sight what was tapped');
    assert.equal(await page.$eval('#view-time .tooltip', (node) => node.hidden), true);
    // Its callers and callees have the screen for themselves.
    const button = await boxOf(page, '.details button:not(.close)');
    await touch(page, [[button.x + button.width / 2, button.y + button.height / 2]]);
    await page.waitForFunction(() => selfprofReport.state.view === 'sandwich' && !document.querySelector('.details').checkVisibility());
    await showTab(page, 'Time order');
    const close = await boxOf(page, '.details .close');
    await touch(page, [[close.x + close.width / 2, close.y + close.height / 2]]);
    await page.waitForFunction(() => document.querySelector('.details').hidden);
  });

  it('select time: one drags, two hold both ends, a tap lets go', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }), PHONE);
    const { x, y, width } = await boxOf(page, '.timeline .u-over');
    const at = (part) => [x + width * part, y + 30];
    const range = () => page.evaluate(() => selfprofReport.state.range);
    const near = async (start, end) => {
      const selected = await range();
      assert.ok(Math.abs(selected.start - start) < 1 && Math.abs(selected.end - end) < 1, JSON.stringify(selected));
    };
    await touch(page, [at(0.5)], [at(0.25)]);
    await near(114, 129);
    // A selection moves nothing away from under the fingers.
    assert.ok(Math.abs((await boxOf(page, '.timeline .u-over')).y - y) < 2);
    await touch(page, [at(0.4), at(0.6)], [at(0.25), at(0.75)]);
    await near(114, 144);
    await touch(page, [at(0.1)]);
    assert.equal(await page.evaluate(() => selfprofReport.state.hasSelection), false);
    // Where nothing is selected, it chooses what ran.
    await touch(page, [at(0.1)]);
    await page.waitForFunction(() => /^sum$/m.test(document.querySelector('.details').innerText));
  });

  it('have room on all that they may press', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'one.json': SIMPLE, 'two.json': SIMPLE }), PHONE);
    const tooSmall = () =>
      page.$$eval('button, select, input, .rows .row, .diff tbody tr', (all) =>
        all
          .filter((one) => one.checkVisibility())
          .map((one) => ({ name: one.textContent || one.getAttribute('aria-label'), ...one.getBoundingClientRect().toJSON() }))
          .filter(({ width, height }) => width < 44 || height < 44),
      );
    for (const tab of ['Time order', 'Left heavy', 'Functions', 'Callers and callees', 'Difference']) {
      await showTab(page, tab);
      for (const frame of [-1, 1]) {
        await page.evaluate((chosen) => selfprofReport.state.choose(chosen), frame);
        assert.deepEqual(await tooSmall(), [], tab);
      }
    }
    await page.evaluate(() => selfprofReport.state.select({ start: 110, end: 120 }));
    await page.click('[aria-label="Keys and fingers"]');
    assert.deepEqual(await tooSmall(), []);
  });

  it('open what a trace is warned of', async (t) => {
    const { browser, folder } = await start(t);
    const broken = structuredClone(SIMPLE);
    broken.samples[3].stackId = 999;
    const { page } = await open(browser, make(folder, { 'broken.json': broken }), PHONE);
    const { x, y, width, height } = await boxOf(page, '.notes');
    await touch(page, [[x + width / 2, y + height / 2]]);
    await page.waitForFunction(() => /^1 problem in the file/.test(document.querySelector('dialog[open] li')?.innerText));
  });

  it('never find the page wider than a small phone', async (t) => {
    const { browser, folder } = await start(t);
    const long = trace([`main;${'averylongname'.repeat(40)}`, `${'x'.repeat(300)};y`], { resource: `https://a.test/${'folder/'.repeat(60)}app.js` });
    const { page } = await open(browser, make(folder, { [`${'trace-'.repeat(20)}.json`]: long, 'two.json': long }), { width: 360, height: 640, isPhone: true });
    for (const tab of ['Time order', 'Left heavy', 'Functions', 'Callers and callees', 'Difference']) {
      await showTab(page, tab);
      for (const frame of [1, 2]) {
        await page.evaluate((chosen) => selfprofReport.state.choose(chosen), frame);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360 && document.body.scrollWidth <= 360), `${tab} is wider than the phone`);
      }
    }
  });
});
