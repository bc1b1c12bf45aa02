// Observers that libraries expect, in pages without layout: of long tasks, sizes and intersections.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openHtml } from './server.mjs';

const SPIN = 'function spin(ms) { const end = performance.now() + ms; while (performance.now() < end); }';

/** Runs in the page: returns the long tasks from `work` up to the first one of the given duration. */
async function longTask({ work, atLeast, buffered = false }) {
  const start = performance.now();
  const found = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.duration < atLeast || (!buffered && entry.startTime + 1 < start)) continue;
        const { name, entryType, startTime, duration, attribution } = entry;
        resolve({
          name,
          entryType,
          startTime,
          duration,
          from: start,
          to: performance.now(),
          is: [
            entry instanceof PerformanceLongTaskTiming,
            entry instanceof PerformanceEntry,
            Object.isFrozen(attribution),
          ],
          attribution: attribution.map((item) => [
            item instanceof TaskAttributionTiming,
            item.name,
            item.containerType,
            item.toJSON().entryType,
          ]),
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
    'of a message':
      'const { port1, port2 } = new MessageChannel(); port1.onmessage = () => spin(60); port2.postMessage(1)',
    'of a request': "fetch('/').then(() => spin(60))",
  })) {
    test(`${name} are observed`, async (t) => {
      const page = await openHtml(t, `<script>${SPIN}</script>`);
      const got = await page.evaluate(longTask, { work, atLeast: 58 });
      assert.deepEqual([got.name, got.entryType, got.is], ['self', 'longtask', [true, true, true]]);
      assert.ok(Number.isInteger(got.startTime) && Number.isInteger(got.duration), 'in whole milliseconds');
      assert.ok(got.startTime + got.duration <= got.to, JSON.stringify(got));
      assert.deepEqual(got.attribution, [[true, 'unknown', 'window', 'taskattribution']]);
      assert.deepEqual(Object.keys(JSON.parse(got.json)), [
        'name',
        'entryType',
        'startTime',
        'duration',
        'attribution',
      ]);
    });
  }

  test('of the past are delivered to observers with `buffered`', async (t) => {
    const page = await openHtml(
      t,
      `<script>${SPIN} const from = performance.now(); spin(70); const to = performance.now();</script>`,
    );
    const got = await page.evaluate(longTask, { work: '', atLeast: 70, buffered: true });
    const [from, to] = await page.evaluate('[from, to]');
    assert.ok(got.startTime <= from && got.startTime + got.duration + 2 >= to, `${JSON.stringify(got)} ${from} ${to}`);
    assert.deepEqual(
      await page.evaluate(() => [
        performance.getEntriesByType('longtask').length,
        PerformanceObserver.supportedEntryTypes,
      ]),
      [0, ['longtask', 'mark', 'measure', 'navigation', 'resource']],
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
        const attempts = [
          () => ResizeObserver(),
          () => new ResizeObserver(),
          () => observer.observe(),
          () => observer.observe({}),
          () => observer.observe(p, { box: 'x' }),
          () => ResizeObserver.prototype.disconnect.call({}),
        ];
        return [
          calls,
          `${observer}`,
          ...attempts.map((attempt) => {
            try {
              return attempt();
            } catch (error) {
              return error.constructor === TypeError;
            }
          }),
        ];
      }),
      [0, '[object ResizeObserver]', ...Array(6).fill(true)],
    );
  });

  test('each target is reported once as not intersecting', async (t) => {
    const page = await openHtml(t, '<p id="p">text</p><i id="i"></i><b id="b"></b>');
    assert.deepEqual(
      await page.evaluate(async () => {
        const batches = [];
        const done = new Promise((resolve) => {
          const observer = new IntersectionObserver(
            (entries, given) => {
              batches.push(
                entries.map(({ target, isIntersecting, intersectionRatio, boundingClientRect, rootBounds, time }) => [
                  target.id,
                  isIntersecting,
                  intersectionRatio,
                  boundingClientRect.width,
                  rootBounds,
                  time <= performance.now(),
                ]),
              );
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
      [
        true,
        [null, '10px 5% 10px 5%', [0.5, 1]],
        [
          ['p', false, 0, 0, null, true],
          ['i', false, 0, 0, null, true],
        ],
      ],
    );
  });

  test('wrong options are refused', async (t) => {
    const page = await openHtml(t, '');
    assert.deepEqual(
      await page.evaluate(() =>
        [
          undefined,
          { rootMargin: '1em' },
          { rootMargin: '1px 2px 3px 4px 5px' },
          { threshold: 2 },
          { threshold: NaN },
          { root: {} },
          { root: document, threshold: [] },
        ].map((options, index) => {
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

suite('media queries', () => {
  test("describe a screen of the window's size", async (t) => {
    const page = await openHtml(t, '');
    const check = async (expected, queries) => {
      for (const query of queries)
        assert.equal(await page.evaluate((text) => matchMedia(text).matches, query), expected, query);
    };
    await check(true, [
      '',
      'only screen',
      '(width: 1024px)',
      'screen and (min-width: 1024px) and (max-height: 768px)',
      '(600px <= width < 1025px)',
      '(orientation: landscape)',
      '(prefers-color-scheme: light)',
      '(hover)',
      '(resolution: 96dpi)',
      'print, (color)',
      'not (max-width: 600px)',
    ]);
    await check(false, [
      'print',
      'screen and (max-width: 1023.9px)',
      '(prefers-reduced-motion)',
      'not (unknown: 1)',
      '(((',
      'screen and',
    ]);
    assert.deepEqual(
      await page.evaluate(() => {
        const list = matchMedia(' screen  AND (color)');
        list.onchange = () => {};
        list.addListener(() => {});
        return [list.media, `${list}`, list instanceof EventTarget, typeof list.onchange];
      }),
      ['screen and (color)', '[object MediaQueryList]', true, 'function'],
    );
  });
});

test('hit tests find nothing, and nothing scrolls', async (t) => {
  const page = await openHtml(t, '<p id="p">text</p>');
  assert.deepEqual(
    await page.evaluate(() => {
      const range = document.createRange();
      range.selectNodeContents(p);
      p.scrollIntoView({ block: 'center' });
      p.scrollTo(0, 10);
      const attempts = [
        () => Range.prototype.getClientRects.call({}),
        () => Element.prototype.scrollIntoView.call({}),
        () => document.elementFromPoint(1),
        () => document.elementFromPoint(NaN, 1),
      ];
      return [
        range.getClientRects().length,
        range.getBoundingClientRect().width,
        document.elementFromPoint(1, 1),
        document.elementsFromPoint(1, 1).length,
        p.scrollTop,
        ...attempts.map((attempt) => {
          try {
            return attempt();
          } catch (error) {
            return error.name;
          }
        }),
      ];
    }),
    [0, 0, null, 0, 0, ...Array(4).fill('TypeError')],
  );
});

test('idle callbacks run when no other task waits', async (t) => {
  const page = await openHtml(t, '');
  assert.deepEqual(
    await page.evaluate(async () => {
      const order = [];
      const never = requestIdleCallback(() => order.push('never'));
      cancelIdleCallback(never);
      const idle = new Promise((resolve) =>
        requestIdleCallback(
          (deadline) => {
            order.push('idle');
            resolve([deadline instanceof IdleDeadline, deadline.didTimeout, deadline.timeRemaining() <= 50]);
          },
          { timeout: 60_000 },
        ),
      );
      setTimeout(() => order.push('task'));
      const first = await idle;
      // On a busy machine all of an idle period may pass before a callback looks at it.
      while (
        !(await new Promise((resolve) => requestIdleCallback((deadline) => resolve(deadline.timeRemaining() > 0))))
      );
      return [first, order];
    }),
    [
      [true, false, true],
      ['task', 'idle'],
    ],
  );
});

test('missing features are reported once', async (t) => {
  const page = await openHtml(
    t,
    '<canvas id="c"></canvas><script>for (let i = 0; i < 20; i++) c.getContext("2d");</script>',
  );
  assert.deepEqual(
    page.problems.map(({ kind, text }) => [kind, text]),
    [['not-implemented', "Not implemented: HTMLCanvasElement's getContext() method: pages have no canvas to paint on"]],
  );
});
