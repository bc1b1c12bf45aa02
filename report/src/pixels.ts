// Boxes as rows of pixels: a row for each depth, one pixel high. A canvas stretches them to their height with one call, where
// an own call for each box costs more than everything else in a frame: there are thousands in sight of a long trace.

import type { Level } from './boxes.ts';
import { lowerBound } from './profile.ts';

/** Boxes at least as wide as this many CSS pixels have a line of background on their right, and may have a name. */
export const WIDE = 3;

/** How times become pixels: the time of the left edge, and how long a pixel is. `ratio` is of pixels to CSS pixels. */
export interface Scale {
  from: number;
  perPixel: number;
  ratio: number;
}

/** The first index from `from` on whose value is above a limit; quick where it is near. */
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

/**
 * Paints a level into a row of pixels. A pixel shows the box at its middle, or else one that touches it: as much is painted
 * as can be seen, however many boxes there are. Gives the indices of the wide ones.
 */
export function paintLevel({ start, end, frame }: Level, colors: Uint32Array, row: Uint32Array, { from, perPixel, ratio }: Scale): number[] {
  const wide: number[] = [];
  row.fill(0);
  const gap = Math.max(1, Math.round(ratio));
  const wideTime = WIDE * ratio * perPixel;
  let index = lowerBound(end, from, true);
  let x = 0;
  while (x < row.length && index < end.length) {
    const left = from + x * perPixel;
    const middle = left + perPixel / 2;
    if (end[index] <= left) {
      index = gallop(end, left, index);
      if (index === end.length) break;
    }
    if (end[index] <= middle) {
      // What ends before the middle shows if nothing else does; of a wide one enough is in sight.
      if (start[index] < left + perPixel && end[index] - start[index] < wideTime) row[x] = colors[frame[index]];
      index = gallop(end, middle, index);
      if (index === end.length) break;
    }
    if (start[index] > middle) {
      if (start[index] < left + perPixel && row[x] === 0) row[x] = colors[frame[index]];
      x = Math.max(x + 1, Math.floor((start[index] - from) / perPixel));
      continue;
    }
    const right = Math.min(row.length, Math.max(x + 1, Math.ceil((end[index] - from) / perPixel - 0.5)));
    const color = colors[frame[index]];
    if (end[index] - start[index] >= wideTime) {
      wide.push(index);
      row.fill(color, x, right);
      // Where it goes on beyond the last pixel, its right edge is not in sight.
      const edge = Math.ceil((end[index] - from) / perPixel - 0.5);
      if (edge <= row.length) row.fill(0, Math.max(x, edge - gap), edge);
    } else {
      for (; x < right; x++) row[x] = color;
    }
    x = right;
  }
  return wide;
}
