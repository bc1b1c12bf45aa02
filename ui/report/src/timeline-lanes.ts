// The lanes of the timeline: one for each category of samples, and below them marks and measures.

import type { Category } from '@selfprof/views/categories.ts';
import { MARK_COLOR, MEASURE_COLOR } from '@selfprof/views/colors.ts';
import type { CanvasTheme } from '@selfprof/views/theme.ts';
import type { Entry } from '@selfprof/views/thread.ts';

/** In CSS pixels. */
export const LANE_HEIGHT = 13;
export const ENTRY_ROW_HEIGHT = 16;
const MAX_MEASURE_ROWS = 4;
/** Wider gutters show percentages beside the names. */
const MIN_GUTTER_WITH_PERCENT = 80;
/** In narrower ones there is no room for names: they are on the lanes. */
const MIN_GUTTER = 40;

/** Where lanes are drawn, in device pixels. */
export interface LaneArea {
  ctx: CanvasRenderingContext2D;
  left: number;
  width: number;
  /** Device pixels per CSS pixel. */
  ratio: number;
  /** The width left of the lanes, for their names. */
  gutter: number;
  theme: CanvasTheme;
}

/** Writes the name of a lane into the gutter, and a percentage if there is room. */
export function drawLaneName(
  { ctx, left, ratio, theme, gutter }: LaneArea,
  name: string,
  top: number,
  height: number,
  percent = '',
): void {
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  if (gutter < MIN_GUTTER * ratio) {
    drawNameOnLane(ctx, name, left, top, height, ratio, theme);
    return;
  }
  const right = left - 8 * ratio;
  const hasPercent = gutter > MIN_GUTTER_WITH_PERCENT * ratio;
  const middle = top + height / 2 + 0.5 * ratio;
  ctx.fillStyle = theme.text;
  ctx.textAlign = hasPercent ? 'left' : 'right';
  ctx.fillText(name, hasPercent ? left - gutter + 12 * ratio : right, middle, gutter - 14 * ratio);
  if (!hasPercent) return;
  ctx.fillStyle = theme.secondaryText;
  ctx.textAlign = 'right';
  ctx.fillText(percent, right, middle);
}

/** Writes a name onto the left end of a lane. */
function drawNameOnLane(
  ctx: CanvasRenderingContext2D,
  name: string,
  left: number,
  top: number,
  height: number,
  ratio: number,
  theme: CanvasTheme,
): void {
  ctx.textAlign = 'left';
  ctx.fillStyle = theme.background;
  ctx.globalAlpha = 0.75;
  const labelHeight = Math.min(height, 12 * ratio);
  const middle = top + height / 2 + 0.5 * ratio;
  ctx.fillRect(left, middle - labelHeight / 2, ctx.measureText(name).width + 8 * ratio, labelHeight);
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.text;
  ctx.fillText(name, left + 4 * ratio, middle);
}

const OPACITY_STEPS = 8;

/** Draws a category over time. The opacity of a bucket is the category's share of the peak. */
export function drawCategoryLane(
  area: LaneArea,
  { name, color }: Category,
  shares: Float64Array,
  peak: number,
  time: string,
  top: number,
): void {
  const { ctx, left, width, ratio, theme } = area;
  const height = (LANE_HEIGHT - 3) * ratio;
  ctx.fillStyle = theme.grid;
  ctx.fillRect(left, top + height / 2, width, 1);
  ctx.fillStyle = color;
  drawShares(ctx, shares, { left, top, width, height }, peak);
  drawLaneName(area, name, top, height, time);
}

/** Draws a rectangle for each bucket, in the current color. The opacity of a bucket is its share of the peak. */
export function drawShares(
  ctx: CanvasRenderingContext2D,
  shares: Float64Array,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
  peak = 1,
): void {
  const stepOf = (index: number): number =>
    Math.min(OPACITY_STEPS, Math.ceil((shares[index] / peak) * OPACITY_STEPS - 1e-6));
  // Adjacent buckets of equal opacity are one rectangle.
  for (let index = 0; index < shares.length; ) {
    const step = stepOf(index);
    const from = index;
    while (index < shares.length && stepOf(index) === step) index += 1;
    if (step === 0) continue;
    ctx.globalAlpha = 0.25 + (0.75 * step) / OPACITY_STEPS;
    ctx.fillRect(left + (from / shares.length) * width, top, ((index - from) / shares.length) * width, height);
  }
  ctx.globalAlpha = 1;
}

export interface EntryRows {
  marks: Entry[];
  /** Rows of measures; those in one row do not overlap. */
  measures: Entry[][];
}

/** Puts overlapping measures into different rows. Measures without a free row are not drawn; arrow keys reach them. */
export function arrangeEntries(entries: readonly Entry[]): EntryRows {
  const marks: Entry[] = [];
  const measures: Entry[][] = [];
  const byStart = entries.toSorted((a, b) => a.start - b.start || b.duration - a.duration);
  for (const entry of byStart) {
    if (!entry.isMeasure) {
      marks.push(entry);
      continue;
    }
    const row = measures.find((placed) => {
      const last = placed[placed.length - 1];
      return last.start + last.duration <= entry.start;
    });
    if (row !== undefined) row.push(entry);
    else if (measures.length < MAX_MEASURE_ROWS) measures.push([entry]);
  }
  return { marks, measures };
}

/** Draws marks as ticks and measures as bars, with their names. Returns the y coordinate of the lower edge. */
export function drawEntries(
  area: LaneArea,
  { marks, measures }: EntryRows,
  top: number,
  toX: (time: number) => number,
): number {
  const { ctx, left, width, ratio } = area;
  const height = (ENTRY_ROW_HEIGHT - 3) * ratio;
  const right = left + width;
  let y = top;
  if (marks.length > 0) {
    drawLaneName(area, 'marks', y, height);
    let previous = -Infinity;
    for (const [index, mark] of marks.entries()) {
      const x = toX(mark.start);
      if (x < left || x > right || x - previous < ratio) continue;
      previous = x;
      ctx.fillStyle = MARK_COLOR;
      ctx.fillRect(x, y, 1.5 * ratio, height);
      const next = marks[index + 1];
      const end = next === undefined ? right : Math.min(right, toX(next.start));
      drawEntryName(area, mark.name, x + ratio, end - x - 2 * ratio, y, height);
    }
    y += ENTRY_ROW_HEIGHT * ratio;
  }
  for (const [index, row] of measures.entries()) {
    if (index === 0) drawLaneName(area, 'measures', y, height);
    for (const measure of row) {
      const start = Math.max(left, toX(measure.start));
      const end = Math.min(right, Math.max(start + ratio, toX(measure.start + measure.duration)));
      if (end <= start) continue;
      ctx.fillStyle = MEASURE_COLOR;
      ctx.globalAlpha = 0.45;
      ctx.fillRect(start, y, end - start, height);
      ctx.globalAlpha = 1;
      ctx.fillRect(start, y, 1.5 * ratio, height);
      drawEntryName(area, measure.name, start + ratio, end - start - 2 * ratio, y, height);
    }
    y += ENTRY_ROW_HEIGHT * ratio;
  }
  return y;
}

function drawEntryName(
  { ctx, ratio, theme }: LaneArea,
  name: string,
  x: number,
  width: number,
  y: number,
  height: number,
): void {
  if (width < 24 * ratio) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, width, height);
  ctx.clip();
  ctx.textAlign = 'left';
  ctx.font = `${10 * ratio}px system-ui, sans-serif`;
  ctx.fillStyle = theme.text;
  ctx.fillText(name, x + 3 * ratio, y + height / 2 + ratio);
  ctx.restore();
}
