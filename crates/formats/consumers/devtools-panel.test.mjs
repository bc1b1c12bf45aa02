// The Performance panel of Chrome DevTools, which opens files as a user would. It comes from npm, since headless builds
// of Chromium do not contain it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { inPage } from './chromium.mjs';
import {
  assertSame,
  convert,
  keyOf,
  marks,
  merged,
  packageFolder,
  sums,
  top,
  traces,
  withTime,
} from './conversion.mjs';

const DEVTOOLS = {
  origin: 'http://devtools.test',
  folder: join(packageFolder('@react-native/debugger-frontend'), 'dist/third-party/front_end'),
};

/** Opens a file in the Performance panel, and calls `use` with the page. */
function inPanel(file, use) {
  return inPage(
    `${DEVTOOLS.origin}/devtools_app.html?panel=timeline`,
    async (page) => {
      // DevTools's modules can be imported once its tabs are shown.
      await page.waitForSelector('>>> #tab-timeline');
      await page.evaluate(async () => {
        const { ViewManager } = await import('./ui/legacy/legacy.js');
        await ViewManager.ViewManager.instance().showView('timeline');
        // The ignore list groups functions of Node.js and of packages into one row.
        const { Settings } = await import('./core/common/common.js');
        Settings.Settings.instance().moduleSetting('enable-ignore-listing').set(false);
        const { TimelinePanel } = await import('./panels/timeline/timeline.js');
        globalThis.panel = TimelinePanel.TimelinePanel.instance();
      });
      const input = await page.waitForSelector('>>> input[type=file][accept*=cpuprofile]');
      await input.uploadFile(file);
      await page.waitForFunction(async () => {
        const { TraceBounds } = await import('./services/trace_bounds/trace_bounds.js');
        globalThis.bounds = TraceBounds.BoundsManager.instance();
        return globalThis.bounds.state() !== null && globalThis.panel.state === 'Idle';
      });
      // The panel first selects the part that it considers interesting.
      await page.evaluate(() => {
        const { bounds } = globalThis;
        globalThis.whole = bounds.state().milli.entireTraceBounds;
        bounds.setTimelineVisibleWindow(bounds.state().micro.entireTraceBounds);
      });
      return use(page);
    },
    { files: DEVTOOLS },
  );
}

/**
 * The top-level calls in a table of the panel, as `{ calls, shown }`: the nodes of the model, and the text of the rows.
 */
async function table(page, name) {
  await page.evaluate((name) => {
    const { flameChart } = globalThis.panel;
    // Make all rows visible.
    flameChart.detailsSplitWidget.setSidebarSize(3000);
    flameChart.detailsView.tabbedPane.selectTab(name, true);
    globalThis.view = flameChart.detailsView.rangeDetailViews.get(name);
  }, name);
  const rows = await page.waitForFunction(() => {
    const rows = [...globalThis.view.dataGrid.element.querySelectorAll('tr.data-grid-data-grid-node')];
    const texts = rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText));
    const { view, whole } = globalThis;
    const isWhole = view.startTime <= whole.min && view.endTime >= whole.max;
    return isWhole && rows.length > 0 && rows.length === view.root.children().size && texts;
  });
  const calls = await page.evaluate(() =>
    [...globalThis.view.root.children().values()].map(({ event, selfTime, totalTime }) => ({
      callFrame: event.callFrame,
      name: event.name,
      self: selfTime,
      total: totalTime,
    })),
  );
  return { calls, shown: await rows.jsonValue() };
}

/** All calls of the call tree. */
function callTree(page) {
  return page.evaluate(() => {
    const calls = [];
    const walk = (node, above) => {
      calls.push({ callFrame: node.event.callFrame, above, self: node.selfTime, total: node.totalTime });
      for (const child of node.children().values()) walk(child, [...above, node.event.callFrame]);
    };
    for (const node of globalThis.view.root.children().values()) walk(node, []);
    return calls;
  });
}

/** The tables merge functions of the same name in the same script. devtools.test.mjs compares lines and columns. */
const nameInScript = ({ name, resource }) => keyOf({ name, resource });
const keyOfCall = ({ functionName, url }) => nameInScript({ name: functionName || '(anonymous)', resource: url });

/** The times of calls. `above` has the keys on the stack, whose time must not be counted twice. */
function sumsOf(calls) {
  const key = (callFrame) => callFrame && keyOfCall(callFrame);
  const rows = calls
    .filter(({ callFrame }) => callFrame)
    .map(({ callFrame, above = [], self, total }) => ({
      key: key(callFrame),
      self,
      total: above.some((other) => key(other) === key(callFrame)) ? 0 : total,
    }));
  return withTime(sums(rows, ({ key }) => key));
}

// Times in a .cpuprofile are off by at most a microsecond, see cpuprofile/devtools_time.rs.
const tolerances = { '.cpuprofile': 0.02, '.trace.json': 1e-3 };

for (const [name, trace] of Object.entries(traces)) {
  describe(`DevTools' Performance panel, on a trace ${name}`, () => {
    for (const [ending, tolerance] of Object.entries(tolerances)) {
      test(`shows the times of selfprof top for ${ending}`, async () => {
        const { bottomUp, tree } = await inPanel(convert(trace, ending), async (page) => {
          const bottomUp = await table(page, 'bottom-up');
          await table(page, 'call-tree');
          return { bottomUp, tree: await callTree(page) };
        });
        const expected = withTime(merged(trace, nameInScript));
        assertSame(sumsOf(tree), expected, tolerance);
        // This table has only functions with self time, and the model does not merge all equal ones.
        const inBottomUp = sumsOf(bottomUp.calls);
        const inTable = [...expected].filter(([, { self }]) => self > 0);
        assertSame(
          inBottomUp,
          new Map(
            inTable.map(([key, sum]) => [key, sum.isMerged ? { ...sum, total: inBottomUp.get(key)?.total } : sum]),
          ),
          tolerance,
        );

        // A time is followed by its percentage, a call by its location.
        const seen = bottomUp.shown
          .map(([self, total, call]) =>
            [call.split('\n')[0], ...[self, total].map((text) => text.replace(/\sms.*/s, ' ms'))].join(' '),
          )
          .sort();
        const text = (time) =>
          `${time.toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} ms`;
        const calls = bottomUp.calls.map(
          ({ callFrame, name, self, total }) =>
            `${callFrame ? callFrame.functionName || '(anonymous)' : name} ${text(self)} ${text(total)}`,
        );
        assert.deepEqual(seen, calls.sort());
      });
    }
  });
}

test("DevTools' Performance panel shows marks and measures", async () => {
  const shown = await inPanel(convert(marks, '.trace.json'), (page) =>
    page.evaluate(() => {
      const provider = globalThis.panel.flameChart.mainDataProvider;
      const { groups, entryLevels, entryStartTimes, entryTotalTimes } = provider.timelineData();
      const track = groups.findIndex(({ name }) => name === 'Timings');
      const [first, next] = [groups[track].startLevel, groups[track + 1]?.startLevel ?? Infinity];
      return [...entryLevels.keys()]
        .filter((entry) => entryLevels[entry] >= first && entryLevels[entry] < next)
        .map((entry) => ({
          name: provider.entryTitle(entry),
          start: entryStartTimes[entry],
          length: entryTotalTimes[entry],
        }));
    }),
  );
  const { entries } = JSON.parse(readFileSync(marks));
  const timings = entries.filter(({ entryType }) => entryType === 'mark' || entryType === 'measure');
  const start = Math.min(...shown.map(({ start }) => start)) - Math.min(...timings.map(({ startTime }) => startTime));
  // Marks are drawn with a width of a microsecond.
  const text = ([name, start, length]) => `${name} ${start.toFixed(3)} ${length.toFixed(2)}`;
  const expected = timings.map(({ entryType, name, startTime, duration }) => [
    entryType === 'mark' ? `[mark]: ${name}` : name,
    startTime,
    duration,
  ]);
  assert.deepEqual(
    shown.map(({ name, start: at, length }) => text([name, at - start, length])).sort(),
    expected.map(text).sort(),
  );
});

test("DevTools' Performance panel shows functions that begin with the trace, for .trace.json", async () => {
  const { calls } = await inPanel(convert(marks, '.trace.json'), (page) => table(page, 'bottom-up'));
  assertSame(sumsOf(calls), withTime(sums(top(marks, 1), nameInScript)), 1e-3);
});
