// The lanes below the timeline.

import type { Category } from './categories.ts';
import type { Theme } from './colors.ts';
import type { Entry, Profile } from './profile.ts';
import { percent } from './words.ts';

/** Heights in CSS pixels. */
export const LANE = 13;
export const ENTRY_ROW = 16;
const MAX_ROWS = 4;
/** Gutters wider than this have room for amounts. */
const WITH_AMOUNTS = 80;

export interface Area {
  ctx: CanvasRenderingContext2D;
  left: number;
  width: number;
  ratio: number;
  /** Room for the names on the left. */
  gutter: number;
  theme: Theme;
}

/** Writes a name into the gutter, and an amount where there is room for one. */
export function drawName({ ctx, left, ratio, theme, gutter }: Area, name: string, top: number, height: number, amount = ''): void {
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  const right = left - 8 * ratio;
  const hasAmount = gutter > WITH_AMOUNTS * ratio;
  const middle = top + height / 2 + 0.5 * ratio;
  ctx.fillStyle = theme.text;
  ctx.textAlign = hasAmount ? 'left' : 'right';
  ctx.fillText(name, hasAmount ? left - gutter + 12 * ratio : right, middle, gutter - 14 * ratio);
  if (!hasAmount) return;
  ctx.fillStyle = theme.quiet;
  ctx.textAlign = 'right';
  ctx.fillText(amount, right, middle);
}

/** So many strengths of a colour are told apart. */
const STRENGTHS = 8;

/** A kind of work over time: the more of a pixel's time it took, the stronger is its colour. */
export function drawLane(area: Area, { name, color, time }: Category, part: Float64Array, whole: number, top: number): void {
  const { ctx, left, width, ratio, theme } = area;
  const height = (LANE - 3) * ratio;
  drawName(area, name, top, height, percent(time, whole));
  ctx.fillStyle = theme.grid;
  ctx.fillRect(left, top + height / 2, width, 1);
  ctx.fillStyle = color;
  const strengthOf = (index: number): number => Math.min(STRENGTHS, Math.ceil(part[index] * STRENGTHS - 1e-6));
  for (let index = 0; index < part.length; ) {
    const strength = strengthOf(index);
    const from = index;
    while (index < part.length && strengthOf(index) === strength) index += 1;
    if (strength === 0) continue;
    ctx.globalAlpha = 0.25 + (0.75 * strength) / STRENGTHS;
    ctx.fillRect(left + (from / part.length) * width, top, ((index - from) / part.length) * width, height);
  }
  ctx.globalAlpha = 1;
}

export interface Rows {
  /** Measures in rows, in none of which two overlap. */
  rows: Entry[][];
  marks: Entry[];
}

/** Puts measures below each other where they overlap. What has no room is left out of the lanes; keys reach it. */
export function stackMeasures(profile: Profile): Rows {
  const rows: Entry[][] = [];
  const marks: Entry[] = [];
  const byStart = [...profile.entries].sort((a, b) => a.start - b.start || b.duration - a.duration);
  for (const entry of byStart) {
    if (!entry.isMeasure) {
      marks.push(entry);
      continue;
    }
    const row = rows.find((placed) => {
      const last = placed[placed.length - 1];
      return last.start + last.duration <= entry.start;
    });
    if (row !== undefined) row.push(entry);
    else if (rows.length < MAX_ROWS) rows.push([entry]);
  }
  return { rows, marks };
}

/** Draws marks as ticks and measures as bars with their names. Gives the lower edge. */
export function drawEntries(area: Area, { rows, marks }: Rows, top: number, toX: (time: number) => number): number {
  const { ctx, left, width, ratio, theme } = area;
  const height = (ENTRY_ROW - 3) * ratio;
  const right = left + width;
  ctx.font = `${10 * ratio}px system-ui, sans-serif`;
  const write = (text: string, from: number, room: number, at: number): void => {
    if (room < 24 * ratio) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(from, at, room, height);
    ctx.clip();
    ctx.textAlign = 'left';
    ctx.font = `${10 * ratio}px system-ui, sans-serif`;
    ctx.fillStyle = theme.text;
    ctx.fillText(text, from + 3 * ratio, at + height / 2 + ratio);
    ctx.restore();
  };
  if (marks.length > 0) {
    drawName(area, 'marks', top, height);
    let previous = -Infinity;
    for (const [index, mark] of marks.entries()) {
      const x = toX(mark.start);
      if (x < left || x > right || x - previous < ratio) continue;
      previous = x;
      ctx.fillStyle = '#d55e00';
      ctx.fillRect(x, top, 1.5 * ratio, height);
      const next = marks[index + 1];
      write(mark.name, x + ratio, (next === undefined ? right : Math.min(right, toX(next.start))) - x - 2 * ratio, top);
    }
    top += ENTRY_ROW * ratio;
  }
  for (const [index, row] of rows.entries()) {
    if (index === 0) drawName(area, 'measures', top, height);
    for (const measure of row) {
      const start = Math.max(left, toX(measure.start));
      const end = Math.min(right, Math.max(start + ratio, toX(measure.start + measure.duration)));
      if (end <= start) continue;
      ctx.fillStyle = '#e69f00';
      ctx.globalAlpha = 0.45;
      ctx.fillRect(start, top, end - start, height);
      ctx.globalAlpha = 1;
      ctx.fillRect(start, top, 1.5 * ratio, height);
      write(measure.name, start + ratio, end - start - 2 * ratio, top);
    }
    top += ENTRY_ROW * ratio;
  }
  return top;
}
