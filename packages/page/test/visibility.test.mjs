// Pages in the background, and forced samples: the events of documents, and what profilers record.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { TimeoutError } from '@selfprof/page';

import { host, open, openHtml, serve } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };
/** A profiler that takes its first sample, and others only when forced. */
const QUIET = 'new Profiler({ sampleInterval: 2147483, maxBufferSize: 1000 })';

suite('forceSample()', () => {
  test('takes one sample for each started profiler of the frame', async (t) => {
    const page = await openHtml(t, `<iframe src="/child"></iframe>`, {
      headers: ALLOW,
      routes: { '/child': { body: '', headers: ALLOW } },
    });
    await page.evaluate(
      `globalThis.profilers = [${QUIET}, ${QUIET}]; frames[0].eval('globalThis.profiler = ${QUIET}'); 0`,
    );
    const child = (await page.frames()).find(({ parent }) => parent === 0).frame;
    for (let i = 0; i < 3; i++) await page.forceSample();
    await page.forceSample({ frame: child });
    await page.evaluate('globalThis.first = profilers[0].stop(); 0');
    await page.forceSample();
    const count = await page.evaluate(async () => {
      const traces = await Promise.all([first, profilers[1].stop(), frames[0].profiler.stop()]);
      return traces.map(({ samples }) => samples.length);
    });
    assert.deepEqual(count, [4, 5, 2]);
    // There is no profiler.
    await page.forceSample();
  });

  test('reaches a frame of another origin', async (t) => {
    const foreign = await serve(t, { '/': { body: `<script>profiler = ${QUIET}</script>`, headers: ALLOW } });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe><script>profiler = ${QUIET}</script>`, {
      headers: ALLOW,
    });
    const { frame } = (await page.frames()).find(({ parent }) => parent === 0);
    await page.forceSample({ frame });
    await page.forceSample({ frame });
    const count = async () => (await profiler.stop()).samples.length;
    assert.deepEqual([await page.evaluate(count), await page.evaluateIn({ frame }, count)], [1, 3]);
  });

  test('fires samplebufferfull at the limit', async (t) => {
    const page = await openHtml(
      t,
      `<script>
      profiler = new Profiler({ sampleInterval: 2147483, maxBufferSize: 2 });
      profiler.addEventListener('samplebufferfull', () => console.log('full'));
    </script>`,
      { headers: ALLOW },
    );
    await page.forceSample();
    assert.deepEqual(page.log, []);
    await page.forceSample();
    if (page.log.length === 0) await new Promise((resolve) => page.once('console', resolve));
    await page.forceSample();
    assert.equal(await page.evaluate(async () => (await profiler.stop()).samples.length), 2);
    assert.deepEqual(page.log, ['full']);
  });

  test('rejects for a missing frame and for a closed page', async (t) => {
    const page = await openHtml(t, '<iframe id="f"></iframe>');
    const child = (await page.frames()).find(({ parent }) => parent === 0).frame;
    await page.evaluate(() => f.remove());
    await assert.rejects(page.forceSample({ frame: child }), /frame/);
    await assert.rejects(page.forceSample({ frame: 99 }), /the page has no frame 99/);
    await page.close();
    await assert.rejects(page.forceSample(), /the page is closed/);
    await assert.rejects(page.setVisible(false), /the page is closed/);
  });

  test('ends a page that does not respond', async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate("setTimeout(() => { console.log('busy'); for (;;); }); 0");
    if (page.log.length === 0) await new Promise((resolve) => page.once('console', resolve));
    const crashed = new Promise((resolve) => page.once('crash', resolve));
    await assert.rejects(page.forceSample({ timeout: 50 }), TimeoutError);
    assert.match((await crashed).message, /does not respond/);
  });
});

suite('setVisible()', () => {
  test('does not fail when a frame of another origin goes meanwhile', async (t) => {
    const slow = `<script>document.addEventListener('visibilitychange', () => { for (const end = Date.now() + 2_000; Date.now() < end;); })</script>`;
    const foreign = await serve(t, { '/': slow });
    const page = await openHtml(
      t,
      `<iframe src="${foreign.url('/')}"></iframe><script>
        document.addEventListener('visibilitychange', () => setTimeout(() => document.querySelector('iframe').remove(), 50));
      </script>`,
    );
    await page.setVisible(false);
    assert.equal(page.visible, false);
    assert.equal(await page.evaluate('document.visibilityState'), 'hidden');
    assert.equal((await page.frames()).length, 1);
  });

  test('fires visibilitychange in the documents of the page and its frames', async (t) => {
    const listen = (name) => `<script>
      console.log('${name}', document.visibilityState, document.hidden);
      document.addEventListener('visibilitychange', (event) => {
        console.log('${name}', document.visibilityState, document.hidden, event.bubbles, event.cancelable, event.target === document, event.isTrusted);
      });
      if (window === top) addEventListener('visibilitychange', (event) => console.log('bubbled'));
    </script>`;
    const foreign = await serve(t, { '/': listen('foreign') });
    const page = await openHtml(
      t,
      `${listen('page')}<iframe src="/child"></iframe><iframe src="${foreign.url('/')}"></iframe>`,
      {
        routes: { '/child': listen('child') },
      },
    );
    assert.deepEqual(page.log.splice(0).sort(), ['child visible false', 'foreign visible false', 'page visible false']);
    assert.equal(page.visible, true);
    await page.setVisible(false);
    assert.equal(page.visible, false);
    const hidden = 'hidden true true false true true';
    const told = page.log.splice(0);
    assert.deepEqual(
      told.filter((line) => !line.startsWith('foreign')),
      [`page ${hidden}`, 'bubbled', `child ${hidden}`],
    );
    assert.ok(told.includes(`foreign ${hidden}`));
    await page.setVisible(false);
    assert.deepEqual(page.log, []);
    await page.setVisible(true);
    assert.equal(page.log.filter((line) => line.includes('visible false true')).length, 3);
    await assert.rejects(page.setVisible('hidden'), TypeError);
  });

  test('applies to later documents and frames', async (t) => {
    const script = '<script>console.log(location.pathname, document.visibilityState)</script>';
    const foreign = await serve(t, { '/foreign': script });
    const page = await openHtml(t, '', { routes: { '/next': script, '/child': script } });
    await page.setVisible(false);
    await page.navigate(page.server.url('/next'));
    await page.evaluate(
      (...urls) =>
        Promise.all(
          urls.map((src) => {
            const frame = Object.assign(document.createElement('iframe'), { src });
            document.documentElement.append(frame);
            return new Promise((resolve) => frame.addEventListener('load', resolve));
          }),
        ).then(() => {}),
      '/child',
      foreign.url('/foreign'),
    );
    assert.deepEqual(page.log.sort(), ['/child hidden', '/foreign hidden', '/next hidden']);
  });

  test('pauses profilers, which continue with correct timestamps', async (t) => {
    const page = await openHtml(t, `<script>profiler = ${QUIET}</script>`, { headers: ALLOW });
    await page.forceSample();
    await page.setVisible(false);
    const hiddenAt = await page.evaluate(() => performance.now());
    await page.forceSample();
    await page.forceSample();
    // A profiler that is constructed in the background begins *started*, takes its first sample and is then paused.
    await page.evaluate(`later = ${QUIET}; 0`);
    const shownAt = await page.evaluate(() => performance.now());
    await page.forceSample();
    await page.setVisible(true);
    await page.forceSample();
    const { samples, ofLater } = await page.evaluate(async () => ({
      samples: (await profiler.stop()).samples.map(({ timestamp }) => timestamp),
      ofLater: (await later.stop()).samples.map(({ timestamp }) => timestamp),
    }));
    // The first sample, and those that were forced while the page was visible.
    assert.deepEqual(
      samples.map((time) => [time <= hiddenAt, time >= shownAt]),
      [
        [true, false],
        [true, false],
        [false, true],
      ],
    );
    assert.deepEqual(
      ofLater.map((time) => time >= shownAt),
      [false, true],
    );
    assert.ok(ofLater[0] >= hiddenAt && ofLater[0] <= shownAt);
    assert.deepEqual(
      samples,
      samples.toSorted((a, b) => a - b),
    );
  });

  test('keeps a profiler from sampling for as long as the page is hidden', async (t) => {
    const page = await openHtml(
      t,
      `<script>
      profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000 });
      function spin(ms) { const end = performance.now() + ms; while (performance.now() < end); return performance.now(); }
    </script>`,
      { headers: ALLOW },
    );
    await page.setVisible(false);
    const [from, to] = [await page.evaluate('performance.now()'), await page.evaluate('spin(60)')];
    await page.setVisible(true);
    const end = await page.evaluate('spin(60)');
    const times = await page.evaluate(async () => (await profiler.stop()).samples.map(({ timestamp }) => timestamp));
    assert.deepEqual(
      times.filter((time) => time > from && time < to),
      [],
    );
    assert.ok(times.some((time) => time > to && time <= end));
  });

  test('applies to one page of a host', async (t) => {
    const pages = host(t);
    const server = await serve(t, { '/': '' });
    const [one, other] = [
      await open(t, server.url('/'), { host: pages }),
      await open(t, server.url('/'), { host: pages }),
    ];
    await one.setVisible(false);
    const state = () => document.visibilityState;
    assert.deepEqual([await one.evaluate(state), await other.evaluate(state)], ['hidden', 'visible']);
  });
});
