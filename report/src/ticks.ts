// Times on an axis, at round numbers.

import type { Range } from './profile.ts';

/** Room for a label. */
const APART = 90;

/** The times to write on so many pixels, with their labels. All have the same unit and the same digits. */
export function ticks({ start, end }: Range, pixels: number): { time: number; label: string }[] {
  const least = ((end - start) * APART) / Math.max(APART, pixels);
  if (!(least > 0) || !Number.isFinite(least)) return [];
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= least)!;
  const [unit, size] = step >= 1000 || (step >= 10 && end >= 1000) ? ['s', 1000] : step >= 1 ? ['ms', 1] : step >= 0.01 && end >= 10 ? ['ms', 1] : ['µs', 1e-3];
  const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  const first = Math.ceil(start / step - 1e-9);
  return Array.from({ length: Math.min(100, Math.floor(end / step - first + 1e-9) + 1) }, (_, index) => {
    const time = (first + index) * step;
    return { time, label: `${(time / size).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}` };
  });
}
