// The report on a phone: fingers drag, pinch and tap, and nothing needs a pointer that hovers.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { makeReport, open, SIMPLE, showTab, start, TABS, trace } from './browser.mjs';

const PHONE = { width: 390, height: 844, isPhone: true };

/** Touches the page with one finger per point in `from`, moves the fingers to the points in `to`, and lifts them. */
async function touch(page, from, to = from) {
  const session = await page.createCDPSession();
  await page.evaluate(() => {
    globalThis.lifted = new Promise((resolve) => {
      for (const type of ['pointerup', 'pointercancel']) addEventListener(type, resolve, { once: true });
    });
  });
  const send = (type, points) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await send('touchStart', from);
  if (to !== from) {
    for (const part of [0.1, 0.4, 0.7, 1])
      await send(
        'touchMove',
        from.map(([x, y], index) => [x + (to[index][0] - x) * part, y + (to[index][1] - y) * part]),
      );
  }
  await send('touchEnd', []);
  await page.evaluate(() => lifted);
  await session.detach();
}

async function boxOf(page, selector) {
  return await (await page.$(selector)).boundingBox();
}

const visibleRangeOf = (page) => page.evaluate(() => selfprofReport.report.visibleRange);

describe('touch', () => {
  it('zooms a flame graph by pinching, and pans it by dragging', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }), PHONE);
    const { x, y, width } = await boxOf(page, '#view-time canvas');
    const middle = x + width / 2;
    const before = await visibleRangeOf(page);
    await touch(
      page,
      [
        [middle - 40, y + 90],
        [middle + 40, y + 90],
      ],
      [
        [middle - 160, y + 90],
        [middle + 160, y + 90],
      ],
    );
    const zoomed = await visibleRangeOf(page);
    const factor = (before.end - before.start) / (zoomed.end - zoomed.start);
    assert.ok(factor > 3.5 && factor < 4.5, `zoomed by ${factor}`);
    // The time between the fingers stays there.
    assert.ok(Math.abs((zoomed.start + zoomed.end) / 2 - (before.start + before.end) / 2) < 1);
    await touch(page, [[middle + 50, y + 90]], [[middle - 50, y + 120]]);
    const moved = await visibleRangeOf(page);
    const expected = (100 * (zoomed.end - zoomed.start)) / width;
    assert.ok(
      Math.abs(moved.start - zoomed.start - expected) < 1,
      `moved by ${moved.start - zoomed.start} ms, not ${expected}`,
    );
    assert.ok(Math.abs(moved.end - moved.start - (zoomed.end - zoomed.start)) < 1e-6);
    // Moving fingers neither select a function nor scroll the page.
    assert.equal(await page.evaluate(() => selfprofReport.state.selectedFrame), -1);
    assert.deepEqual(await page.evaluate(() => [scrollX, scrollY, visualViewport.scale]), [0, 0, 1]);
    assert.deepEqual(faults, []);
  });

  it('scrolls a flame graph that is deeper than the screen', async (t) => {
    const { browser, folder } = await start(t);
    const deep = Array.from({ length: 80 }, (_, index) => `f${index}`).join(';');
    const { page } = await open(browser, makeReport(folder, { 'deep.json': trace(Array(20).fill(deep)) }), PHONE);
    const { x, y, height } = await boxOf(page, '#view-time canvas');
    await touch(page, [[x + 100, y + height - 20]], [[x + 100, y + 20]]);
    await touch(page, [[x + 100, y + 40]]);
    await page.waitForFunction(() => selfprofReport.state.selectedFrame > 10);
  });

  it('shows the details of a tapped function without covering it', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }), PHONE);
    const { x, y, width } = await boxOf(page, '#view-time canvas');
    // `sum` is in the third row, and runs in the first third of the time.
    const at = [x + width / 6, y + 22 + 2 * 18 + 9];
    await touch(page, [at]);
    await page.waitForFunction(() => document.querySelector('.details h2')?.textContent === 'sum');
    const details = await boxOf(page, '.details');
    assert.ok(details.y > at[1] && details.y + details.height <= 844.5, 'the details cover the tapped box');
    assert.equal(await page.$eval('#view-time .tooltip', (node) => node.hidden), true);
    // The callers and callees get the whole screen.
    const button = await boxOf(page, '.details .button');
    await touch(page, [[button.x + button.width / 2, button.y + button.height / 2]]);
    await page.waitForFunction(
      () => selfprofReport.state.view === 'sandwich' && !document.querySelector('.details').checkVisibility(),
    );
    await showTab(page, 'Time order');
    const close = await boxOf(page, '.details .close');
    await touch(page, [[close.x + close.width / 2, close.y + close.height / 2]]);
    await page.waitForFunction(() => document.querySelector('.details').hidden);
  });

  it('selects a time range with one finger or two, and clears it with a tap', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }), PHONE);
    const { x, y, width } = await boxOf(page, '.timeline .u-over');
    const at = (part) => [x + width * part, y + 30];
    const range = () => page.evaluate(() => selfprofReport.state.range);
    const near = async (start, end) => {
      const selected = await range();
      assert.ok(Math.abs(selected.start - start) < 1 && Math.abs(selected.end - end) < 1, JSON.stringify(selected));
    };
    await touch(page, [at(0.5)], [at(0.25)]);
    await near(114, 129);
    // The layout stays where it is when a range is selected.
    assert.ok(Math.abs((await boxOf(page, '.timeline .u-over')).y - y) < 2);
    await touch(page, [at(0.4), at(0.6)], [at(0.25), at(0.75)]);
    await near(114, 144);
    await touch(page, [at(0.1)]);
    assert.equal(await page.evaluate(() => selfprofReport.state.hasSelectedRange), false);
    // Without a selected range, a tap selects the function that ran.
    await touch(page, [at(0.1)]);
    await page.waitForFunction(() => document.querySelector('.details h2')?.textContent === 'sum');
  });

  it('has controls large enough for fingers', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'one.json': SIMPLE, 'two.json': SIMPLE }), PHONE);
    const tooSmall = () =>
      page.$$eval('button, select, input:not([type=checkbox]), label, .rows .row, .diff tbody tr', (all) =>
        all
          .filter((one) => one.checkVisibility())
          .map((one) => ({
            name: one.textContent || one.getAttribute('aria-label'),
            ...one.getBoundingClientRect().toJSON(),
          }))
          .filter(({ width, height }) => width < 44 || height < 44),
      );
    for (const tab of TABS) {
      await showTab(page, tab);
      for (const frame of [-1, 1]) {
        await page.evaluate((selected) => selfprofReport.state.selectFrame(selected), frame);
        assert.deepEqual(await tooSmall(), [], tab);
      }
    }
    await page.evaluate(() => selfprofReport.state.selectRange({ start: 110, end: 120 }));
    await page.click('[aria-label^="Keyboard"]');
    assert.deepEqual(await tooSmall(), []);
  });

  it('opens the notes on a trace', async (t) => {
    const { browser, folder } = await start(t);
    const broken = structuredClone(SIMPLE);
    broken.samples[3].stackId = 999;
    const { page } = await open(browser, makeReport(folder, { 'broken.json': broken }), PHONE);
    const { x, y, width, height } = await boxOf(page, '.notes');
    await touch(page, [[x + width / 2, y + height / 2]]);
    await page.waitForFunction(() =>
      /^1 problem in the file/.test(document.querySelector('dialog[open] li')?.textContent),
    );
  });

  it('is never wider than a small phone', async (t) => {
    const { browser, folder } = await start(t);
    const long = trace([`main;${'averylongname'.repeat(40)}`, `${'x'.repeat(300)};y`], {
      resource: `https://a.test/${'folder/'.repeat(60)}app.js`,
    });
    const { page } = await open(
      browser,
      makeReport(folder, { [`${'trace-'.repeat(20)}.json`]: long, 'two.json': long }),
      {
        width: 360,
        height: 640,
        isPhone: true,
      },
    );
    for (const tab of TABS) {
      await showTab(page, tab);
      for (const frame of [1, 2]) {
        await page.evaluate((selected) => selfprofReport.state.selectFrame(selected), frame);
        assert.ok(
          await page.evaluate(() => document.documentElement.scrollWidth <= 360 && document.body.scrollWidth <= 360),
          `${tab} is wider than the phone`,
        );
      }
    }
  });
});
