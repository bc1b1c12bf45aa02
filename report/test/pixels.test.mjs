// Boxes as pixels.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { paintLevel } from '../src/pixels.ts';
import { ticks } from '../src/ticks.ts';

/** Paints boxes, `[start, end]` each in the colour of its place from 1, on a row of pixels that are 1 ms each. */
function paint(boxes, pixels, { from = 0, perPixel = 1, ratio = 1 } = {}) {
  const level = { start: Float64Array.from(boxes, ([start]) => start), end: Float64Array.from(boxes, ([, end]) => end), frame: Int32Array.from(boxes, (_, index) => index) };
  const row = new Uint32Array(pixels).fill(99);
  const wide = paintLevel(level, Uint32Array.from(boxes, (_, index) => index + 1), row, { from, perPixel, ratio });
  return { row: [...row].join(''), wide };
}

describe('a row of pixels', () => {
  it('has boxes where they are, and a line between wide ones', () => {
    assert.deepEqual(paint([[0, 4], [4, 6], [8, 12]], 14), { row: '11102200333000', wide: [0, 2] });
  });

  it('begins and ends in the middle of boxes', () => {
    assert.deepEqual(paint([[0, 10], [10, 20]], 8, { from: 5 }), { row: '11110222', wide: [0, 1] });
  });

  it('has no line where a box goes on', () => {
    assert.deepEqual(paint([[0, 100]], 6, { from: 50 }), { row: '111111', wide: [0] });
  });

  it('shows of many boxes in a pixel the one at its middle', () => {
    const boxes = Array.from({ length: 8 }, (_, index) => [index / 4, (index + 1) / 4]);
    assert.deepEqual(paint(boxes, 3), { row: '370', wide: [] });
  });

  it('shows a lonely box, however thin', () => {
    assert.deepEqual(paint([[2.1, 2.2], [5.8, 5.9]], 8), { row: '00100200', wide: [] });
  });

  it('is empty where there is nothing', () => {
    assert.deepEqual(paint([], 3), { row: '000', wide: [] });
    assert.deepEqual(paint([[0, 5]], 3, { from: 7 }), { row: '000', wide: [] });
    assert.deepEqual(paint([[50, 60]], 3), { row: '000', wide: [] });
  });

  it('shows the same however it is cut', () => {
    let seed = 7;
    const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
    const boxes = [];
    for (let at = 0; at < 400; ) {
      const start = at + (random() < 0.3 ? random() * 6 : 0);
      at = start + 0.05 + random() ** 3 * 9;
      boxes.push([start, at]);
    }
    const colors = (from, pixels) => {
      const level = { start: Float64Array.from(boxes, ([start]) => start), end: Float64Array.from(boxes, ([, end]) => end), frame: Int32Array.from(boxes, (_, index) => index) };
      const row = new Uint32Array(pixels);
      paintLevel(level, Uint32Array.from(boxes, (_, index) => index + 1), row, { from, perPixel: 1, ratio: 1 });
      return [...row];
    };
    const whole = colors(0, 400);
    assert.ok(new Set(whole).size > 80);
    // A pan by whole pixels moves the picture and changes nothing in it.
    for (const from of [1, 17, 120, 333]) assert.deepEqual(colors(from, 60), whole.slice(from, from + 60), `from ${from}`);
  });
});

describe('times on an axis', () => {
  const labels = (start, end, pixels) => ticks({ start, end }, pixels).map(({ label }) => label);
  it('are round, with one unit and as many digits', () => {
    assert.deepEqual(labels(0, 60, 400), ['0 ms', '20 ms', '40 ms', '60 ms']);
    assert.deepEqual(labels(700, 3900, 700), ['1.0 s', '1.5 s', '2.0 s', '2.5 s', '3.0 s', '3.5 s']);
    assert.deepEqual(labels(0.001, 0.0035, 400), ['1 µs', '2 µs', '3 µs']);
    assert.deepEqual(labels(60_000, 180_000, 300), ['100 s', '150 s']);
  });

  it('are none where there is no time', () => {
    assert.deepEqual(labels(5, 5, 400), []);
    assert.deepEqual(labels(0, Infinity, 400), []);
  });
});
