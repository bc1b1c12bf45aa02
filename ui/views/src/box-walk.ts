// Ways through the boxes of a flame graph: the chain of callers of a box, and its neighbors for arrow keys.

import { lowerBound } from './binary-search.ts';
import type { FlameLayout } from './flame-layout.ts';
import type { TimeRange } from './time-range.ts';

export interface Box {
  level: number;
  index: number;
  frame: number;
  start: number;
  end: number;
}

export type Step = 'out' | 'in' | 'previous' | 'next' | 'previousSection' | 'nextSection';

function boxOf({ levels }: FlameLayout, level: number, index: number): Box | undefined {
  const boxes = levels[level];
  if (boxes === undefined || index < 0 || index >= boxes.frame.length) return undefined;
  return { level, index, frame: boxes.frame[index], start: boxes.start[index], end: boxes.end[index] };
}

/** The box of a level at a point of the horizontal axis. */
export function boxAt(layout: FlameLayout, level: number, time: number): Box | undefined {
  const boxes = layout.levels[level];
  if (boxes === undefined) return undefined;
  const index = lowerBound(boxes.end, time, true);
  return boxes.start[index] <= time ? boxOf(layout, level, index) : undefined;
}

/** The index of the section that contains a level; -1 without sections. */
function sectionOf({ sections }: FlameLayout, level: number): number {
  return sections.findLastIndex((section) => section.level <= level);
}

/** The first level of the part of the layout that contains a level. */
function topOf(layout: FlameLayout, level: number): number {
  const section = layout.sections[sectionOf(layout, level)];
  return section === undefined ? 0 : section.level + 1;
}

/**
 * The place of a box: its depth, and how many boxes of its function there are from the outermost one to it. Both from
 * 1.
 */
export function placeOf(layout: FlameLayout, { level, frame, start, end }: Box): { depth: number; call: number } {
  const top = topOf(layout, level);
  let call = 1;
  for (let outer = top; outer < level; outer++) if (boxAt(layout, outer, (start + end) / 2)?.frame === frame) call += 1;
  return { depth: level - top + 1, call };
}

/** The widest box of a level in a range. */
function widestIn(layout: FlameLayout, level: number, { start, end }: TimeRange): Box | undefined {
  const boxes = layout.levels[level];
  if (boxes === undefined) return undefined;
  let widest = -1;
  let width = 0;
  for (let index = lowerBound(boxes.end, start, true); index < boxes.end.length && boxes.start[index] < end; index++) {
    const visible = Math.min(end, boxes.end[index]) - Math.max(start, boxes.start[index]);
    if (visible <= width) continue;
    widest = index;
    width = visible;
  }
  return boxOf(layout, level, widest);
}

/** Where walking begins: the widest outermost box of a range. */
export function firstBox(layout: FlameLayout, range: TimeRange): Box | undefined {
  return widestIn(layout, topOf(layout, 0), range) ?? widestIn(layout, topOf(layout, 0), layout.extent);
}

/** The box one step away; undefined if there is none. */
export function walk(layout: FlameLayout, from: Box, step: Step, visible: TimeRange): Box | undefined {
  const { level, index, start, end } = from;
  switch (step) {
    case 'out':
      return level > topOf(layout, level) ? boxAt(layout, level - 1, (start + end) / 2) : undefined;
    case 'in': {
      if (sectionOf(layout, level + 1) !== sectionOf(layout, level)) return undefined;
      const shown = { start: Math.max(start, visible.start), end: Math.min(end, visible.end) };
      return widestIn(layout, level + 1, shown) ?? widestIn(layout, level + 1, from);
    }
    case 'previous':
      return boxOf(layout, level, index - 1);
    case 'next':
      return boxOf(layout, level, index + 1);
    default: {
      const section = layout.sections[sectionOf(layout, level) + (step === 'nextSection' ? 1 : -1)];
      if (section === undefined) return undefined;
      layout.prepare?.(section.level, section.level + 2);
      return widestIn(layout, section.level + 1, visible) ?? widestIn(layout, section.level + 1, layout.extent);
    }
  }
}
