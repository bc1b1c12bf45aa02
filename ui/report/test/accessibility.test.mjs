// The report with a keyboard, with a screen reader, and its contrast.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { makeReport, nextFrames, open, SIMPLE, showTab, start, TABS, textOf } from './browser.mjs';

/** In the page: the contrast ratio of two colors. https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function defineContrast() {
  globalThis.contrast = (...colors) => {
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const [light, dark] = colors
      .map((color) => {
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((value) =>
          value <= 10.3 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
        );
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      })
      .sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
}

describe('accessibility', () => {
  it('reaches every control with Tab, and outlines the focused one', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'one.json': SIMPLE, 'two.json': SIMPLE }));
    await page.evaluate(() => {
      selfprofReport.state.selectFrame(0);
      globalThis.focused = [];
      addEventListener('focusin', ({ target }) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(target);
        const name = target.getAttribute('aria-label') ?? target.textContent;
        focused.push({ name, outline: outlineStyle === 'none' ? 0 : parseFloat(outlineWidth) });
      });
    });
    const controls = [
      /^Trace/,
      /^Search/,
      /^Toggle light/,
      /^Keyboard/,
      /^Timeline/,
      /^Time order$/,
      /^Flame graph/,
      /^Close/,
      /^Callers and callees/,
    ];
    let reached = [];
    const missing = () => controls.filter((control) => !reached.some(({ name }) => control.test(name)));
    for (let presses = 0; presses < 60 && missing().length > 0; presses++) {
      await page.keyboard.press('Tab');
      reached = await page.evaluate(() => focused);
    }
    assert.deepEqual(missing(), [], `reached: ${reached.map(({ name }) => name).join(', ')}`);
    assert.match(reached[0].name, controls[0]);
    assert.deepEqual(
      reached.filter(({ outline }) => outline < 2),
      [],
    );
  });

  it('switches tabs with arrow keys, and moves the focus with them', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'one.json': SIMPLE, 'two.json': SIMPLE }));
    const shown = () => page.evaluate(() => [document.activeElement.textContent, selfprofReport.state.view]);
    await page.focus('[role=tab][aria-selected=true]');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await shown(), ['Left heavy', 'heavy']);
    await page.keyboard.press('End');
    assert.deepEqual(await shown(), ['Diff', 'diff']);
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await shown(), ['Time order', 'time']);
    await page.keyboard.press('ArrowLeft');
    assert.deepEqual(await shown(), ['Diff', 'diff']);
    await page.keyboard.press('3');
    assert.equal(await textOf(page, '[role=tab][tabindex="0"]'), 'Functions');
  });

  it('pans and zooms a flame graph with keys', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    const visible = () => page.evaluate(() => selfprofReport.report.visibleRange);
    const whole = await visible();
    await page.focus('#view-time canvas');
    await page.keyboard.press('+');
    const zoomed = await visible();
    assert.ok(zoomed.end - zoomed.start < 0.7 * (whole.end - whole.start));
    await page.keyboard.down('Shift');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.up('Shift');
    assert.ok((await visible()).start > zoomed.start);
    await page.keyboard.press('0');
    assert.deepEqual(await visible(), whole);
  });

  it('selects marks and measures with keys, and announces them', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    const selected = () =>
      page.evaluate(() => [selfprofReport.state.range, document.querySelector('.timeline [role=status]').textContent]);
    await page.focus('.timeline');
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await selected(), [{ start: 105, end: 159 }, 'ready, mark at 105 ms, 54.0 ms to the next mark']);
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await selected(), [{ start: 110, end: 135 }, 'render, measure, 25.0 ms, starts at 110 ms']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    assert.equal((await selected())[0].start, 105);
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => selfprofReport.state.hasSelectedRange), false);
  });

  it('names every control, and announces the selected function', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'one.json': SIMPLE, 'two.json': SIMPLE }));
    const roles = [
      'button',
      'tab',
      'searchbox',
      'combobox',
      'grid',
      'application',
      'listbox',
      'option',
      'region',
      'tabpanel',
    ];
    for (const tab of TABS) {
      await showTab(page, tab);
      await page.evaluate(() => selfprofReport.state.selectFrame(2));
      const nameless = [];
      const walk = (node) => {
        if (roles.includes(node.role) && !node.name) nameless.push(node);
        for (const child of node.children ?? []) walk(child);
      };
      walk(await page.accessibility.snapshot({ interestingOnly: false }));
      assert.deepEqual(nameless, [], tab);
    }
    assert.equal(await textOf(page, '#app > [role=status]'), 'sum: self time 20.0 ms, total time 20.0 ms');
    assert.equal(
      await textOf(page, '.timeline .visually-hidden'),
      'Of 60.0 ms: script 41.7%, gc 8.3%, style 33.3%, idle 16.7%.',
    );
    await showTab(page, 'Functions');
    await page.focus('.grid');
    await page.keyboard.press('ArrowDown');
    const active = await page.$eval('.grid', (grid) =>
      document.getElementById(grid.getAttribute('aria-activedescendant'))?.getAttribute('aria-selected'),
    );
    assert.equal(active, 'true');
  });

  it('has enough contrast in both themes', async (t) => {
    const { browser, folder } = await start(t);
    const file = makeReport(folder, { 'simple.json': SIMPLE });
    for (const scheme of ['light', 'dark']) {
      const { page } = await open(browser, file, { scheme, first: defineContrast });
      const low = await page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement('i'));
        const read = (name) => {
          probe.style.color = `var(--${name})`;
          return getComputedStyle(probe).color;
        };
        const pairs = [
          'text panel',
          'text page',
          'secondary-text panel',
          'secondary-text page',
          'accent panel',
          'accent page',
          'grew panel',
          'shrank panel',
          'grew page',
          'text selected',
          'text bar',
          'secondary-text bar',
          'grew selected',
          'shrank selected',
        ];
        return pairs
          .map((pair) => [pair, contrast(...pair.split(' ').map(read))])
          .filter(([, ratio]) => !(ratio >= 4.5));
      });
      assert.deepEqual(low, [], scheme);
      // The boxes of `main`, `work` and `sum`, of which the last is selected.
      await page.evaluate(() => selfprofReport.state.selectFrame(2));
      await nextFrames(page);
      const boxes = await page.evaluate(() => {
        const context = document.querySelector('#view-time canvas').getContext('2d');
        const text = getComputedStyle(document.body).color;
        return [0, 1, 2].map((row) => {
          const [red, green, blue] = context.getImageData(60, 22 + row * 18 + 3, 1, 1).data;
          return contrast(text, `rgb(${red} ${green} ${blue})`);
        });
      });
      for (const ratio of boxes) assert.ok(ratio >= 4.5 && ratio < 15, `${boxes} in the ${scheme} theme`);
      await page.close();
    }
  });
});
