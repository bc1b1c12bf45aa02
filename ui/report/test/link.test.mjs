// Links: the hash of the URL restores what the page shows, and a hostile one does nothing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

import { makeReport, open, SIMPLE, start, textOf, threads, trace } from './browser.mjs';

const TWO = threads([
  [{ name: 'main-thread' }, SIMPLE],
  [
    { name: 'worker-1' },
    trace(Array(20).fill('main;react'), { resource: '/app/node_modules/react/index.js', start: 120 }),
  ],
]);

const shown = (page) =>
  page.evaluate(() => {
    const { state } = selfprofReport;
    return {
      view: state.view,
      trace: state.profileIndex,
      thread: state.selectedThread,
      range: state.hasSelectedRange ? state.range : null,
      name: state.selectedFrame === -1 ? null : state.profile.functionName(state.selectedFrame),
      search: state.search,
      isInverted: state.isInverted,
      isGrouped: state.isGrouped,
      hidden: [...state.hiddenPackages],
    };
  });

const AT_FIRST = {
  view: 'time',
  trace: 0,
  thread: -1,
  range: null,
  name: null,
  search: '',
  isInverted: false,
  isGrouped: false,
  hidden: [],
};

/** Opens a report by a link. */
async function follow(browser, file, hash) {
  const { page, faults } = await open(browser, file);
  await page.goto('about:blank');
  await page.goto(pathToFileURL(file).href + hash);
  await page.waitForFunction(() => globalThis.selfprofReport !== undefined || document.querySelector('.error'));
  return { page, faults };
}

describe('a link', () => {
  it('restores what the page shows', async (t) => {
    const { browser, folder } = await start(t);
    const file = makeReport(folder, { 'two.json': TWO, 'simple.json': SIMPLE });
    const { page } = await open(browser, file);
    assert.equal(await page.evaluate(() => location.hash), '');
    await page.evaluate(() => {
      const { state } = selfprofReport;
      state.view = 'heavy';
      state.selectThread(1);
      state.selectRange({ start: 121.25, end: 130 });
      state.isGrouped = true;
      state.isInverted = true;
      state.hiddenPackages = new Set(['a & b', 'Node.js']);
      state.search = 'a & b #=';
      state.selectFrame(state.profile.frameCount - 1);
    });
    await page.waitForFunction(() => location.hash.includes('search'));
    const expected = {
      view: 'heavy',
      trace: 0,
      thread: 1,
      range: { start: 121.25, end: 130 },
      name: 'react',
      search: 'a & b #=',
      isInverted: true,
      isGrouped: true,
      hidden: ['a & b', 'Node.js'],
    };
    const hash = await page.evaluate(() => location.hash);
    const { page: second, faults } = await follow(browser, file, hash);
    assert.deepEqual(await shown(second), expected);
    assert.equal(await second.$eval('input[type=search]', (input) => input.value), 'a & b #=');
    assert.equal(await textOf(second, '[role=tab][aria-selected=true]'), 'Left heavy');
    assert.deepEqual(faults, []);
    // Another link in the same page.
    await second.evaluate(() => {
      location.hash = '#tab=diff&trace=1';
    });
    await second.waitForFunction(() => selfprofReport.state.view === 'diff');
    assert.deepEqual(await shown(second), { ...AT_FIRST, view: 'diff', trace: 1 });
    assert.equal(await second.$eval('select[aria-label=Trace]', (select) => select.value), '1');
  });

  it('that is hostile does nothing', async (t) => {
    const { browser, folder } = await start(t);
    const file = makeReport(folder, { 'simple.json': SIMPLE });
    for (const hash of [
      '#tab=%3Cscript%3Ealert(1)%3C/script%3E',
      '#tab=constructor&tab=__proto__',
      '#tab=diff',
      '#thread=99999999999999999999&trace=-1',
      '#thread=__proto__&trace=NaN&thread=1.5',
      '#from=Infinity&to=-Infinity',
      '#from=1e308&to=2',
      '#from=900000000000000&to=999999999999999',
      '#function=%00%0A%3Cimg%20src=x%20onerror=alert(1)%3E',
      '#invert=true&packages=%31%30',
      `#search=${'a'.repeat(20_000)}`,
      '#%E0%A4%A',
      '#&&&===%',
      '#javascript:alert(1)',
    ]) {
      const { page, faults } = await follow(browser, file, hash);
      assert.deepEqual(await shown(page), AT_FIRST, hash);
      assert.equal(await page.$('.error'), null);
      assert.deepEqual(faults, [], hash);
      await page.close();
    }
    const { page, faults } = await follow(browser, file, '#search=%3Cimg%20src=x%20onerror=alert(1)%3E&tab=functions');
    assert.match(await textOf(page, '#view-functions .hint'), /<img src=x onerror=alert\(1\)>/);
    assert.equal(await page.$$eval('#app img', (all) => all.length), 0);
    assert.deepEqual(faults, []);
  });
});
