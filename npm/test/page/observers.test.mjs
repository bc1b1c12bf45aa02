// Observers that libraries expect: of long tasks, of sizes and of intersections, in pages that have no layout.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openHtml } from './server.mjs';

const SPIN = 'function spin(ms) { const end = performance.now() + ms; while (performance.now() < end); }';

/** Runs in the page: the long tasks from `work` on, up to the first that is as long as wanted. */
async function longTask({ work, atLeast, buffered = false }) {
  const start = performance.now();
  const found = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.duration < atLeast || (!buffered && entry.startTime + 1 < start)) continue;
        const { name, entryType, startTime, duration, attribution } = entry;
        resolve({
          name, entryType, startTime, duration, from: start, to: performance.now(),
          is: [entry instanceof PerformanceLongTaskTiming, entry instanceof PerformanceEntry, Object.isFrozen(attribution)],
          attribution: attribution.map((item) => [item instanceof TaskAttributionTiming, item.name, item.containerType, item.toJSON().entryType]),
          json: JSON.stringify(entry),
        });
      }
    }).observe({ type: 'longtask', buffered });
  });
  new Function(work)();
  return await found;
}

suite('long tasks', () => {
  for (const [name, work] of Object.entries({
    'of a timer': 'setTimeout(() => spin(60))',
    'in microtasks': 'setTimeout(() => Promise.resolve().then(() => spin(30)).then(() => spin(30)))',
    'of a message': 'const { port1, port2 } = new MessageChannel(); port1.onmessage = () => spin(60); port2.postMessage(1)',
    'of a request': "fetch('/').then(() => spin(60))",
  })) {
    test(`${name} are observed`, async (t) => {
      const page = await openHtml(t, `<script>${SPIN}</script>`);
      const got = await page.evaluate(longTask, { work, atLeast: 58 });
      assert.deepEqual([got.name, got.entryType, got.is], ['self', 'longtask', [true, true, true]]);
      assert.ok(Number.isInteger(got.startTime) && Number.isInteger(got.duration), 'in whole milliseconds');
      assert.ok(got.startTime + got.duration <= got.to, JSON.stringify(got));
      assert.deepEqual(got.attribution, [[true, 'unknown', 'window', 'taskattribution']]);
      assert.deepEqual(Object.keys(JSON.parse(got.json)), ['name', 'entryType', 'startTime', 'duration', 'attribution']);
    });
  }

  test('of the past come to who wants what is buffered', async (t) => {
    const page = await openHtml(t, `<script>${SPIN} const from = performance.now(); spin(70); const to = performance.now();</script>`);
    const got = await page.evaluate(longTask, { work: '', atLeast: 70, buffered: true });
    const [from, to] = await page.evaluate('[from, to]');
    assert.ok(got.startTime <= from && got.startTime + got.duration + 2 >= to, `${JSON.stringify(got)} ${from} ${to}`);
    assert.deepEqual(await page.evaluate(() => [performance.getEntriesByType('longtask').length, PerformanceObserver.supportedEntryTypes]), [
      0,
      ['longtask', 'mark', 'measure', 'navigation', 'resource'],
    ]);
  });

  test('are objects that no page can forge', async (t) => {
    const page = await openHtml(t, '');
    assert.deepEqual(
      await page.evaluate(() =>
        [
          () => new PerformanceLongTaskTiming(),
          () => new TaskAttributionTiming(),
          () => Object.create(PerformanceLongTaskTiming.prototype).attribution,
          () => Object.create(PerformanceLongTaskTiming.prototype).name,
          () => Object.create(TaskAttributionTiming.prototype).containerType,
        ].map((attempt) => {
          try {
            return attempt();
          } catch (error) {
            return error.constructor === TypeError;
          }
        }),
      ),
      Array(5).fill(true),
    );
  });
});

suite('without layout', () => {
  test('no size changes', async (t) => {
    const page = await openHtml(t, '<p id="p">text</p>');
    assert.deepEqual(
      await page.evaluate(async () => {
        let calls = 0;
        const observer = new ResizeObserver(() => calls++);
        observer.observe(p);
        observer.observe(p, { box: 'border-box' });
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        observer.unobserve(p);
        observer.disconnect();
        const attempts = [() => ResizeObserver(), () => new ResizeObserver(), () => observer.observe(), () => observer.observe({}), () => observer.observe(p, { box: 'x' }), () => ResizeObserver.prototype.disconnect.call({})];
        return [calls, `${observer}`, ...attempts.map((attempt) => {
          try {
            return attempt();
          } catch (error) {
            return error.constructor === TypeError;
          }
        })];
      }),
      [0, '[object ResizeObserver]', ...Array(6).fill(true)],
    );
  });

  test('each target is said once not to intersect', async (t) => {
    const page = await openHtml(t, '<p id="p">text</p><i id="i"></i><b id="b"></b>');
    assert.deepEqual(
      await page.evaluate(async () => {
        const batches = [];
        const done = new Promise((resolve) => {
          const observer = new IntersectionObserver(
            (entries, given) => {
              batches.push(entries.map(({ target, isIntersecting, intersectionRatio, boundingClientRect, rootBounds, time }) => [target.id, isIntersecting, intersectionRatio, boundingClientRect.width, rootBounds, time <= performance.now()]));
              resolve(given === observer && entries[0] instanceof IntersectionObserverEntry);
            },
            { rootMargin: '10px 5%', threshold: [1, 0.5] },
          );
          batches.push([observer.root, observer.rootMargin, observer.thresholds]);
          observer.observe(p);
          observer.observe(i);
          observer.observe(p);
          observer.observe(b);
          observer.unobserve(b);
        });
        return [await done, ...batches];
      }),
      [true, [null, '10px 5% 10px 5%', [0.5, 1]], [['p', false, 0, 0, null, true], ['i', false, 0, 0, null, true]]],
    );
  });

  test('wrong options are refused', async (t) => {
    const page = await openHtml(t, '');
    assert.deepEqual(
      await page.evaluate(() =>
        [undefined, { rootMargin: '1em' }, { rootMargin: '1px 2px 3px 4px 5px' }, { threshold: 2 }, { threshold: NaN }, { root: {} }, { root: document, threshold: [] }].map((options, index) => {
          try {
            return new IntersectionObserver(index === 0 ? undefined : () => {}, options).thresholds.length;
          } catch (error) {
            return error.name;
          }
        }),
      ),
      ['TypeError', 'SyntaxError', 'SyntaxError', 'RangeError', 'TypeError', 'TypeError', 1],
    );
  });
});

test('what pages have not is said once', async (t) => {
  const page = await openHtml(t, '<canvas id="c"></canvas><script>for (let i = 0; i < 20; i++) c.getContext("2d");</script>');
  assert.deepEqual(page.problems.map(({ kind, text }) => [kind, text]), [
    ['not-implemented', "Not implemented: HTMLCanvasElement's getContext() method, for pages have no canvas to paint on"],
  ]);
});
