// Tick marks of a time axis, at round numbers.

import type { TimeRange } from './time-range.ts';

/** The minimum distance between labels, in pixels. */
const MIN_DISTANCE = 90;

/** The tick marks of an axis of a width in pixels. All labels have the same unit and number of decimals. */
export function ticks({ start, end }: TimeRange, width: number): { time: number; label: string }[] {
  const minimum = ((end - start) * MIN_DISTANCE) / Math.max(MIN_DISTANCE, width);
  if (!(minimum > 0) || !Number.isFinite(minimum)) return [];
  const power = 10 ** Math.floor(Math.log10(minimum));
  const step = ([1, 2, 5].find((factor) => factor * power >= minimum) ?? 10) * power;
  const [unit, size] = unitOf(step, end);
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  const first = Math.ceil(start / step - 1e-9);
  return Array.from({ length: Math.min(100, Math.floor(end / step - first + 1e-9) + 1) }, (_, index) => {
    const time = (first + index) * step;
    const format = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return { time, label: `${(time / size).toLocaleString('en', format)} ${unit}` };
  });
}

/** The unit of the labels, and its length in milliseconds. */
function unitOf(step: number, end: number): [string, number] {
  if (step >= 1000 || (step >= 10 && end >= 1000)) return ['s', 1000];
  if (step >= 1 || (step >= 0.01 && end >= 10)) return ['ms', 1];
  return ['µs', 1e-3];
}
