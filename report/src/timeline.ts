// The whole trace at a glance: how busy it was and with what, a lane for each kind of work, and one for marks and measures.
// Dragging over it selects a stretch of time; a click on a measure selects its own.

import uPlot from 'uplot';

import { type Category, categorise } from './categories.ts';
import { type Theme, canvasTheme } from './colors.ts';
import { element, fill } from './elements.ts';
import { type Area, ENTRY_ROW, LANE, type Rows, drawEntries, drawLane, drawName, stackMeasures } from './lanes.ts';
import type { Entry, Range } from './profile.ts';
import { listenToSelecting } from './selecting.ts';
import type { State } from './state.ts';
import { ticks } from './ticks.ts';
import { milliseconds, percent } from './words.ts';

const PLOT_HEIGHT = 64;
const AXIS_HEIGHT = 24;
const PADDING = 8;
/** Half the width of a time below the plot. */
const CENTERED = 24;
/** Marks that are this many pixels away are still meant. */
const NEAR = 6;

export class Timeline {
  readonly root = element('section', {
    class: 'timeline',
    tabindex: '0',
    'aria-label': 'Timeline. Left and right arrow keys select a stretch of time and move it, with Shift they widen it; up and down arrow keys select marks and measures; Escape selects all.',
  });
  readonly #state: State;
  #plot: uPlot | undefined;
  #theme: Theme = canvasTheme();
  #categories: Category[] = [];
  #parts: Float64Array[] = [];
  #rows: Rows = { rows: [], marks: [] };
  /** Where the flame graph looks. It moves with each frame, and redrawing the lanes would be too slow for that. */
  readonly #outline = element('div', { class: 'outline', hidden: true });
  readonly #tooltip = element('div', { class: 'tooltip', hidden: true });
  readonly #spoken = element('p', { class: 'spoken' });
  readonly #spokenEntry = element('p', { class: 'spoken', role: 'status' });
  /** Marks and measures by their start, and which of them arrow keys have reached. */
  #entries: Entry[] = [];
  #entry = -1;

  constructor(state: State) {
    this.#state = state;
    new ResizeObserver(() => this.#resize()).observe(this.root);
    this.root.append(this.#spoken, this.#spokenEntry, this.#tooltip);
    this.root.addEventListener('blur', () => (this.#tooltip.hidden = true));
    this.root.addEventListener('keydown', (event) => this.#press(event));
    listenToSelecting(this.root, () => this.#plot?.over.getBoundingClientRect(), {
      preview: (from, to) => this.#preview(from, to),
      done: (from, to) => state.select(this.#rangeOf(from, to)),
      cancel: () => this.#showSelection(),
      click: (x, y) => this.#click(x, y),
    });
    this.root.addEventListener('dblclick', () => state.select(undefined));
    this.root.addEventListener('mousemove', (event) => this.#hover(event));
    this.root.addEventListener('mouseleave', () => (this.#tooltip.hidden = true));
    state.onChange((change) => {
      if (change === 'trace' || change === 'theme') this.#make();
      if (change === 'range') this.#showSelection();
    });
  }

  /** Outlines what the flame graph shows. */
  outline(view: Range): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    const { extent } = this.#state.profile;
    const left = plot.valToPos(Math.max(extent.start, view.start), 'x');
    const right = plot.valToPos(Math.min(extent.end, view.end), 'x');
    const isHidden = view.end - view.start >= 0.999 * (extent.end - extent.start);
    if (this.#outline.hidden !== isHidden) this.#outline.hidden = isHidden;
    // A new width means a new layout, and panning needs none.
    const width = `${Math.max(3, Math.round(right - left))}px`;
    if (this.#outline.style.width !== width) this.#outline.style.width = width;
    this.#outline.style.transform = `translateX(${left.toFixed(1)}px)`;
  }

  get #gutter(): number {
    return this.root.clientWidth < 600 ? 68 : 118;
  }

  #lanesHeight(): number {
    const entries = this.#rows.rows.length + (this.#rows.marks.length > 0 ? 1 : 0);
    return this.#categories.length * LANE + entries * ENTRY_ROW + 8;
  }

  /** Draws all of it, once there is room. */
  #make(): void {
    this.#plot?.destroy();
    if (this.root.clientWidth === 0) return;
    const { profile } = this.#state;
    const width = this.root.clientWidth;
    const buckets = Math.max(50, width - this.#gutter - PADDING * 2);
    const { categories, times, parts } = categorise(profile, buckets);
    this.#categories = categories;
    this.#parts = parts;
    this.#rows = stackMeasures(profile);
    this.#entries = profile.entries.toSorted((a, b) => a.start - b.start || b.duration - a.duration);
    this.#entry = -1;
    this.#theme = canvasTheme();
    fill(this.#spoken, `Of ${milliseconds(profile.extent.end - profile.extent.start)}: ${categories.map(({ name, time }) => `${name} ${percent(time, profile.extent.end - profile.extent.start)}`).join(', ')}.`);
    // Areas on top of each other: the last is drawn first, and covered by those below it. Idle time is what they leave free.
    const shown = categories.flatMap(({ name }, index) => (name === 'idle' ? [] : [index]));
    const sums = shown.map((index) => [...parts[index]]);
    for (let index = 1; index < sums.length; index++) for (let at = 0; at < buckets; at++) sums[index][at] += sums[index - 1][at];
    const theme = this.#theme;
    const { extent } = profile;
    const marks = ticks(extent, buckets);
    const options: uPlot.Options = {
      width,
      height: PLOT_HEIGHT + AXIS_HEIGHT + this.#lanesHeight() + PADDING,
      padding: [PADDING, PADDING * 2, this.#lanesHeight(), this.#gutter],
      legend: { show: false },
      cursor: { show: false, drag: { x: false, y: false, setScale: false } },
      scales: { x: { time: false, range: () => [profile.extent.start, profile.extent.end] }, y: { range: [0, 1] } },
      axes: [
        {
          size: AXIS_HEIGHT,
          stroke: theme.quiet,
          font: '11px system-ui, sans-serif',
          grid: { stroke: theme.grid, width: 1 },
          ticks: { show: false },
          splits: () => marks.map(({ time }) => time),
          // What is written in the middle below the right edge would be cut.
          values: () => marks.map(({ time, label }) => ((extent.end - time) * buckets < CENTERED * (extent.end - extent.start) ? '' : label)),
        },
        { show: false },
      ],
      series: [{}, ...shown.map((index) => ({ fill: categories[index].color, stroke: categories[index].color, width: 0, points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) })).reverse()],
      hooks: { draw: [(plot) => this.#drawLanes(plot)], ready: [() => this.#showSelection()] },
    };
    const data = [times, ...sums.reverse()] as unknown as uPlot.AlignedData;
    this.#plot = new uPlot(options, data, this.root);
    this.#plot.over.append(this.#outline);
    this.#showSelection();
  }

  #resize(): void {
    const { clientWidth } = this.root;
    if (clientWidth === 0 || clientWidth === this.#plot?.width) return;
    this.#make();
  }

  #rangeOf(from: number, to: number): Range | undefined {
    const plot = this.#plot;
    return plot === undefined ? undefined : { start: plot.posToVal(from, 'x'), end: plot.posToVal(to, 'x') };
  }

  /** Shows a stretch that is not selected yet. */
  #preview(from: number, to: number): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    this.#tooltip.hidden = true;
    const left = Math.max(0, from);
    plot.setSelect({ left, width: Math.max(0, Math.min(plot.over.clientWidth, to) - left), top: 0, height: plot.over.clientHeight }, false);
  }

  #showSelection(): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    const { start, end } = this.#state.range;
    const left = plot.valToPos(start, 'x');
    const width = this.#state.hasSelection ? plot.valToPos(end, 'x') - left : 0;
    plot.setSelect({ left, width, top: 0, height: width === 0 ? 0 : plot.over.clientHeight }, false);
    plot.redraw(false);
  }

  #drawLanes(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const theme = this.#theme;
    const { profile } = this.#state;
    const area: Area = { ctx, left: bbox.left, width: bbox.width, ratio, theme, gutter: this.#gutter * ratio };
    const toX = (time: number): number => plot.valToPos(time, 'x', true);
    ctx.save();
    const whole = profile.extent.end - profile.extent.start;
    const idle = this.#categories.find(({ name }) => name === 'idle')?.time ?? 0;
    drawName(area, 'busy', bbox.top, bbox.height, percent(whole - idle, whole));
    let top = bbox.top + bbox.height + (AXIS_HEIGHT + 4) * ratio;
    const firstTop = top;
    for (const [index, category] of this.#categories.entries()) {
      drawLane(area, category, this.#parts[index], whole, top);
      top += LANE * ratio;
    }
    top = drawEntries(area, this.#rows, top, toX);
    if (this.#state.hasSelection) {
      // What is not selected is dimmed.
      const { start, end } = this.#state.range;
      ctx.fillStyle = theme.background;
      ctx.globalAlpha = 0.65;
      for (const [from, height] of [[bbox.top, bbox.height], [firstTop, top - firstTop]]) {
        ctx.fillRect(bbox.left, from, toX(start) - bbox.left, height);
        ctx.fillRect(toX(end), from, bbox.left + bbox.width - toX(end), height);
      }
      ctx.globalAlpha = 1;
    }
    ctx.restore();
  }

  /** The mark or the measure at a place, from the upper left corner of the plot, and the stretch that it stands for. */
  #entryAt(x: number, y: number): Entry | undefined {
    const plot = this.#plot;
    if (plot === undefined) return undefined;
    const { rows, marks } = this.#rows;
    const top = plot.over.clientHeight + AXIS_HEIGHT + 4 + this.#categories.length * LANE;
    const row = Math.floor((y - top) / ENTRY_ROW);
    const time = plot.posToVal(x, 'x');
    const slack = plot.posToVal(x + NEAR, 'x') - time;
    if (row < 0 || x < 0) return undefined;
    if (marks.length > 0 && row === 0) {
      const next = marks.findIndex(({ start }) => start > time + slack);
      return marks[(next === -1 ? marks.length : next) - 1];
    }
    const measures = rows[row - (marks.length > 0 ? 1 : 0)] ?? [];
    return measures.find(({ start, duration }) => start - slack <= time && time <= start + duration + slack);
  }

  /** The stretch that a measure has, or from a mark to the next. */
  #rangeOfEntry({ isMeasure, start, duration }: Entry): Range {
    if (isMeasure) return { start, end: start + duration };
    const next = this.#rows.marks.find((mark) => mark.start > start);
    return { start, end: next?.start ?? this.#state.profile.extent.end };
  }

  #tellEntry(entry: Entry): string {
    const { start, end } = this.#rangeOfEntry(entry);
    return entry.isMeasure ? `${milliseconds(end - start)} from ${milliseconds(start)}` : `mark at ${milliseconds(start)}, ${milliseconds(end - start)} until the next`;
  }

  #showTooltip(entry: Entry, x: number, y: number, ...more: string[]): void {
    this.#tooltip.hidden = false;
    fill(this.#tooltip, element('strong', {}, entry.name), ...[this.#tellEntry(entry), ...more].map((line) => element('div', {}, line)));
    const left = Math.max(0, Math.min(x, this.root.clientWidth - this.#tooltip.offsetWidth - 8));
    this.#tooltip.style.transform = `translate(${left}px, ${Math.max(0, y - this.#tooltip.offsetHeight)}px)`;
  }

  /** Selects the next mark or measure, or the one before. */
  #step(by: number): void {
    const plot = this.#plot;
    const { length } = this.#entries;
    if (plot === undefined || length === 0) return;
    this.#entry = this.#entry === -1 && by < 0 ? length - 1 : Math.max(0, Math.min(length - 1, this.#entry + by));
    const entry = this.#entries[this.#entry];
    this.#state.select(this.#rangeOfEntry(entry));
    fill(this.#spokenEntry, `${entry.name}, ${this.#tellEntry(entry)}`);
    this.#showTooltip(entry, this.#gutter + plot.valToPos(entry.start, 'x'), plot.over.clientHeight + PADDING);
  }

  /** Selects the stretch of a mark or a measure; else lets go of the selection, or chooses what ran at that time. */
  #click(x: number, y: number): void {
    const plot = this.#plot;
    if (plot === undefined || x < 0) return;
    const found = this.#entryAt(x, y);
    if (found !== undefined) this.#state.select(this.#rangeOfEntry(found));
    else if (this.#state.hasSelection) this.#state.select(undefined);
    else this.#state.choose(this.#state.profile.frameAt(plot.posToVal(x, 'x')));
  }

  #hover(event: MouseEvent): void {
    const plot = this.#plot;
    if (plot === undefined || event.buttons !== 0) return;
    const { left, top } = plot.over.getBoundingClientRect();
    const found = this.#entryAt(event.clientX - left, event.clientY - top);
    this.#tooltip.hidden = found === undefined;
    if (found === undefined) return;
    const own = this.root.getBoundingClientRect();
    this.#showTooltip(found, event.clientX - own.left + 14, event.clientY - own.top - 10, 'A click selects it.');
  }

  #press(event: KeyboardEvent): void {
    const { range, profile } = this.#state;
    const { extent } = profile;
    const step = (extent.end - extent.start) / 50;
    const moves: Record<string, number> = { ArrowLeft: -step, ArrowRight: step };
    const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 };
    if (steps[event.key] !== undefined) {
      event.preventDefault();
      this.#step(steps[event.key]);
    }
    if (moves[event.key] === undefined) return;
    event.preventDefault();
    const move = moves[event.key];
    if (!this.#state.hasSelection) {
      const middle = (extent.start + extent.end) / 2;
      this.#state.select({ start: middle - step * 5, end: middle + step * 5 });
    } else if (event.shiftKey) {
      this.#state.select({ start: range.start, end: Math.max(range.start + step, range.end + move) });
    } else {
      const bounded = Math.max(extent.start - range.start, Math.min(extent.end - range.end, move));
      this.#state.select({ start: range.start + bounded, end: range.end + bounded });
    }
  }
}
