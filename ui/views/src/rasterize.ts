// Flame graph boxes as rows of pixels: one row per depth, one pixel high. The canvas then stretches each row to its
// height with one call. Drawing each box with a call of its own takes longer than everything else in a frame, because
// thousands of them are visible in a long trace.

import { lowerBound } from './binary-search.ts';
import type { Level } from './flame-layout.ts';

/** Boxes at least this many CSS pixels wide get a one-pixel gap on their right, and may get a label. */
export const WIDE = 3;

/** The least opacity of a pixel with a box that covers only a part of it. */
const FAINT = 0.3;

/** Maps times to pixels. */
export interface Scale {
  /** The time of the left edge. */
  from: number;
  /** Milliseconds per device pixel. */
  perPixel: number;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

/** The first index from `from` on whose value is above a limit. An exponential search: fast when the index is near. */
function gallop(values: Float64Array, limit: number, from: number): number {
  let step = 1;
  let low = from;
  while (low + step < values.length && values[low + step] <= limit) {
    low += step;
    step *= 2;
  }
  let high = Math.min(values.length, low + step);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A color with a share of its opacity. */
function faded(color: number, share: number): number {
  const alpha = Math.round((color >>> 24) * Math.min(1, Math.max(FAINT, share)));
  return ((color & 0xffffff) | (alpha << 24)) >>> 0;
}

/**
 * Paints a level into a row of pixels. A pixel shows the box at its center, otherwise a box that touches it, so the
 * cost depends on the number of pixels and not on the number of boxes. A box that only touches a pixel is faint there:
 * else many short calls would look like a long one. Returns the indices of the wide boxes.
 */
export function rasterizeLevel(
  { start, end, frame }: Level,
  colors: Uint32Array,
  row: Uint32Array,
  { from, perPixel, ratio }: Scale,
): number[] {
  const wide: number[] = [];
  row.fill(0);
  const gap = Math.max(1, Math.round(ratio));
  const wideTime = WIDE * ratio * perPixel;
  let index = lowerBound(end, from, true);
  let x = 0;
  while (x < row.length && index < end.length) {
    const left = from + x * perPixel;
    const center = left + perPixel / 2;
    if (end[index] <= left) {
      index = gallop(end, left, index);
      if (index === end.length) break;
    }
    if (end[index] <= center) {
      // A narrow box that ends before the center shows unless another box covers the center. A wide box shows anyway.
      if (start[index] < left + perPixel && end[index] - start[index] < wideTime)
        row[x] = faded(colors[frame[index]], (end[index] - start[index]) / perPixel);
      index = gallop(end, center, index);
      if (index === end.length) break;
    }
    if (start[index] > center) {
      if (start[index] < left + perPixel && row[x] === 0)
        row[x] = faded(colors[frame[index]], (left + perPixel - start[index]) / perPixel);
      x = Math.max(x + 1, Math.floor((start[index] - from) / perPixel));
      continue;
    }
    const right = Math.min(row.length, Math.max(x + 1, Math.ceil((end[index] - from) / perPixel - 0.5)));
    const color = colors[frame[index]];
    if (end[index] - start[index] >= wideTime) {
      wide.push(index);
      row.fill(color, x, right);
      // A box that extends beyond the last pixel has no visible right edge.
      const edge = Math.ceil((end[index] - from) / perPixel - 0.5);
      if (edge <= row.length) row.fill(0, Math.max(x, edge - gap), edge);
    } else {
      for (; x < right; x++) row[x] = color;
    }
    x = right;
  }
  return wide;
}
