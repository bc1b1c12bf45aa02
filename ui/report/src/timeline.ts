// The timeline: the whole trace as a chart of categories over time, with lanes below it. Dragging selects a time range;
// a click on a mark or a measure selects its time.

import 'uplot/dist/uPlot.min.css';
import './timeline.css';

import { type Activity, activityOf } from '@selfprof/views/categories.ts';
import { element } from '@selfprof/views/dom.ts';
import { formatDuration, formatPercent } from '@selfprof/views/format.ts';
import { listenToRangeDrag } from '@selfprof/views/range-drag.ts';
import { type CanvasTheme, canvasTheme } from '@selfprof/views/theme.ts';
import type { Entry } from '@selfprof/views/thread.ts';
import { ticks } from '@selfprof/views/ticks.ts';
import type { TimeRange } from '@selfprof/views/time-range.ts';
import uPlot from 'uplot';

import type { State } from './state.ts';
import { axisMargins } from './time-axis.ts';
import {
  arrangeEntries,
  drawCategoryLane,
  drawEntries,
  drawLaneName,
  ENTRY_ROW_HEIGHT,
  type EntryRows,
  LANE_HEIGHT,
  type LaneArea,
} from './timeline-lanes.ts';

/** In CSS pixels. */
const PLOT_HEIGHT = 64;
const AXIS_HEIGHT = 24;
/** Between the axis and the lanes. */
const LANES_GAP = 4;
const PADDING = 8;
/** Half the width of a label of the time axis. */
const HALF_LABEL_WIDTH = 24;
/** A click this close to a mark or a measure is meant for it. */
const CLICK_DISTANCE = 6;

export class Timeline {
  readonly root = element('section', {
    class: 'timeline',
    tabindex: '0',
    'aria-label':
      'Timeline. Left and right arrow keys select a time range and move it, with Shift they move its end. ' +
      'Up and down arrow keys select marks and measures. Escape clears the range.',
  });
  readonly #state: State;
  #plot: uPlot | undefined;
  #theme: CanvasTheme = canvasTheme();
  #activity: Activity = { categories: [], times: [], shares: [], peak: 1 };
  #rows: EntryRows = { marks: [], measures: [] };
  /** The part of the trace that the flame graph shows: an element, because it moves in every frame of a pan. */
  readonly #visibleRange = element('div', { class: 'visible-range', hidden: true });
  readonly #tooltip = element('div', { class: 'tooltip', hidden: true });
  /** For screen readers: the shares of the categories, and the mark or measure selected by key. */
  readonly #description = element('p', { class: 'visually-hidden' });
  readonly #announcement = element('p', { class: 'visually-hidden', role: 'status' });
  /** Marks and measures by start, and the index of the one that arrow keys have reached. */
  #entries: Entry[] = [];
  #entryIndex = -1;

  constructor(state: State) {
    this.#state = state;
    new ResizeObserver(() => this.#resize()).observe(this.root);
    this.root.append(this.#description, this.#announcement, this.#tooltip);
    this.root.addEventListener('blur', () => this.hideTooltip());
    this.root.addEventListener('keydown', (event) => this.#onKeyDown(event));
    listenToRangeDrag(this.root, () => this.#plot?.over.getBoundingClientRect(), {
      preview: (from, to) => this.#preview(from, to),
      select: (from, to) => state.selectRange(this.#rangeOf(from, to)),
      cancel: () => this.#showSelection(),
      click: (x, y) => this.#click(x, y),
    });
    this.root.addEventListener('dblclick', () => state.selectRange(undefined));
    this.root.addEventListener('mousemove', (event) => this.#hover(event));
    this.root.addEventListener('mouseleave', () => this.hideTooltip());
    state.onChange((change) => {
      if (['profile', 'thread', 'label', 'theme'].includes(change)) this.#build();
      if (change === 'range') this.#showSelection();
    });
  }

  /** Outlines the range that the flame graph shows. */
  showVisibleRange(visible: TimeRange): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    const { extent } = this.#state.profile;
    const left = plot.valToPos(Math.max(extent.start, visible.start), 'x');
    const right = plot.valToPos(Math.min(extent.end, visible.end), 'x');
    const isWhole = visible.end - visible.start >= 0.999 * (extent.end - extent.start);
    if (this.#visibleRange.hidden !== isWhole) this.#visibleRange.hidden = isWhole;
    // A new width causes a layout, which panning does not need.
    const width = `${Math.max(3, Math.round(right - left))}px`;
    if (this.#visibleRange.style.width !== width) this.#visibleRange.style.width = width;
    this.#visibleRange.style.transform = `translateX(${left.toFixed(1)}px)`;
  }

  get #margins(): { left: number; right: number } {
    return axisMargins(this.root.clientWidth, this.#state.profile.threads.length);
  }

  /**
   * A time as a share of the whole trace; of several threads, whose shares add up to more than the whole, as a time.
   */
  #formatTime(time: number): string {
    return this.#state.threads.length > 1 ? formatDuration(time) : formatPercent(time, this.#duration);
  }

  get #duration(): number {
    const { extent } = this.#state.profile;
    return extent.end - extent.start;
  }

  #lanesHeight(): number {
    const { marks, measures } = this.#rows;
    const entryRows = measures.length + (marks.length > 0 ? 1 : 0);
    return this.#activity.categories.length * LANE_HEIGHT + entryRows * ENTRY_ROW_HEIGHT + 8;
  }

  /** Builds the chart for the current trace, theme and width. */
  #build(): void {
    this.#plot?.destroy();
    if (this.root.clientWidth === 0) return;
    const { profile, threads } = this.#state;
    const width = this.root.clientWidth;
    const { left, right } = this.#margins;
    const buckets = Math.max(50, width - left - right);
    const entries = threads.flatMap((thread) => thread.entries);
    this.#activity = activityOf(profile, threads, buckets);
    this.#rows = arrangeEntries(entries);
    this.#entries = entries.toSorted((a, b) => a.start - b.start || b.duration - a.duration);
    this.#entryIndex = -1;
    this.#theme = canvasTheme();
    const percentages = this.#activity.categories.map(({ name, time }) => `${name} ${this.#formatTime(time)}`);
    const several = threads.length > 1 ? ` in ${threads.length} threads` : '';
    this.#description.textContent = `Of ${formatDuration(this.#duration)}${several}: ${percentages.join(', ')}.`;
    const plot = new uPlot(this.#plotOptions(width, buckets), this.#plotData(), this.root);
    this.#plot = plot;
    plot.over.append(this.#visibleRange);
    this.#showSelection();
  }

  /** The categories that the chart stacks, from the bottom up. Waiting and idle time are the empty area above them. */
  get #stacked(): number[] {
    return this.#activity.categories.flatMap(({ isWork }, index) => (isWork ? [index] : []));
  }

  /** Areas from the largest sum to the smallest: each is drawn over the one before it. */
  #plotData(): uPlot.AlignedData {
    const { times, shares } = this.#activity;
    const sums = this.#stacked.map((index) => [...shares[index]]);
    for (let index = 1; index < sums.length; index++)
      for (let bucket = 0; bucket < times.length; bucket++) sums[index][bucket] += sums[index - 1][bucket];
    return [times, ...sums.reverse()];
  }

  #plotOptions(width: number, buckets: number): uPlot.Options {
    const { extent } = this.#state.profile;
    const { categories, peak } = this.#activity;
    const { left, right } = this.#margins;
    const theme = this.#theme;
    const marks = ticks(extent, buckets);
    const series = this.#stacked.map((index) => ({
      fill: categories[index].color,
      stroke: categories[index].color,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.stepped?.({ align: 1 }),
    }));
    return {
      width,
      height: PLOT_HEIGHT + AXIS_HEIGHT + this.#lanesHeight() + PADDING,
      padding: [PADDING, right, this.#lanesHeight(), left],
      legend: { show: false },
      cursor: { show: false, drag: { x: false, y: false, setScale: false } },
      scales: { x: { time: false, range: () => [extent.start, extent.end] }, y: { range: [0, peak] } },
      axes: [
        {
          size: AXIS_HEIGHT,
          stroke: theme.secondaryText,
          font: '11px system-ui, sans-serif',
          grid: { stroke: theme.grid, width: 1 },
          ticks: { show: false },
          splits: () => marks.map(({ time }) => time),
          // A label is centered, so one near the right edge would be cut off.
          values: () =>
            marks.map(({ time, label }) =>
              (extent.end - time) * buckets < HALF_LABEL_WIDTH * (extent.end - extent.start) ? '' : label,
            ),
        },
        { show: false },
      ],
      series: [{}, ...series.reverse()],
      hooks: { draw: [(plot) => this.#drawLanes(plot)], ready: [() => this.#showSelection()] },
    };
  }

  #resize(): void {
    const { clientWidth } = this.root;
    if (clientWidth === 0 || clientWidth === this.#plot?.width) return;
    this.#build();
  }

  #rangeOf(from: number, to: number): TimeRange | undefined {
    const plot = this.#plot;
    return plot === undefined ? undefined : { start: plot.posToVal(from, 'x'), end: plot.posToVal(to, 'x') };
  }

  /** Shows the range while it is dragged. */
  #preview(from: number, to: number): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    this.hideTooltip();
    const left = Math.max(0, from);
    plot.setSelect(
      { left, width: Math.max(0, Math.min(plot.over.clientWidth, to) - left), top: 0, height: plot.over.clientHeight },
      false,
    );
  }

  #showSelection(): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    const { range, hasSelectedRange } = this.#state;
    const left = plot.valToPos(range.start, 'x');
    const width = hasSelectedRange ? plot.valToPos(range.end, 'x') - left : 0;
    plot.setSelect({ left, width, top: 0, height: width === 0 ? 0 : plot.over.clientHeight }, false);
    plot.redraw(false);
  }

  #drawLanes(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const { categories, shares, peak } = this.#activity;
    const gutter = this.#margins.left * ratio;
    const area: LaneArea = { ctx, left: bbox.left, width: bbox.width, ratio, theme: this.#theme, gutter };
    const toX = (time: number): number => plot.valToPos(time, 'x', true);
    ctx.save();
    const busy = categories.reduce((sum, { isWork, time }) => sum + (isWork ? time : 0), 0);
    drawLaneName(area, 'busy', bbox.top, bbox.height, this.#formatTime(busy));
    let y = bbox.top + bbox.height + (AXIS_HEIGHT + LANES_GAP) * ratio;
    const lanesTop = y;
    for (const [index, category] of categories.entries()) {
      drawCategoryLane(area, category, shares[index], peak, this.#formatTime(category.time), y);
      y += LANE_HEIGHT * ratio;
    }
    const bottom = drawEntries(area, this.#rows, y, toX);
    if (this.#state.hasSelectedRange) {
      this.#dimOutside(area, toX, bbox.top, bbox.height);
      this.#dimOutside(area, toX, lanesTop, bottom - lanesTop);
    }
    ctx.restore();
  }

  /** Dims everything outside the selected range. */
  #dimOutside({ ctx, left, width }: LaneArea, toX: (time: number) => number, y: number, height: number): void {
    const { start, end } = this.#state.range;
    ctx.fillStyle = this.#theme.background;
    ctx.globalAlpha = 0.65;
    ctx.fillRect(left, y, toX(start) - left, height);
    ctx.fillRect(toX(end), y, left + width - toX(end), height);
    ctx.globalAlpha = 1;
  }

  /** The mark or measure at a point, relative to the upper left corner of the plot. */
  #entryAt(x: number, y: number): Entry | undefined {
    const plot = this.#plot;
    if (plot === undefined) return undefined;
    const { marks, measures } = this.#rows;
    const top = plot.over.clientHeight + AXIS_HEIGHT + LANES_GAP + this.#activity.categories.length * LANE_HEIGHT;
    const row = Math.floor((y - top) / ENTRY_ROW_HEIGHT);
    const time = plot.posToVal(x, 'x');
    const slack = plot.posToVal(x + CLICK_DISTANCE, 'x') - time;
    if (row < 0 || x < 0) return undefined;
    if (marks.length > 0 && row === 0) return marks.findLast(({ start }) => start <= time + slack);
    const measureRow = measures[row - (marks.length > 0 ? 1 : 0)] ?? [];
    return measureRow.find(({ start, duration }) => start - slack <= time && time <= start + duration + slack);
  }

  /** The time of a measure, or the time from a mark to the next mark. */
  #rangeOfEntry({ isMeasure, start, duration }: Entry): TimeRange {
    if (isMeasure) return { start, end: start + duration };
    const next = this.#rows.marks.find((mark) => mark.start > start);
    return { start, end: next?.start ?? this.#state.profile.extent.end };
  }

  #describe(entry: Entry): string {
    const { start, end } = this.#rangeOfEntry(entry);
    if (entry.isMeasure) return `measure, ${formatDuration(end - start)}, starts at ${formatDuration(start)}`;
    return `mark at ${formatDuration(start)}, ${formatDuration(end - start)} to the next mark`;
  }

  #showTooltip(entry: Entry, x: number, y: number, ...lines: string[]): void {
    this.#tooltip.hidden = false;
    this.#tooltip.replaceChildren(
      element('strong', {}, entry.name),
      ...[this.#describe(entry), ...lines].map((line) => element('div', {}, line)),
    );
    const left = Math.max(0, Math.min(x, this.root.clientWidth - this.#tooltip.offsetWidth - 8));
    this.#tooltip.style.transform = `translate(${left}px, ${Math.max(0, y - this.#tooltip.offsetHeight)}px)`;
  }

  hideTooltip(): void {
    this.#tooltip.hidden = true;
  }

  /** Selects the time of the next mark or measure, or of the previous one. */
  #selectEntry(step: 1 | -1): void {
    const plot = this.#plot;
    const { length } = this.#entries;
    if (plot === undefined || length === 0) return;
    const from = this.#entryIndex === -1 && step < 0 ? length : this.#entryIndex;
    this.#entryIndex = Math.max(0, Math.min(length - 1, from + step));
    const entry = this.#entries[this.#entryIndex];
    this.#state.selectRange(this.#rangeOfEntry(entry));
    this.#announcement.textContent = `${entry.name}, ${this.#describe(entry)}`;
    this.#showTooltip(entry, this.#margins.left + plot.valToPos(entry.start, 'x'), plot.over.clientHeight + PADDING);
  }

  /**
   * Selects the time of the mark or measure at a point; otherwise clears the range, or selects the function at that
   * time.
   */
  #click(x: number, y: number): void {
    const plot = this.#plot;
    if (plot === undefined || x < 0) return;
    const entry = this.#entryAt(x, y);
    if (entry !== undefined) this.#state.selectRange(this.#rangeOfEntry(entry));
    else if (this.#state.hasSelectedRange) this.#state.selectRange(undefined);
    else this.#state.selectFrame(this.#state.profile.frameAt(plot.posToVal(x, 'x'), this.#state.threads));
  }

  #hover(event: MouseEvent): void {
    const plot = this.#plot;
    if (plot === undefined || event.buttons !== 0) return;
    const area = plot.over.getBoundingClientRect();
    const entry = this.#entryAt(event.clientX - area.left, event.clientY - area.top);
    if (entry === undefined) {
      this.hideTooltip();
      return;
    }
    const { left, top } = this.root.getBoundingClientRect();
    this.#showTooltip(entry, event.clientX - left + 14, event.clientY - top - 10, 'Click to select this time range.');
  }

  #onKeyDown(event: KeyboardEvent): void {
    const step = this.#duration / 50;
    const actions: Record<string, () => void> = {
      ArrowUp: () => this.#selectEntry(-1),
      ArrowDown: () => this.#selectEntry(1),
      ArrowLeft: () => this.#moveRange(-step, event.shiftKey, step),
      ArrowRight: () => this.#moveRange(step, event.shiftKey, step),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  /** Moves the selected range, or only its end. Without a range, selects one in the middle. */
  #moveRange(by: number, isEndOnly: boolean, minimum: number): void {
    const { range, profile, hasSelectedRange } = this.#state;
    const { extent } = profile;
    if (!hasSelectedRange) {
      const middle = (extent.start + extent.end) / 2;
      this.#state.selectRange({ start: middle - minimum * 5, end: middle + minimum * 5 });
    } else if (isEndOnly) {
      this.#state.selectRange({ start: range.start, end: Math.max(range.start + minimum, range.end + by) });
    } else {
      const limited = Math.max(extent.start - range.start, Math.min(extent.end - range.end, by));
      this.#state.selectRange({ start: range.start + limited, end: range.end + limited });
    }
  }
}
