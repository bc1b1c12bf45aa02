// The report as its readers use it: clicks, keys, search, selections, themes, phones, and traces that mean harm.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { SIMPLE, make, open, rows, showTab, start, topJson, trace } from './browser.mjs';

const FIXTURE = path.join(import.meta.dirname, '..', '..', 'crates/formats/fixtures/w3c/chromium-156-markers-isolated.json');

/** Of the pixels of a picture, how many colours there are, and what part is of the most common one. */
async function colorsOf(paint, picture) {
  return await paint.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const counts = new Map();
    for (const color of new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)) counts.set(color, (counts.get(color) ?? 0) + 1);
    return { colors: counts.size, common: Math.max(...counts.values()) / (image.width * image.height) };
  }, picture);
}

/** A page that may fetch data: URLs, to look at pictures with. */
async function painter(browser) {
  const page = await browser.newPage();
  await page.goto('about:blank');
  return page;
}

describe('a report', () => {
  it('shows the times that `selfprof top` shows', async (t) => {
    const { browser, folder } = await start(t);
    const file = make(folder, { 'fixture.json': fs.readFileSync(FIXTURE, 'utf8') });
    const { page, faults } = await open(browser, file);
    const shown = await page.evaluate(() => {
      const { profile, sums } = selfprofReport.state;
      return Array.from({ length: profile.frameCount }, (_, frame) => ({ name: profile.functionName(frame), self: sums.self[frame], total: sums.total[frame], samples: sums.selfSamples[frame] }));
    });
    const { functions, busy } = topJson(folder, 'fixture.json');
    assert.ok(functions.length > 3);
    for (const { name, selfTime, totalTime, selfSamples } of functions) {
      const same = shown.find((row) => row.name === (name || '(anonymous)') && Math.abs(row.self - selfTime) < 1e-6 && Math.abs(row.total - totalTime) < 1e-6);
      assert.ok(same, `${name}: self ${selfTime}, total ${totalTime}`);
      assert.equal(same.samples, selfSamples);
    }
    assert.ok(Math.abs((await page.evaluate(() => selfprofReport.state.sums.busy)) - busy.time) < 1e-6);
    assert.deepEqual(faults, []);
  });

  it('is one small file that asks nothing of the network', async (t) => {
    const { browser, folder } = await start(t);
    const file = make(folder, { 'simple.json': SIMPLE });
    assert.ok(fs.statSync(file).size < 1_500_000);
    const text = fs.readFileSync(file, 'utf8');
    assert.doesNotMatch(text, /<(script|link|img)[^>]+(src|href)=["']?(https?:|\/)/);
    const { faults } = await open(browser, file);
    assert.deepEqual(faults, []);
  });

  it('draws all of its views, in the light and in the dark', async (t) => {
    const { browser, folder } = await start(t);
    const file = make(folder, { 'fixture.json': fs.readFileSync(FIXTURE, 'utf8'), 'simple.json': SIMPLE });
    const paint = await painter(browser);
    for (const scheme of ['light', 'dark']) {
      const { page, faults } = await open(browser, file, { scheme });
      await page.evaluate(() => selfprofReport.state.choose(0));
      for (const tab of ['Time order', 'Left heavy', 'Functions', 'Callers and callees', 'Difference']) {
        await showTab(page, tab);
        // Canvases draw in the next frames.
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve)))));
        const shot = await (await page.$('.views')).screenshot({ encoding: 'base64' });
        const { colors, common } = await colorsOf(paint, shot);
        assert.ok(colors > 10 && common < 0.995, `${tab} in the ${scheme}: ${colors} colours, ${common} of one`);
      }
      assert.deepEqual(faults, []);
      await page.close();
    }
  });

  it('follows a selection of time in all views', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }));
    await showTab(page, 'Functions');
    assert.deepEqual((await rows(page)).map((row) => row[3]), ['sum', 'draw', 'work', 'main']);
    // The first 20 ms belong to `sum`.
    const area = await (await page.$('.timeline .u-over')).boundingBox();
    const x = (part) => area.x + area.width * part;
    await page.mouse.move(x(0.01), area.y + 20);
    await page.mouse.down();
    await page.mouse.move(x(0.15), area.y + 20, { steps: 4 });
    await page.mouse.move(x(0.3), area.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => selfprofReport.state.hasSelection);
    const selected = await rows(page);
    assert.deepEqual(new Set(selected.map((row) => row[3])), new Set(['sum', 'work', 'main']));
    assert.match(await page.$eval('.summary', (node) => node.textContent), /selected/);
    const [sum] = selected;
    await showTab(page, 'Left heavy');
    const width = await page.evaluate(() => selfprofReport.state.sums.busy);
    assert.ok(width > 15 && width < 20, `${width} ms are selected`);
    assert.match(sum[0], /100\.0 %/);
    // Escape lets go of it.
    await page.keyboard.press('Escape');
    await showTab(page, 'Functions');
    assert.equal((await rows(page)).length, 4);
  });

  it('selects the time of a measure on a click, and lets go of it on the next', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }));
    const { x, y } = await page.evaluate(() => {
      const plot = document.querySelector('.timeline .u-over').getBoundingClientRect();
      const root = document.querySelector('.timeline').getBoundingClientRect();
      // 20 ms after the first sample, which is in the measure; the row of measures is the last one.
      return { x: plot.left + (plot.width * 21) / 60, y: root.bottom - 12 };
    });
    await page.mouse.move(x, y);
    await page.waitForFunction(() => /^render25\.0 ms/.test(document.querySelector('.timeline .tooltip').textContent));
    await page.mouse.click(x, y);
    assert.deepEqual(await page.evaluate(() => selfprofReport.state.range), { start: 110, end: 135 });
    await page.mouse.click(x, y - 50);
    assert.equal(await page.evaluate(() => selfprofReport.state.hasSelection), false);
  });

  it('finds functions by name and by file', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }));
    await page.keyboard.press('3');
    await page.keyboard.press('/');
    await page.keyboard.type('ra');
    assert.deepEqual((await rows(page)).map((row) => row[3]), ['draw']);
    assert.match(await page.$eval('.table .foot', (node) => node.textContent), /1 function that matches “ra”/);
    await page.$eval('input[type=search]', (node) => node.select());
    await page.keyboard.type('app.js:2');
    assert.deepEqual((await rows(page)).map((row) => row[3]), ['work']);
  });

  it('tells of a chosen function who calls it and what it calls', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }));
    await page.keyboard.press('3');
    await page.focus('.rows');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const details = await page.$eval('.details', (node) => node.innerText);
    assert.match(details, /^work$/m);
    assert.match(details, /app\.js:2:3/);
    assert.match(details, /Called by\s+main\s+100\.0 %/);
    assert.match(details, /Calls\s+sum\s+66\.7 %/);
    await page.keyboard.press('Enter');
    assert.equal(await page.$eval('.sandwich h2', (node) => node.textContent.split(' ')[0]), 'work');
    assert.equal(await page.$eval('[role=tab][aria-selected=true]', (node) => node.textContent), 'Callers and callees');
  });

  it('shows the source where a source map holds it', async (t) => {
    const { browser, folder } = await start(t);
    // `a` of the bundle is `total` of the source, a line further down.
    const map = { version: 3, sources: ['src/cart.ts'], names: [], mappings: 'AACA,SAAS', sourcesContent: ['// <img src=x onerror=alert(1)>\nfunction total(cart) {\n  return cart.sum;\n}\n'] };
    const bundle = path.join(folder, 'bundle.js');
    fs.writeFileSync(bundle, `function a(b){return b.sum}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}\n`);
    const minified = trace(Array(9).fill('a'), { resource: `file://${bundle}` });
    Object.assign(minified.frames[0], { line: 1, column: 11 });
    const { page, faults } = await open(browser, make(folder, { 'minified.json': minified }));
    await page.evaluate(() => selfprofReport.state.choose(0));
    const details = await page.$eval('.details', (node) => node.innerText);
    assert.match(details, /^total$/m);
    assert.match(details, /src\/cart\.ts:2:\d+/);
    assert.match(await page.$eval('.source .here', (node) => node.textContent), /function total\(cart\) \{/);
    assert.equal(await page.$eval('.source .here', (node) => node.dataset.line), '2');
    assert.deepEqual(faults, []);
  });

  it('tells of the call under the pointer, and chooses it on a click', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }));
    const area = await (await page.$('#view-time canvas')).boundingBox();
    // The third row is that of `sum`, in the first third of the time.
    const [x, y] = [area.x + area.width / 6, area.y + 20 + 2 * 18 + 9];
    await page.mouse.move(x, y);
    await page.mouse.move(x + 2, y);
    await page.waitForFunction(() => !document.querySelector('#view-time .tooltip').hidden);
    assert.match(await page.$eval('#view-time .tooltip', (node) => node.textContent), /^sum.*app\.js:3:3.*20\.0 ms/);
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForFunction(() => selfprofReport.state.frame !== -1);
    assert.match(await page.$eval('.details', (node) => node.innerText), /^sum$/m);
  });

  it('compares two traces and tells noise from change', async (t) => {
    const { browser, folder } = await start(t);
    // Calls of one sample each, in turns: samples of one long call would count as one event.
    const many = (sum, draw, other) => {
      const lines = [...Array(sum).fill('main;sum'), ...Array(draw).fill('main;draw'), ...Array(other).fill('main;other')];
      return trace(lines.map((_, index) => lines[(index * 577) % lines.length]));
    };
    const file = make(folder, { 'before.json': many(500, 480, 20), 'after.json': many(500, 780, 22) });
    const { page, faults } = await open(browser, file);
    await showTab(page, 'Difference');
    const list = await page.$$eval('.diff tbody tr', (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const by = Object.fromEntries(list.map((row) => [row[4], row]));
    assert.equal(by.draw[3], 'no');
    assert.match(by.draw[0], /^\+1\d\.\d\d %$/);
    assert.equal(by.other[3], 'maybe');
    assert.deepEqual(faults, []);
  });

  it('searches two traces as it searches one', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'before.json': SIMPLE, 'after.json': SIMPLE }));
    await showTab(page, 'Difference');
    await page.keyboard.press('/');
    // Words in any order, of the name or of the file.
    await page.keyboard.type('app.js sum');
    assert.deepEqual(await page.$$eval('.diff td.name', (all) => all.map((cell) => cell.textContent)), ['sum']);
    assert.match(await page.$eval('.found', (node) => node.textContent), /^1, self 40\.0 %$/);
  });

  it('shows a function of two traces in both graphs', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'before.json': SIMPLE, 'after.json': SIMPLE }));
    await showTab(page, 'Difference');
    const area = await (await page.$('.diff figure canvas')).boundingBox();
    // The row of `main`.
    await page.mouse.click(area.x + area.width / 4, area.y + 30);
    await page.waitForFunction(() => document.querySelector('.diff tr[aria-selected=true] .name')?.textContent === 'main');
    await page.focus('.diff tr[aria-selected=true]');
    await page.keyboard.press('Enter');
    assert.equal(await page.$('.diff tr[aria-selected=true]'), null);
  });

  it('can be read on a phone', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, make(folder, { 'simple.json': SIMPLE }), { width: 390, height: 780 });
    for (const key of ['1', '2', '3', '4']) {
      await page.keyboard.press(key);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `view ${key} is wider than the phone`);
    }
    assert.deepEqual(faults, []);
  });

  it('never runs what a trace says', async (t) => {
    const { browser, folder } = await start(t);
    const evil = trace(['<img src=x onerror=alert(1)>;</script><script>alert(2)</script>', '</script><script>alert(3)</script>', '"><svg onload=alert(4)>'], {
      resource: 'javascript:alert(5)//</script><script>alert(6)</script>',
    });
    evil.entries = [{ entryType: 'measure', name: '</script><script>alert(7)</script>', startTime: 100, duration: 1 }];
    const { page, faults } = await open(browser, make(folder, { '<b>evil.json': evil, 'second.json': evil }));
    for (const key of ['1', '2', '3', '4', '5']) {
      await page.keyboard.press(key);
      await page.evaluate(() => selfprofReport.state.choose(0));
    }
    assert.equal(await page.$$eval('#app script, #app img, #app svg, #app b', (all) => all.length), 0);
    assert.match(await page.title(), /<b>evil\.json/);
    assert.deepEqual(faults, []);
  });

  it('shows a trace without samples, and one without functions', async (t) => {
    const { browser, folder } = await start(t);
    for (const lines of [[], [''], ['', '@gc', '@gc']]) {
      const { page, faults } = await open(browser, make(folder, { 'small.json': trace(lines) }));
      for (const key of ['1', '2', '3', '4']) await page.keyboard.press(key);
      assert.equal(await page.$('.failure'), null);
      await showTab(page, 'Time order');
      assert.match(await page.$eval('#view-time .hint', (node) => node.innerText), /^Nothing ran/);
      assert.deepEqual(faults, []);
      await page.close();
    }
  });
});
