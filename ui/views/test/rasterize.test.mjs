import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rasterizeLevel } from '../src/rasterize.ts';

/** Rasterizes boxes `[start, end]`, whose colors are 1, 2 and so on. A pixel is 1 ms wide by default. */
function paint(boxes, pixels, { from = 0, perPixel = 1, ratio = 1 } = {}) {
  const level = {
    start: Float64Array.from(boxes, ([start]) => start),
    end: Float64Array.from(boxes, ([, end]) => end),
    frame: Int32Array.from(boxes, (_, index) => index),
  };
  const row = new Uint32Array(pixels).fill(99);
  const wide = rasterizeLevel(
    level,
    Uint32Array.from(boxes, (_, index) => index + 1),
    row,
    { from, perPixel, ratio },
  );
  return { row: [...row].join(''), wide };
}

describe('a rasterized level', () => {
  it('has a gap on the right of wide boxes', () => {
    assert.deepEqual(
      paint(
        [
          [0, 4],
          [4, 6],
          [8, 12],
        ],
        14,
      ),
      { row: '11102200333000', wide: [0, 2] },
    );
  });

  it('may begin and end in the middle of boxes', () => {
    assert.deepEqual(
      paint(
        [
          [0, 10],
          [10, 20],
        ],
        8,
        { from: 5 },
      ),
      { row: '11110222', wide: [0, 1] },
    );
  });

  it('has no gap where a box extends beyond the row', () => {
    assert.deepEqual(paint([[0, 100]], 6, { from: 50 }), { row: '111111', wide: [0] });
  });

  it('shows the box at the center of each pixel', () => {
    const boxes = Array.from({ length: 8 }, (_, index) => [index / 4, (index + 1) / 4]);
    assert.deepEqual(paint(boxes, 3), { row: '370', wide: [] });
  });

  it('shows a narrow box that has no neighbors', () => {
    assert.deepEqual(
      paint(
        [
          [2.1, 2.2],
          [5.8, 5.9],
        ],
        8,
      ),
      { row: '00100200', wide: [] },
    );
  });

  it('is faint where a box covers only a part of a pixel', () => {
    const alphas = (boxes) => {
      const level = {
        start: Float64Array.from(boxes, ([start]) => start),
        end: Float64Array.from(boxes, ([, end]) => end),
        frame: new Int32Array(boxes.length),
      };
      const row = new Uint32Array(4);
      rasterizeLevel(level, Uint32Array.of(0xff0000ff), row, { from: 0, perPixel: 1, ratio: 1 });
      return Array.from(row, (pixel) => Math.round(((pixel >>> 24) / 255) * 10) / 10);
    };
    // A short call in each pixel.
    assert.deepEqual(alphas([0, 1, 2, 3].map((start) => [start + 0.1, start + 0.15])), [0.3, 0.3, 0.3, 0.3]);
    assert.deepEqual(alphas([[0.05, 0.45]]), [0.4, 0, 0, 0]);
    assert.deepEqual(alphas([[0, 3]]), [1, 1, 0, 0]);
    assert.deepEqual(alphas([[1.3, 1.9]]), [0, 1, 0, 0]);
  });

  it('is empty where no box is', () => {
    assert.deepEqual(paint([], 3), { row: '000', wide: [] });
    assert.deepEqual(paint([[0, 5]], 3, { from: 7 }), { row: '000', wide: [] });
    assert.deepEqual(paint([[50, 60]], 3), { row: '000', wide: [] });
  });

  it('does not depend on where the row begins', () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    };
    const boxes = [];
    for (let at = 0; at < 400; ) {
      const start = at + (random() < 0.3 ? random() * 6 : 0);
      at = start + 0.05 + random() ** 3 * 9;
      boxes.push([start, at]);
    }
    const colors = (from, pixels) => {
      const level = {
        start: Float64Array.from(boxes, ([start]) => start),
        end: Float64Array.from(boxes, ([, end]) => end),
        frame: Int32Array.from(boxes, (_, index) => index),
      };
      const row = new Uint32Array(pixels);
      rasterizeLevel(
        level,
        Uint32Array.from(boxes, (_, index) => index + 1),
        row,
        { from, perPixel: 1, ratio: 1 },
      );
      return [...row];
    };
    const whole = colors(0, 400);
    assert.ok(new Set(whole).size > 80);
    // Panning by whole pixels moves the picture without changing it.
    for (const from of [1, 17, 120, 333])
      assert.deepEqual(colors(from, 60), whole.slice(from, from + 60), `from ${from}`);
  });
});
