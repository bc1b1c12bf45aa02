// How fine the times are that a page gets, from each of its clocks.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openHtml } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };
const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

suite('time', () => {
  /** A time in units of so many milliseconds, if it is a whole number of them. */
  const isOn = (time, unit) => Math.abs(time / unit - Math.round(time / unit)) < 1e-6;

  for (const [name, headers, unit] of [
    ['100 microseconds', {}, 0.1],
    ['5 microseconds in an isolated page', ISOLATED, 0.005],
  ]) {
    test(`is no finer in entries, frames and traces than in performance.now(): ${name}`, async (t) => {
      const page = await openHtml(t, '', { headers: { ...ALLOW, ...headers } });
      const [times, trace] = await page.evaluate(async () => {
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000, includeEntries: true });
        performance.mark('m');
        for (const end = performance.now() + 200; performance.now() < end; );
        performance.measure('d', 'm');
        const times = performance.getEntries().flatMap(({ startTime, duration }) => [startTime, duration]);
        for (let i = 0; i < 10; i++) {
          const before = performance.now();
          const time = await new Promise((resolve) => requestAnimationFrame(resolve));
          times.push(time);
          if (time < before - 1 || time > performance.now()) times.push('not on the clock of the window');
        }
        return [[...times, new Event('x').timeStamp, performance.now()], await profiler.stop()];
      });
      for (const time of [
        ...times,
        ...trace.samples.map(({ timestamp }) => timestamp),
        ...trace.entries.map(({ startTime }) => startTime),
      ]) {
        assert.ok(isOn(time, unit), `${time} is no multiple of ${unit}`);
      }
      assert.ok(trace.samples.length > 5);
    });
  }

  test('of garbage collections and scripts is shown to isolated pages only', async (t) => {
    const collect = async () => {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 5_000 });
      const kept = [];
      for (let i = 0; i < 60; i++) kept.push(Array.from({ length: 20_000 }, (_, index) => ({ index })));
      const { samples } = await profiler.stop();
      return [kept.length, [...new Set(samples.map(({ marker }) => marker))], samples.length];
    };
    const page = await openHtml(t, '', { headers: ALLOW });
    const [, markers, count] = await page.evaluate(collect);
    assert.ok(count > 5, `${count} samples`);
    assert.deepEqual(
      markers.filter((marker) => marker !== undefined && marker !== 'style'),
      [],
    );
    const isolated = await openHtml(t, '', { headers: { ...ALLOW, ...ISOLATED } });
    assert.ok((await isolated.evaluate(collect))[1].includes('script'));
  });

  test('of Temporal is no finer than that of Date', async (t) => {
    const page = await openHtml(t, '<iframe></iframe>');
    const fine = await page.evaluate(`(() => {
      if (typeof Temporal === 'undefined') return [];
      const times = [];
      for (const { Now } of [Temporal, frames[0].Temporal]) {
        for (let at = 0; at < 20; at++) {
          for (const end = performance.now() + 0.3; performance.now() < end;);
          times.push(Now.instant().epochNanoseconds, Now.zonedDateTimeISO().epochNanoseconds);
          for (const time of [Now.plainTimeISO(), Now.plainDateTimeISO('UTC')]) times.push(BigInt(time.microsecond * 1000 + time.nanosecond));
        }
      }
      return times.filter((time) => time % 1_000_000n !== 0n).map(String);
    })()`);
    assert.deepEqual(fine, []);
  });
});
