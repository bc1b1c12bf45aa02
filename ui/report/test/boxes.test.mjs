// The boxes of flame graphs: zooming by click, tooltips, recursion, and arrow keys.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { makeReport, nextFrames, open, SIMPLE, showTab, start, textOf, textsOf, threads, trace } from './browser.mjs';

const visible = (page) => page.evaluate(() => selfprofReport.report.visibleRange);
const selected = (page) =>
  page.evaluate(() => {
    const { selectedFrame, profile } = selfprofReport.state;
    return selectedFrame === -1 ? '' : profile.functionName(selectedFrame);
  });

/** Moves the pointer to a part of the width in a row of the flame graph in time order. */
async function pointAt(page, part, row) {
  const { x, y, width } = await (await page.$('#view-time canvas')).boundingBox();
  await page.mouse.move(x + width * part, y + 22 + row * 18 + 9);
}

describe('boxes', () => {
  it('are drawn again after the graph had no room', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    await nextFrames(page);
    const before = await visible(page);
    for (const width of ['10px', '']) {
      await page.$eval('#view-time', (root, to) => root.style.setProperty('width', to), width);
      await nextFrames(page);
    }
    assert.deepEqual(await visible(page), before);
    assert.deepEqual(faults, []);
  });

  it('are zoomed into by a click, and left by a double click, Escape or a button', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    const near = async (from, to) => {
      const range = await visible(page);
      assert.ok(Math.abs(range.start - from) < 0.5 && Math.abs(range.end - to) < 0.5, JSON.stringify(range));
    };
    const click = async (part, row, options) => {
      // The details of the selected function have changed the width.
      await nextFrames(page);
      await pointAt(page, part, row);
      await page.mouse.down(options);
      await page.mouse.up(options);
    };
    await near(99, 159);
    // `work`, and in it `sum`.
    await click(0.1, 1);
    await near(99, 129);
    assert.equal(await selected(page), 'work');
    await click(0.1, 2);
    await near(99, 119);
    assert.equal(await selected(page), 'sum');
    await page.keyboard.press('Escape');
    await near(99, 129);
    assert.equal(await selected(page), 'sum');
    await page.click('#view-time .zoom-out');
    await near(99, 159);
    assert.equal(await page.$eval('#view-time .zoom-out', (button) => button.hidden), true);
    await page.keyboard.press('Escape');
    assert.equal(await selected(page), '');
    // A double click on `draw` selects it, without zooming in the end.
    await click(0.7, 1);
    await near(129, 149);
    await click(0.7, 1, { clickCount: 2 });
    await near(99, 159);
    assert.equal(await selected(page), 'draw');
    assert.deepEqual(faults, []);
  });

  it('have a tooltip, which disappears while someone types', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    const isShown = () => page.$eval('#view-time .tooltip', (node) => !node.hidden);
    await pointAt(page, 0.1, 2);
    await page.waitForFunction(() => !document.querySelector('#view-time .tooltip').hidden);
    await page.keyboard.press('/');
    assert.equal(await isShown(), false);
    await pointAt(page, 0.11, 2);
    assert.equal(await isShown(), true);
    await page.keyboard.type('d');
    assert.equal(await isShown(), false);
  });

  it('of a recursive function are told apart by their place', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(
      browser,
      makeReport(folder, { 'recursive.json': trace(Array(20).fill('main;walk;visit;walk;visit;walk')) }),
    );
    const place = async (row) => {
      await pointAt(page, 0.5, row);
      return (await textsOf(page, '#view-time .tooltip div')).at(-1);
    };
    assert.equal(await place(0), 'Depth 1');
    assert.equal(await place(1), 'Depth 2');
    assert.equal(await place(3), 'Depth 4, 2nd call of this function on the path (recursive)');
    assert.equal(await place(5), 'Depth 6, 3rd call of this function on the path (recursive)');
  });

  it('are walked by arrow keys, named for screen readers, and selected by Enter', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    const press = async (key) => {
      await page.keyboard.press(key);
      return await textOf(page, '#view-time [role=status]');
    };
    await page.focus('#view-time canvas');
    assert.equal(
      await press('ArrowDown'),
      'main, https://a.test/app.js:1:3, 50.0 ms, starts at 99.0 ms, ' +
        'All calls of the function: 0 ms self time (0.0%), 50.0 ms total time, Depth 1',
    );
    assert.match(await press('ArrowDown'), /^work, .*5\.0 ms self time \(10\.0%\), 30\.0 ms total time, Depth 2$/);
    assert.match(await press('ArrowDown'), /^sum, .*Depth 3$/);
    assert.match(await press('ArrowRight'), /^\(garbage collector\), /);
    assert.match(await press('ArrowLeft'), /^sum, /);
    assert.match(await press('ArrowUp'), /^work, /);
    assert.match(await press('ArrowRight'), /^draw, /);
    // There is nothing further right.
    assert.match(await press('ArrowRight'), /^draw, /);
    assert.equal(await selected(page), '');
    await press('Enter');
    assert.equal(await selected(page), 'draw');
    assert.ok((await visible(page)).start > 128);
    assert.equal(await page.$eval('#view-time canvas', (canvas) => canvas.getAttribute('role')), 'application');
  });

  it('that are too narrow to be seen are zoomed into by arrow keys', async (t) => {
    const { browser, folder } = await start(t);
    const lines = [...Array(5000).fill('main;long'), 'main;short', ...Array(5000).fill('main;other')];
    const { page } = await open(browser, makeReport(folder, { 'narrow.json': trace(lines) }));
    await page.focus('#view-time canvas');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    const name = (await textOf(page, '#view-time [role=status]')).split(',')[0];
    assert.equal(name, (await selected(page)) || 'short');
    const { start: from, end } = await visible(page);
    assert.ok(end - from < 100 && from < 5100 && end > 5099, `${from} to ${end}`);
  });

  it('of several threads are reached by page keys', async (t) => {
    const { browser, folder } = await start(t);
    const file = threads([
      [{ name: 'main-thread' }, trace(Array(10).fill('first;a'))],
      [{ name: 'worker-1' }, trace(Array(10).fill('second;b'))],
    ]);
    const { page } = await open(browser, makeReport(folder, { 'two.json': file }));
    await page.focus('#view-time canvas');
    const press = async (key) => {
      await page.keyboard.press(key);
      return (await textOf(page, '#view-time [role=status]')).split(',')[0];
    };
    assert.equal(await press('ArrowDown'), 'first');
    assert.equal(await press('ArrowDown'), 'a');
    // The title of the next thread is no box.
    assert.equal(await press('ArrowDown'), 'a');
    assert.equal(await press('PageDown'), 'second');
    assert.equal(await press('ArrowUp'), 'second');
    assert.equal(await press('PageUp'), 'first');
  });

  it('say what to do before a function is selected', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    await showTab(page, 'Callers and callees');
    assert.match(await textOf(page, '.sandwich .hint'), /No function is selected\..*Click a box/);
    assert.deepEqual(await textsOf(page, '.sandwich .hint button'), ['sum', 'draw', 'work', '(garbage collector)']);
    await page.click('.sandwich .hint button');
    assert.equal(await selected(page), 'sum');
    assert.match(await textOf(page, '.sandwich h2'), /^sum/);
  });
});
