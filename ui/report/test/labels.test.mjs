// Labels of samples: their values below the lanes, and views of the samples with one of them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

import { makeReport, open, SIMPLE, showTab, start, tableRows, textOf, textsOf, threads, trace } from './browser.mjs';

/** A trace with labels from lines `outer;inner | name=value name=value`. */
function labelled(lines, options) {
  const [stacks, sets] = [0, 1].map((part) => lines.map((line) => line.split('|')[part]?.trim() ?? ''));
  const known = [...new Set(sets)].filter((set) => set !== '');
  const result = trace(stacks, options);
  for (const [index, sample] of result.samples.entries())
    if (sets[index] !== '') sample.labelsId = known.indexOf(sets[index]);
  result.labels = known.map((set) => Object.fromEntries(set.split(' ').map((label) => label.split('='))));
  return result;
}

/**
 * 30 ms of /cart in the main thread, of which 10 ms are of another tenant; 20 ms of / ; 10 ms without labels; 20 ms of
 * / in a worker.
 */
const SERVER = threads([
  [
    { name: 'main-thread' },
    labelled([
      ...Array(20).fill('main;cart|http.route=/cart tenant=a'),
      ...Array(10).fill('main;cart|http.route=/cart tenant=<b>'),
      ...Array(20).fill('main;home|http.route=/ tenant=a'),
      ...Array(10).fill('main'),
      ...Array(10).fill(''),
    ]),
  ],
  [{ name: 'worker-1' }, labelled(Array(20).fill('work|http.route=/'), { start: 120 })],
]);

const values = (page) =>
  page.$$eval('.value', (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));

const selected = (page) => page.$eval('.value[aria-selected=true]', (row) => row.firstChild.textContent);

/** The functions with time, and their self time. */
async function functions(page) {
  await showTab(page, 'Functions');
  return Object.fromEntries((await tableRows(page)).map((row) => [row[3], row[0].split(' ms')[0]]));
}

async function clickValue(page, name) {
  await page.evaluate((wanted) => {
    [...document.querySelectorAll('.value')].find((row) => row.firstChild.textContent === wanted).click();
  }, name);
}

const ROUTES = [
  ['All', '80.0 ms', '100.0%'],
  ['/', '40.0 ms', '50.0%'],
  ['/cart', '30.0 ms', '37.5%'],
  ['(none)', '10.0 ms', '12.5%'],
];

describe('labels of samples', () => {
  it('are listed by value, and a click shows the samples with one', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, makeReport(folder, { 'server.json': SERVER }));
    assert.deepEqual(await textsOf(page, 'select[aria-label=Label] option'), ['Labels…', 'http.route', 'tenant']);
    assert.equal(await page.$eval('.values', (list) => list.hidden), true);
    await page.select('select[aria-label=Label]', '=http.route');
    assert.deepEqual(await values(page), ROUTES);
    assert.equal(await selected(page), 'All');

    await clickValue(page, '/');
    assert.equal(await selected(page), '/');
    assert.deepEqual(await values(page), ROUTES);
    assert.deepEqual(await functions(page), { home: '20.0', work: '20.0', main: '0' });
    assert.match(await textOf(page, '.summary'), /· 40\.0 ms busy/);
    const busy = await page.$$eval('.lane', (all) => all.map((lane) => lane.getAttribute('aria-label')));
    assert.deepEqual(
      busy.map((text) => text.replace(/ busy.*/s, '')),
      ['All threads (2): 40.0 ms', 'main-thread: 20.0 ms', 'worker-1: 20.0 ms'],
    );
    assert.match(await textOf(page, '.timeline .visually-hidden'), /running 40\.0 ms/);

    await clickValue(page, '(none)');
    assert.deepEqual(await functions(page), { main: '10.0' });
    // A second click shows all.
    await clickValue(page, '(none)');
    assert.equal((await functions(page)).cart, '30.0');
    await page.select('select[aria-label=Label]', '=tenant');
    await clickValue(page, '<b>');
    assert.deepEqual(await functions(page), { cart: '10.0', main: '0' });
    await page.select('select[aria-label=Label]', '');
    assert.equal((await functions(page)).cart, '30.0');
    assert.equal(await page.$eval('.values', (list) => list.hidden), true);
    assert.deepEqual(faults, []);
  });

  it('have the times of the selected range and thread', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'server.json': SERVER }));
    await page.select('select[aria-label=Label]', '=http.route');
    await clickValue(page, '/cart');
    await page.click('#thread-0');
    const ofMain = [
      ['All', '60.0 ms', '100.0%'],
      ['/cart', '30.0 ms', '50.0%'],
      ['/', '20.0 ms', '33.3%'],
      ['(none)', '10.0 ms', '16.7%'],
    ];
    assert.deepEqual(await values(page), ofMain);
    assert.deepEqual(await functions(page), { cart: '30.0', main: '0' });
    await page.evaluate(() => selfprofReport.state.selectRange({ start: 130, end: 149.5 }));
    // What is selected stays in the list.
    assert.deepEqual(await values(page), [
      ['All', '20.0 ms', '100.0%'],
      ['/', '20.0 ms', '100.0%'],
      ['/cart', '0 ms', '0.0%'],
    ]);
    assert.deepEqual(await functions(page), {});
    // Packages are grouped and hidden as before.
    await page.evaluate(() => {
      selfprofReport.state.selectRange(undefined);
      selfprofReport.state.isGrouped = true;
    });
    assert.equal((await functions(page)).cart, '30.0');
  });

  it('are chosen with the keyboard', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'server.json': SERVER }));
    await page.select('select[aria-label=Label]', '=http.route');
    await page.focus('.values');
    const active = () =>
      page.$eval('.values', (list) => document.getElementById(list.getAttribute('aria-activedescendant')).textContent);
    for (const [key, expected] of [
      ['ArrowDown', '/'],
      ['ArrowDown', '/cart'],
      ['End', '(none)'],
      ['ArrowDown', '(none)'],
      ['ArrowUp', '/cart'],
      ['Home', 'All'],
      ['ArrowUp', 'All'],
      ['ArrowDown', '/'],
    ]) {
      await page.keyboard.press(key);
      assert.equal(await selected(page), expected, key);
      assert.ok((await active()).startsWith(expected), key);
    }
    await page.keyboard.press('Escape');
    assert.equal(await selected(page), 'All');
    // Both controls have names.
    assert.match(await page.$eval('.values', (list) => list.getAttribute('aria-label')), /^Values of http\.route\./);
  });

  it('are restored by the address of the page, and a hostile one does nothing', async (t) => {
    const { browser, folder } = await start(t);
    const file = makeReport(folder, { 'server.json': SERVER, 'simple.json': SIMPLE });
    const follow = async (hash) => {
      const { page, faults } = await open(browser, file);
      await page.goto('about:blank');
      await page.goto(pathToFileURL(file).href + hash);
      await page.waitForFunction(() => globalThis.selfprofReport !== undefined);
      assert.deepEqual(faults, []);
      const shown = await page.evaluate(() => {
        const { labelName, labelValue, totals } = selfprofReport.state;
        return [labelName ?? 'no name', labelValue === undefined ? 'all' : labelValue, totals.busy];
      });
      return { page, shown };
    };
    const { page } = await open(browser, file);
    for (const [name, value, hash, busy] of [
      ['http.route', '/cart', '#label=http.route&value=%2Fcart', 30],
      ['http.route', null, '#label=http.route&unlabelled=1', 10],
      ['tenant', '<b>', '#label=tenant&value=%3Cb%3E', 10],
      ['tenant', undefined, '#label=tenant', 80],
    ]) {
      await page.evaluate((...label) => selfprofReport.state.selectLabel(...label), name, value);
      await page.waitForFunction((wanted) => location.hash === wanted, {}, hash);
      const { page: other, shown } = await follow(hash);
      assert.deepEqual(shown, [name, value === undefined ? 'all' : value, busy]);
      await other.close();
    }
    const ignored = async (hash, expected) => {
      const { page: other, shown } = await follow(hash);
      assert.deepEqual(shown, expected, hash);
      await other.close();
    };
    await ignored('#label=constructor&value=__proto__', ['no name', 'all', 80]);
    await ignored('#label=tenant&value=nobody', ['tenant', 'all', 80]);
    await ignored('#value=a&unlabelled=1', ['no name', 'all', 80]);
    // Another trace has no labels.
    await ignored('#trace=1&label=tenant&value=a', ['no name', 'all', 50]);
  });

  it('of which there are many are listed up to a number', async (t) => {
    const { browser, folder } = await start(t);
    const many = labelled(Array.from({ length: 230 }, (_, index) => `f|request=${index} __proto__=x`));
    const { page, faults } = await open(browser, makeReport(folder, { 'many.json': many }), { width: 390 });
    await page.select('select[aria-label=Label]', '=request');
    assert.equal((await values(page)).length, 201);
    assert.equal(await textOf(page, '.values .lane-rest'), '30 more values, with less time');
    const { height } = await (await page.$('.label-values')).boundingBox();
    assert.ok(height < 220, `${height} pixels high`);
    await page.evaluate(() => selfprofReport.state.selectLabel('request', '229'));
    assert.equal(await selected(page), '229');
    assert.equal(await textOf(page, '.values .lane-rest'), '29 more values, with less time');
    assert.deepEqual(faults, []);
    await page.evaluate(() => selfprofReport.state.selectLabel('__proto__', 'x'));
    assert.equal(await selected(page), 'x');
  });

  it('have no place on the page without any', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    assert.equal(await page.$eval('.label-values', (row) => row.checkVisibility()), false);
  });
});
