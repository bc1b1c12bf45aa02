// The report without a mouse, by ear, and for eyes that need contrast.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SIMPLE, make, open, showTab, start } from './browser.mjs';

/** In the page: the contrast of two colours. https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function defineContrast() {
  globalThis.contrast = (...colors) => {
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const [light, dark] = colors
      .map((color) => {
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((value) => (value <= 10.3 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      })
      .sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
}

describe('access', () => {
  it('is by the keyboard to everything, and shows where the focus is', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'one.json': SIMPLE, 'two.json': SIMPLE }));
    await showTab(page, 'Time order');
    await page.evaluate(() => {
      document.activeElement.blur();
      selfprofReport.state.choose(0);
    });
    const seen = [];
    for (let press = 0; press < 30; press++) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(() => {
        const { activeElement: one } = document;
        if (one === document.body) return undefined;
        const { outlineStyle, outlineWidth } = getComputedStyle(one);
        return { name: one.getAttribute('aria-label') ?? one.textContent, outline: outlineStyle === 'none' ? 0 : parseFloat(outlineWidth) };
      });
      if (focused === undefined) break;
      assert.ok(focused.outline >= 2, `no outline around ${focused.name}`);
      seen.push(focused.name);
    }
    for (const wanted of [/^Trace/, /^Search/, /^Light or dark/, /^Keys/, /^Timeline/, /^Time order$/, /^Flame graph/, /^Close/, /^Callers and callees/]) {
      assert.ok(seen.some((name) => wanted.test(name)), `Tab never reached ${wanted}: ${seen.join(', ')}`);
    }
  });

  it('goes from tab to tab with arrow keys, and the focus stays', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'one.json': SIMPLE, 'two.json': SIMPLE }));
    const shown = () => page.evaluate(() => [document.activeElement.textContent, selfprofReport.state.view]);
    await page.focus('[role=tab][aria-selected=true]');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await shown(), ['Left heavy', 'heavy']);
    await page.keyboard.press('End');
    assert.deepEqual(await shown(), ['Difference', 'diff']);
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await shown(), ['Time order', 'time']);
    await page.keyboard.press('ArrowLeft');
    assert.deepEqual(await shown(), ['Difference', 'diff']);
    await page.keyboard.press('3');
    assert.equal(await page.$eval('[role=tab][tabindex="0"]', (tab) => tab.textContent), 'Functions');
  });

  it('moves and zooms a flame graph with keys', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }));
    const view = () => page.evaluate(() => selfprofReport.report.view);
    const whole = await view();
    await page.focus('#view-time canvas');
    await page.keyboard.press('+');
    const near = await view();
    assert.ok(near.end - near.start < 0.7 * (whole.end - whole.start));
    await page.keyboard.press('ArrowRight');
    assert.ok((await view()).start > near.start);
    await page.keyboard.press('0');
    assert.deepEqual(await view(), whole);
  });

  it('selects marks and measures with keys, and says which', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'simple.json': SIMPLE }));
    const selected = () => page.evaluate(() => [selfprofReport.state.range, document.querySelector('.timeline [role=status]').textContent]);
    await page.focus('.timeline');
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await selected(), [{ start: 105, end: 159 }, 'ready, mark at 105 ms, 54.0 ms until the next']);
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await selected(), [{ start: 110, end: 135 }, 'render, 25.0 ms from 110 ms']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    assert.equal((await selected())[0].start, 105);
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => selfprofReport.state.hasSelection), false);
  });

  it('has a name for all that can be used, and says what was chosen', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, make(folder, { 'one.json': SIMPLE, 'two.json': SIMPLE }));
    for (const tab of ['Time order', 'Functions', 'Callers and callees', 'Difference']) {
      await showTab(page, tab);
      await page.evaluate(() => selfprofReport.state.choose(2));
      const nameless = [];
      const walk = (node) => {
        if (['button', 'tab', 'searchbox', 'combobox', 'grid', 'image', 'region', 'tabpanel'].includes(node.role) && !node.name) nameless.push(node);
        node.children?.forEach(walk);
      };
      walk(await page.accessibility.snapshot({ interestingOnly: false }));
      assert.deepEqual(nameless, [], tab);
    }
    assert.equal(await page.$eval('#app > [role=status]', (node) => node.textContent), 'sum: self 20.0 ms, total 20.0 ms');
    assert.match(await page.$eval('.timeline .spoken', (node) => node.textContent), /^Of 60\.0 ms: script 41\.7 %, gc 8\.3 %, style 33\.3 %, idle 16\.7 %\.$/);
    await showTab(page, 'Functions');
    await page.focus('.grid');
    await page.keyboard.press('ArrowDown');
    const active = await page.$eval('.grid', (grid) => document.getElementById(grid.getAttribute('aria-activedescendant'))?.getAttribute('aria-selected'));
    assert.equal(active, 'true');
  });

  it('has text of enough contrast, in the light and in the dark', async (t) => {
    const { browser, folder } = await start(t);
    const file = make(folder, { 'simple.json': SIMPLE });
    for (const scheme of ['light', 'dark']) {
      const { page } = await open(browser, file, { scheme, first: defineContrast });
      const low = await page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement('i'));
        const read = (name) => {
          probe.style.color = `var(--${name})`;
          return getComputedStyle(probe).color;
        };
        const pairs = ['text panel', 'text page', 'quiet panel', 'quiet page', 'accent panel', 'accent page', 'grew panel', 'shrank panel', 'grew page', 'text chosen', 'text bar', 'quiet bar', 'grew chosen', 'shrank chosen'];
        return pairs.map((pair) => [pair, contrast(...pair.split(' ').map(read))]).filter(([, ratio]) => !(ratio >= 4.5));
      });
      assert.deepEqual(low, [], scheme);
      // The boxes of `main`, `work` and `sum`, the last one chosen.
      await page.evaluate(() => selfprofReport.state.choose(2));
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve)))));
      const boxes = await page.evaluate(() => {
        const context = document.querySelector('#view-time canvas').getContext('2d');
        const text = getComputedStyle(document.body).color;
        return [0, 1, 2].map((row) => {
          const [red, green, blue] = context.getImageData(60, 22 + row * 18 + 3, 1, 1).data;
          return contrast(text, `rgb(${red} ${green} ${blue})`);
        });
      });
      for (const ratio of boxes) assert.ok(ratio >= 4.5 && ratio < 15, `${boxes} in the ${scheme}`);
      await page.close();
    }
  });
});
