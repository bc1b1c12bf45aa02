// How stacks are shown: inverted, with packages grouped, and with functions of Node.js folded.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { makeReport, open, SIMPLE, showTab, start, tableRows, textOf, trace } from './browser.mjs';

/** The names and times of a flame graph's boxes, from the top and from the left, by level. */
const boxes = (page, inverted) =>
  page.evaluate((isInverted) => {
    const { state, report } = selfprofReport;
    state.view = 'heavy';
    state.isInverted = isInverted;
    return report.mergedLevels.map(({ frame, start: from, end }) =>
      Array.from(frame, (one, index) => `${state.profile.functionName(one)} ${Math.round(end[index] - from[index])}`),
    );
  }, inverted);

/** A trace of scripts: lines `name@resource` from the outermost to the innermost function. */
function scripts(lines) {
  const resources = [];
  const frames = [];
  const stacks = [];
  const samples = lines.map((line, index) => {
    let parentId;
    for (const one of line.split(' ')) {
      const [name, resource] = one.split('@@');
      if (!resources.includes(resource)) resources.push(resource);
      const frame = { name, resourceId: resources.indexOf(resource), line: 1, column: 1 };
      let frameId = frames.findIndex((known) => JSON.stringify(known) === JSON.stringify(frame));
      if (frameId === -1) frameId = frames.push(frame) - 1;
      const stack = parentId === undefined ? { frameId } : { frameId, parentId };
      const stackId = stacks.findIndex((known) => JSON.stringify(known) === JSON.stringify(stack));
      parentId = stackId === -1 ? stacks.push(stack) - 1 : stackId;
    }
    return { timestamp: 100 + index, stackId: parentId };
  });
  return { resources, frames, stacks, samples };
}

const LIB = '/app/node_modules/.pnpm/lib@1.0.0/node_modules/lib/index.js';
const SCOPED = '/app/node_modules/@scope/tool/a.js';
const PACKAGES = scripts([
  ...Array(10).fill(`main@@/app/a.js parse@@${LIB} next@@${LIB}`),
  ...Array(20).fill(`main@@/app/a.js parse@@${LIB} read@@node:fs open@@node:internal/fs`),
  ...Array(30).fill(`main@@/app/a.js run@@${SCOPED} callback@@/app/b.js parse@@${LIB}`),
]);

describe('stacks', () => {
  it('are inverted: functions by self time, with their callers below', async (t) => {
    const { browser, folder } = await start(t);
    const recursive = trace([...Array(30).fill('a;b;b'), ...Array(10).fill('a;c'), ...Array(20).fill('d;b'), 'a']);
    const { page, faults } = await open(browser, makeReport(folder, { 'recursive.json': recursive }));
    assert.deepEqual(await boxes(page, false), [['a 41', 'd 20'], ['b 30', 'c 10', 'b 20'], ['b 30']]);
    assert.deepEqual(await boxes(page, true), [['b 50', 'c 10', 'a 1'], ['b 30', 'd 20', 'a 10'], ['a 30']]);
    assert.match(await textOf(page, '.view-description'), /^Functions by self time/);
    await page.evaluate(() => {
      selfprofReport.state.selectRange({ start: 145, end: 155 });
    });
    assert.deepEqual((await boxes(page, true))[1], ['d 11']);
    assert.deepEqual(faults, []);
  });

  it('have one box for calls in Node.js, unless a switch or a key shows them all', async (t) => {
    const { browser, folder } = await start(t);
    const written = scripts([
      ...Array(5).fill('main@@/app/a.js'),
      ...Array(10).fill('main@@/app/a.js end@@node:stream finish@@node:internal/streams/writable'),
    ]);
    const { page, faults } = await open(browser, makeReport(folder, { 'written.json': written }));
    const [folded, full] = [
      [['main 15'], ['end 10']],
      [['main 15'], ['end 10'], ['finish 10']],
    ];
    const input = '.switch:nth-of-type(2) input';
    assert.deepEqual(await boxes(page, false), folded);
    await page.keyboard.press('n');
    assert.deepEqual(await boxes(page, false), full);
    assert.equal(await page.$eval(input, ({ checked }) => checked), false);
    await page.click(input);
    assert.deepEqual(await boxes(page, false), folded);
    assert.deepEqual(faults, []);
  });

  it('are inverted by a switch and by a key', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'simple.json': SIMPLE }));
    const isInverted = () => page.evaluate(() => selfprofReport.state.isInverted);
    const isShown = () => page.$eval('.switch', (label) => !label.hidden);
    assert.equal(await isShown(), false);
    await showTab(page, 'Left heavy');
    assert.equal(await isShown(), true);
    await page.click('.switch input');
    assert.equal(await isInverted(), true);
    await page.keyboard.press('i');
    assert.equal(await isInverted(), false);
    assert.equal(await page.$eval('.switch input', (input) => input.checked), false);
  });

  it('have one box for adjacent calls in a package', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, makeReport(folder, { 'packages.json': PACKAGES }));
    await page.keyboard.press('n');
    await page.keyboard.press('p');
    assert.deepEqual(await boxes(page, false), [
      ['main 60'],
      ['lib 30', '@scope/tool 30'],
      ['Node.js 20', 'callback 30'],
      ['lib 30'],
    ]);
    await showTab(page, 'Functions');
    const rows = (await tableRows(page)).map((row) => [row[3], row[0].split(' ')[0], row[1].split(' ')[0], row[4]]);
    assert.deepEqual(rows, [
      ['lib', '40.0', '60.0', 'node_modules/lib'],
      ['Node.js', '20.0', '20.0', 'node:'],
      ['main', '0', '60.0', 'app/a.js:1:1'],
      ['callback', '0', '30.0', 'app/b.js:1:1'],
      ['@scope/tool', '0', '30.0', '@scope/tool'],
    ]);
    assert.deepEqual(faults, []);
  });

  it('keep the selected function, or its package', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'packages.json': PACKAGES }));
    const selected = (frame, isGrouped) =>
      page.evaluate(
        (one, grouped) => {
          const { state } = selfprofReport;
          if (one !== undefined) state.selectFrame(one);
          state.isGrouped = grouped;
          return state.selectedFrame === -1 ? '' : state.profile.functionName(state.selectedFrame);
        },
        frame,
        isGrouped,
      );
    assert.equal(await selected(0, true), 'main');
    assert.equal(await selected(undefined, false), 'main');
    assert.equal(await selected(2, true), 'lib');
    assert.match(await textOf(page, '.details'), /lib.*node_modules\/lib.*Callers.*callback/);
    assert.equal(await selected(undefined, false), '');
  });

  it('are shown without a package that is hidden', async (t) => {
    const { browser, folder } = await start(t);
    const { page, faults } = await open(browser, makeReport(folder, { 'packages.json': PACKAGES }));
    await page.keyboard.press('n');
    await showTab(page, 'Functions');
    const select = (name) =>
      page.evaluate((one) => {
        const { state } = selfprofReport;
        const { profile } = state;
        state.selectFrame(Array.from({ length: profile.frameCount }, (_, i) => profile.functionName(i)).indexOf(one));
      }, name);
    const times = async () =>
      (await tableRows(page)).map((row) => [row[3], row[0].split(' ')[0], row[1].split(' ')[0]]);
    await page.keyboard.press('p');
    await select('lib');
    await page.evaluate(() => [...document.querySelectorAll('.details button')].at(-1).scrollIntoView());
    assert.match(await textOf(page, '.details'), /Hide package lib/);
    await page.keyboard.press('h');
    // The time of `lib` counts for its callers, and what it called stays.
    assert.deepEqual(await times(), [
      ['callback', '30.0', '30.0'],
      ['Node.js', '20.0', '20.0'],
      ['main', '10.0', '60.0'],
      ['@scope/tool', '0', '30.0'],
    ]);
    await page.keyboard.press('p');
    assert.equal((await times()).filter(([name]) => name === 'callback').length, 1);
    assert.equal(await textOf(page, '.switches button'), 'Show 1 hidden package');
    await page.click('.switches button');
    assert.equal(await page.evaluate(() => selfprofReport.state.hiddenPackages.size), 0);
    assert.equal(await page.$eval('.switches button', (button) => button.hidden), true);
    // Time in which nothing else is on the stack stays.
    const { page: second } = await open(
      browser,
      makeReport(folder, {
        'alone.json': trace(Array(20).fill('inLib'), { resource: '/app/node_modules/lib/i.js' }),
      }),
    );
    await second.evaluate(() => selfprofReport.state.selectFrame(0));
    await second.keyboard.press('h');
    await showTab(second, 'Functions');
    assert.deepEqual(
      (await tableRows(second)).map((row) => [row[3], row[2]]),
      [['(hidden)', '20']],
    );
    assert.equal(await second.evaluate(() => selfprofReport.state.selectedFrame), -1);
    await second.close();
    // Code outside of packages cannot be hidden.
    await select('main');
    await page.keyboard.press('h');
    assert.equal(await page.evaluate(() => selfprofReport.state.hiddenPackages.size), 0);
    assert.deepEqual(faults, []);
  });

  it('are summed up by package in a table', async (t) => {
    const { browser, folder } = await start(t);
    const { page } = await open(browser, makeReport(folder, { 'packages.json': PACKAGES }));
    await page.keyboard.press('n');
    await showTab(page, 'Packages');
    const rows = (await tableRows(page)).map((row) => [row[3], row[0].split(' ')[0], row[1].split(' ')[0]]);
    assert.deepEqual(rows, [
      ['lib', '40.0', '60.0'],
      ['Node.js', '20.0', '20.0'],
      ['(own code)', '0', '60.0'],
      ['@scope/tool', '0', '30.0'],
    ]);
    // A package is selected, and so grouped.
    await page.focus('#view-packages .grid');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => selfprofReport.state.isGrouped), true);
    assert.equal(await textOf(page, '.details h2'), 'lib');
    assert.equal(await textOf(page, '#view-packages [aria-selected=true] .name'), 'lib');
    // Own code has a frame for each function, and so cannot be selected here.
    const selectedByKey = async (key) => {
      await page.keyboard.press(key);
      return await textOf(page, '#view-packages [aria-selected=true] .name');
    };
    assert.equal(await selectedByKey('ArrowDown'), 'Node.js');
    assert.equal(await selectedByKey('ArrowDown'), '@scope/tool');
    assert.equal(await selectedByKey('ArrowDown'), '@scope/tool');
    assert.equal(await selectedByKey('ArrowUp'), 'Node.js');
    await page.keyboard.press('/');
    await page.keyboard.type('scope');
    assert.deepEqual(
      (await tableRows(page)).map((row) => row[3]),
      ['@scope/tool'],
    );
  });
});
