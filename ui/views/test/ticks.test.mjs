import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { ticks } from '../src/ticks.ts';

describe('tick marks', () => {
  const labels = (start, end, pixels) => ticks({ start, end }, pixels).map(({ label }) => label);
  it('are at round numbers, with the same unit and decimals', () => {
    assert.deepEqual(labels(0, 60, 400), ['0 ms', '20 ms', '40 ms', '60 ms']);
    assert.deepEqual(labels(700, 3900, 700), ['1.0 s', '1.5 s', '2.0 s', '2.5 s', '3.0 s', '3.5 s']);
    assert.deepEqual(labels(0.001, 0.0035, 400), ['1 µs', '2 µs', '3 µs']);
    assert.deepEqual(labels(60_000, 180_000, 300), ['100 s', '150 s']);
  });

  it('are absent from an empty or infinite range', () => {
    assert.deepEqual(labels(5, 5, 400), []);
    assert.deepEqual(labels(0, Infinity, 400), []);
  });
});
