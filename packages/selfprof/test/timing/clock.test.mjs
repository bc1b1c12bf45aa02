// High Resolution Time: now(), timeOrigin, coarsening.

import assert from 'node:assert/strict';
import perfHooks from 'node:perf_hooks';
import { suite, test } from 'node:test';

import { performance } from 'selfprof';
import { createTiming } from 'selfprof/timing';

/** A few thousand readings, in order. */
function readings(clock, count = 20_000) {
  return Float64Array.from({ length: count }, () => clock.now());
}

suite('now()', () => {
  test('goes up only', () => {
    const times = readings(performance);
    assert.ok(times.every((time, index) => index === 0 || time >= times[index - 1]));
    assert.ok(times.at(-1) > times[0]);
  });

  test('goes as fast as the clock of the system', async () => {
    const [ours, system] = [performance.now(), process.hrtime.bigint()];
    await new Promise((resolve) => setTimeout(resolve, 50));
    const passed = performance.now() - ours;
    assert.ok(Math.abs(passed - Number(process.hrtime.bigint() - system) / 1e6) < 5, `${passed}`);
  });

  test('does not follow the calendar', (t) => {
    const calendar = t.mock.method(Date, 'now', () => 0);
    const before = performance.now();
    calendar.mock.mockImplementation(() => 1e12);
    const passed = performance.now() - before;
    assert.ok(passed >= 0 && passed < 1e4, `${passed}`);
  });

  test('agrees with the one of node:perf_hooks', () => {
    const before = perfHooks.performance.now();
    const now = performance.now();
    const after = perfHooks.performance.now();
    assert.ok(now >= before - 0.01 && now <= after + 0.01, `${before} ${now} ${after}`);
  });

  for (const [crossOriginIsolated, resolution] of [
    [true, 5],
    [false, 100],
    [undefined, 100],
  ]) {
    test(`is coarsened to ${resolution} µs when crossOriginIsolated is ${crossOriginIsolated}`, () => {
      const clock = createTiming({ crossOriginIsolated }).performance;
      const times = new Set(readings(clock, 200_000));
      assert.ok(times.size > 3, `${times.size}`);
      for (const time of times) {
        // Exactly the double that is closest to the multiple: no digits behind it when it is shown.
        assert.equal(time, (Math.round((time * 1e3) / resolution) * resolution) / 1e3);
        assert.equal(clock.mark('m', { startTime: time }).startTime, time);
      }
    });
  }

  test('of a time origin that has just been is close to 0', () => {
    const { performance: fresh } = createTiming();
    assert.ok(fresh.now() >= 0 && fresh.now() < 1000);
  });
});

suite('timeOrigin', () => {
  test("is that of node:perf_hooks for Node's own", () => {
    assert.equal(performance.timeOrigin, perfHooks.performance.timeOrigin);
  });

  test('and now() give the time of day', () => {
    for (const clock of [
      performance,
      createTiming().performance,
      createTiming({ crossOriginIsolated: true }).performance,
    ]) {
      // The calendar may have been set since Node began, but not by much while tests run.
      assert.ok(Math.abs(clock.timeOrigin + clock.now() - Date.now()) < 1000);
    }
  });

  test('is the one that the host says', () => {
    const timeOrigin = perfHooks.performance.timeOrigin - 5000.5;
    const { performance: page } = createTiming({ timeOrigin });
    assert.equal(page.timeOrigin, timeOrigin);
    const apart = page.now() - perfHooks.performance.now();
    assert.ok(Math.abs(apart - 5000.5) < 1, `${apart}`);
  });

  test('follows from a reading of the monotonic clock', () => {
    const origin = Number(process.hrtime.bigint()) / 1e6 - 3000;
    const { performance: page } = createTiming({ origin });
    assert.ok(page.now() >= 3000 && page.now() < 4000, `${page.now()}`);
    assert.ok(Math.abs(page.timeOrigin + page.now() - Date.now()) < 1000);
    assert.equal(page.timeOrigin, Math.floor(page.timeOrigin * 10) / 10, 'coarsened');
  });

  test('may differ between clocks that tell the same time', () => {
    const [early, late] = [8000, 4000].map((ago) => createTiming({ timeOrigin: Date.now() - ago }).performance);
    const apart = early.timeOrigin + early.now() - (late.timeOrigin + late.now());
    assert.ok(Math.abs(apart) < 10, `${apart}`);
  });
});
