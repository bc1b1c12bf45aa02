// The report in a browser: views, search, selections, themes, phones, and hostile traces.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import {
  FIXTURE,
  makeReport,
  nextFrames,
  open,
  SIMPLE,
  showTab,
  start,
  TABS,
  tableRows,
  textOf,
  textsOf,
  topJson,
  trace,
} from './browser.mjs';

/** The number of colors in a screenshot, and the share of its most common color. */
async function colorsOf(paint, picture) {
  return await paint.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const counts = new Map();
    for (const color of new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer))
      counts.set(color, (counts.get(color) ?? 0) + 1);
    return { colors: counts.size, common: Math.max(...counts.values()) / (image.width * image.height) };
  }, picture);
}

/** A page without a content security policy, which can fetch the data: URL of a screenshot. */
async function painter(browser) {
  const page = await browser.newPage();
  await page.goto('about:blank');
  return page;
}

describe('a report', () => {
  it('shows the times that `selfprof top` shows', async (t) => {
    const { browser, folder } = await start(t);
    const file = makeReport(folder, { 'fixture.json': fs.readFileSync(FIXTURE, 'utf8') });
    const { page, faults } = await open(browser, file);
    const shown = await page.evaluate(() => {
      const { profile, totals } = selfprofReport.state;
      return Array.from({ length: profile.frameCount }, (_, frame) => ({
        name: profile.functionName(frame),
        self: totals.self[frame],
        total: totals.total[frame],
        samples: totals.selfSamples[frame],
      }));
    });
    const { functions, busy } = topJson(folder, 'fixture.json');
    assert.ok(functions.length > 3);
    for (const { name, selfTime, totalTime, selfSamples } of functions) {
      const same = shown.find(
        (row) =>
          row.name === (name || '(anonymous)') &&
          Math.abs(row.self - selfTime) < 1e-6 &&
          Math.abs(row.total - totalTime) < 1e-6,
      );
      assert.ok(same, `${name}: self ${selfTime}, total ${totalTime}`);
      assert.equal(same.samples, selfSamples);
    }
    assert.ok(Math.abs((await page.evaluate(() => selfprofReport.state.totals.busy)) - busy.time) < 1e-6);
    assert.deepEqual(faults, []);
  });

  it('shows inferred names of anonymous functions with a star and an explanation', async (t) => {
    const { browser, folder } = await start(t);
    const script = path.join(folder, 'app.js');
    fs.writeFileSync(script, '\na.b = function () {};');
    const file = makeReport(folder, {
      'inferred.json': {
        resources: [script],
        frames: [
          { name: '', resourceId: 0, line: 2, column: 16 },
          { name: '', resourceId: 0, line: 2, column: 17 },
        ],
        stacks: [{ frameId: 0 }, { frameId: 1 }],
        samples: [{ timestamp: 1 }, { timestamp: 2, stackId: 0 }, { timestamp: 3, stackId: 1 }],
      },
    });
    const { page, faults } = await open(browser, file);
    const names = await page.evaluate(() =>
      [0, 1].map((frame) => {
        selfprofReport.state.selectFrame(frame);
        return [selfprofReport.state.profile.functionName(frame), document.querySelector('.details')?.innerText];
      }),
    );
    assert.deepEqual(
      names.map(([name, details]) => [name, details.includes('* inferred from the source')]),
      [
        ['a.b*', true],
        ['(anonymous)', false],
      ],
    );
    assert.deepEqual(faults, []);
  });

  it('is one small file without network requests', async (t) => {
    const { browser, folder } = await start(t);
    const file = makeReport(folder, { 'simple.json': SIMPLE });
    assert.ok(fs.statSync(file).size < 1_500_000);
    const text = fs.readFileSync(file, 'utf8');
    assert.doesNotMatch(text, /<(script|link|img)[^>]+(src|href)=["']?(https?:|\/)/);
    const { faults } = await open(browser, file);
    assert.deepEqual(faults, []);
  });

  it('draws every view in both themes', async (t) => {
    const { browser, folder } = await start(t);
    const file = makeReport(folder, { 'fixture.json': fs.readFileSync(FIXTURE, 'utf8'), 'simple.json': SIMPLE });
    const paint = await painter(browser);
    for (const scheme of ['light', 'dark']) {
      const { page, faults } = await open(browser, file, { scheme });
      await page.evaluate(() => selfprofReport.state.selectFrame(0));
      for (const tab of TABS) {
        await showTab(page, tab);
        // A busy machine may take a screenshot before everything is painted.
        for (let attempt = 1, isDrawn = false; !isDrawn; attempt++) {
          await nextFrames(page);
          const shot = await (await page.$('.views')).screenshot({ encoding: 'base64' });
          const { colors, common } = await colorsOf(paint, shot);
          isDrawn = colors > 10 && common < 0.995;
          const found = `${tab}, ${scheme}: ${colors} colors, ${common} of the pixels have the same`;
          assert.ok(isDrawn || attempt < 20, found);
        }
      }
      assert.deepEqual(faults, []);
      await page.close();
    }
  });

  it('applies a selected time range to all views', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    await showTab(page, 'Functions');
    assert.deepEqual(
      (await tableRows(page)).map((row) => row[3]),
      ['sum', 'draw', 'work', '(garbage collector)', 'main'],
    );
    // The first 20 ms belong to `sum`.
    const area = await (await page.$('.timeline .u-over')).boundingBox();
    const x = (part) => area.x + area.width * part;
    await page.mouse.move(x(0.01), area.y + 20);
    await page.mouse.down();
    await page.mouse.move(x(0.15), area.y + 20, { steps: 4 });
    await page.mouse.move(x(0.3), area.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => selfprofReport.state.hasSelectedRange);
    const selected = await tableRows(page);
    assert.deepEqual(new Set(selected.map((row) => row[3])), new Set(['sum', 'work', 'main']));
    assert.match(await textOf(page, '.summary'), /selected/);
    const [sum] = selected;
    await showTab(page, 'Left heavy');
    const width = await page.evaluate(() => selfprofReport.state.totals.busy);
    assert.ok(width > 15 && width < 20, `${width} ms are selected`);
    assert.match(sum[0], /100\.0%/);
    // Escape clears the range.
    await page.keyboard.press('Escape');
    await showTab(page, 'Functions');
    assert.equal((await tableRows(page)).length, 5);
  });

  it('selects the time of a clicked measure, and clears it with a click elsewhere', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    const { x, y } = await page.evaluate(() => {
      const plot = document.querySelector('.timeline .u-over').getBoundingClientRect();
      const root = document.querySelector('.timeline').getBoundingClientRect();
      // A time in the middle of the measure. Measures are in the last row.
      return { x: plot.left + (plot.width * 21) / 60, y: root.bottom - 12 };
    });
    await page.mouse.move(x, y);
    await page.waitForFunction(() =>
      /^rendermeasure, 25\.0 ms/.test(document.querySelector('.timeline .tooltip').textContent),
    );
    await page.mouse.click(x, y);
    assert.deepEqual(await page.evaluate(() => selfprofReport.state.range), { start: 110, end: 135 });
    await page.mouse.click(x, y - 50);
    assert.equal(await page.evaluate(() => selfprofReport.state.hasSelectedRange), false);
  });

  it('finds functions by name and by location', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    await page.keyboard.press('3');
    await page.keyboard.press('/');
    await page.keyboard.type('ra');
    assert.deepEqual(
      (await tableRows(page)).map((row) => row[3]),
      ['draw'],
    );
    assert.match(await textOf(page, '.function-table .footer'), /^1 function matching “ra”/);
    await page.$eval('input[type=search]', (node) => node.select());
    await page.keyboard.type('app.js:2');
    assert.deepEqual(
      (await tableRows(page)).map((row) => row[3]),
      ['work'],
    );
  });

  it('shows the callers and callees of the selected function', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    await page.keyboard.press('3');
    await page.focus('.rows');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await textOf(page, '.details h2'), 'work');
    assert.match(await textOf(page, '.details .location'), /app\.js:2:3$/);
    assert.deepEqual(await textsOf(page, '.details h3'), ['Callers', 'Callees']);
    assert.deepEqual(await textsOf(page, '.details ul'), ['main100.0%', 'sum66.7%(garbage collector)16.7%']);
    await page.keyboard.press('Enter');
    assert.equal((await textOf(page, '.sandwich h2')).split(' ')[0], 'work');
    assert.equal(await textOf(page, '[role=tab][aria-selected=true]'), 'Callers and callees');
  });

  it('shows the source that a source map contains', async (t) => {
    const { browser, folder } = await start(t);
    // The function `a` of the bundle is `total` in the second line of the source.
    const map = {
      version: 3,
      sources: ['src/cart.ts'],
      names: [],
      mappings: 'AACA,SAAS',
      sourcesContent: ['// <img src=x onerror=alert(1)>\nfunction total(cart) {\n  return cart.sum;\n}\n'],
    };
    const bundle = path.join(folder, 'bundle.js');
    fs.writeFileSync(
      bundle,
      `function a(b){return b.sum}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}\n`,
    );
    const minified = trace(Array(9).fill('a'), { resource: `file://${bundle}` });
    Object.assign(minified.frames[0], { line: 1, column: 11 });
    const { page, faults } = await open(browser, makeReport(folder, { 'minified.json': minified }));
    await page.evaluate(() => selfprofReport.state.selectFrame(0));
    assert.equal(await textOf(page, '.details h2'), 'total');
    assert.match(await textOf(page, '.details .location'), /src\/cart\.ts:2:\d+$/);
    assert.match(await textOf(page, '.source .definition'), /function total\(cart\) \{/);
    assert.equal(await page.$eval('.source .definition', (node) => node.dataset.line), '2');
    assert.deepEqual(faults, []);
  });

  it('describes the hovered call, and selects the function of the clicked one', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    const area = await (await page.$('#view-time canvas')).boundingBox();
    // `sum` is in the third row, and runs in the first third of the time.
    const [x, y] = [area.x + area.width / 6, area.y + 20 + 2 * 18 + 9];
    await page.mouse.move(x, y);
    await page.mouse.move(x + 2, y);
    await page.waitForFunction(() => !document.querySelector('#view-time .tooltip').hidden);
    assert.match(await textOf(page, '#view-time .tooltip'), /^sum.*app\.js:3:3.*20\.0 ms/);
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForFunction(() => selfprofReport.state.selectedFrame !== -1);
    assert.equal(await textOf(page, '.details h2'), 'sum');
  });

  it('compares two traces, and tells significant changes from noise', async (t) => {
    const { browser, folder } = await start(t);
    // Calls of one sample each, interleaved: the samples of one long call would count as one event.
    const callsOf = (sum, draw, other) => {
      const lines = [
        ...Array(sum).fill('main;sum'),
        ...Array(draw).fill('main;draw'),
        ...Array(other).fill('main;other'),
      ];
      return trace(lines.map((_, index) => lines[(index * 577) % lines.length]));
    };
    const file = makeReport(folder, { 'before.json': callsOf(500, 480, 20), 'after.json': callsOf(500, 780, 22) });
    const { page, faults } = await open(browser, file);
    await showTab(page, 'Diff');
    const list = await page.$$eval('.diff tbody tr', (all) =>
      all.map((row) => [...row.cells].map((cell) => cell.textContent)),
    );
    const by = Object.fromEntries(list.map((row) => [row[4], row]));
    assert.equal(by.draw[3], 'yes');
    assert.match(by.draw[0], /^\+1\d\.\d\d%$/);
    assert.equal(by.other[3], 'no');
    assert.deepEqual(faults, []);
  });

  it('colors significant changes only', async (t) => {
    const { browser, folder } = await start(t);
    const interleaved = (...counts) => {
      const lines = counts.flatMap((count, index) => Array(count).fill(`main;f${index}`));
      return trace(lines.map((_, index) => lines[(index * 577) % lines.length]));
    };
    /** The share of the pixels of the second row that are neither gray nor the background. */
    const colored = async (before, after) => {
      const { page } = await open(browser, makeReport(folder, { 'before.json': before, 'after.json': after }));
      await showTab(page, 'Diff');
      await nextFrames(page);
      const shares = await page.$$eval('.diff figure canvas', (all) =>
        all.map((canvas) => {
          const { data, width } = canvas.getContext('2d').getImageData(0, 22 + 18 + 2, canvas.width, 1);
          const pixels = Array.from({ length: width }, (_, x) => data.slice(4 * x, 4 * x + 3));
          return pixels.filter((pixel) => Math.max(...pixel) - Math.min(...pixel) > 8).length / width;
        }),
      );
      await page.close();
      return shares;
    };
    assert.deepEqual(await colored(interleaved(500, 470, 30), interleaved(480, 490, 30)), [0, 0]);
    for (const share of await colored(interleaved(500, 300, 200), interleaved(300, 500, 200)))
      assert.ok(Math.abs(share - 0.8) < 0.05, `${share}`);
  });

  it('searches both traces of a diff', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'before.json': SIMPLE, 'after.json': SIMPLE }));
    await showTab(page, 'Diff');
    await page.keyboard.press('/');
    // Words may occur in any order, in the name or in the location.
    await page.keyboard.type('app.js sum');
    assert.deepEqual(await textsOf(page, '.diff td.name'), ['sum']);
    assert.match(await textOf(page, '.match-count'), /^1 · 40\.0% self$/);
  });

  it('selects a function in both flame graphs of a diff', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'before.json': SIMPLE, 'after.json': SIMPLE }));
    await showTab(page, 'Diff');
    const area = await (await page.$('.diff figure canvas')).boundingBox();
    // The row of `main`.
    await page.mouse.click(area.x + area.width / 4, area.y + 30);
    await page.waitForFunction(
      () => document.querySelector('.diff tr[aria-selected=true] .name')?.textContent === 'main',
    );
    await page.focus('.diff tr[aria-selected=true]');
    await page.keyboard.press('Enter');
    assert.equal(await page.$('.diff tr[aria-selected=true]'), null);
  });

  it('fits on a phone', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }), {
      width: 390,
      height: 780,
    });
    for (const key of ['1', '2', '3', '4', '5']) {
      await page.keyboard.press(key);
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        `view ${key} is wider than the phone`,
      );
    }
    assert.deepEqual(faults, []);
  });

  it('never runs text of a trace as script or markup', async (t) => {
    const { browser, folder } = await start(t);
    const evil = trace(
      [
        '<img src=x onerror=alert(1)>;</script><script>alert(2)</script>',
        '</script><script>alert(3)</script>',
        '"><svg onload=alert(4)>',
      ],
      {
        resource: 'javascript:alert(5)//</script><script>alert(6)</script>',
      },
    );
    evil.entries = [{ entryType: 'measure', name: '</script><script>alert(7)</script>', startTime: 100, duration: 1 }];
    const { page, faults } = await open(browser, makeReport(folder, { '<b>evil.json': evil, 'second.json': evil }));
    for (const key of ['1', '2', '3', '4', '5', '6']) {
      await page.keyboard.press(key);
      await page.evaluate(() => selfprofReport.state.selectFrame(0));
    }
    assert.equal(await page.$$eval('#app script, #app img, #app svg, #app b', (all) => all.length), 0);
    assert.match(await page.title(), /<b>evil\.json/);
    assert.deepEqual(faults, []);
  });

  it('counts the intervals between calls, which are no samples', async (t) => {
    const { browser, folder } = await start(t);
    const calls = {
      ...{ start: 100, end: 110, truncated: false },
      ...{ types: [0, 0, 1, 1], frameIds: [0, 1, 1, 0], timestamps: [101, 102, 107, 109] },
    };
    const nothing = { resources: [], samples: [], stacks: [] };
    const traced = { ...nothing, calls, frames: [{ name: 'function 1' }, { name: 'function 2' }] };
    const { page, faults } = await open(browser, makeReport(folder, { 'calls.json': traced }));
    assert.match(
      await textOf(page, '.summary'),
      /^10\.0 ms · 6 intervals · 8\.0 ms busy⚠ calls\.json has calls: each interval/,
    );
    await showTab(page, 'Functions');
    assert.match(await textOf(page, '#view-functions .head'), /Intervals/);
    assert.match(await textOf(page, '#view-functions .footer'), /^2 functions · 6 intervals · 8\.0 ms busy$/);
    // The page had no table of functions. Native functions are not traced.
    assert.ok((await tableRows(page)).every((cells) => cells.includes('(unknown)')));
    await page.evaluate(() => selfprofReport.state.selectFrame(1));
    assert.match(await textOf(page, '.details'), /Self intervals1/);
    assert.doesNotMatch(await page.$eval('#app', (app) => app.innerText), /samples?\b/i);
    assert.deepEqual(faults, []);
  });

  it('shows traces without samples and without stacks', async (t) => {
    const { browser, folder } = await start(t);
    for (const lines of [[], [''], ['', '@layout', '@layout']]) {
      const { page, faults } = await open(browser, makeReport(folder, { 'small.json': trace(lines) }));
      for (const key of ['1', '2', '3', '4', '5']) await page.keyboard.press(key);
      assert.equal(await page.$('.error'), null);
      await showTab(page, 'Time order');
      assert.match(await textOf(page, '#view-time .hint:not([hidden])'), /^Nothing/);
      assert.deepEqual(faults, []);
      await page.close();
    }
  });
});
