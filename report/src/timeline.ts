// The whole trace at a glance: how busy it was and with what, a lane for each kind of work, and one for marks and measures.
// Dragging over it selects a stretch of time.

import uPlot from 'uplot';

import { type Category, categorise } from './categories.ts';
import { canvasTheme } from './colors.ts';
import { element } from './elements.ts';
import { ENTRY_ROW, LANE, type Rows, drawEntries, drawLane, stackMeasures } from './lanes.ts';
import type { State } from './state.ts';
import { milliseconds } from './words.ts';

const PLOT_HEIGHT = 64;
const AXIS_HEIGHT = 26;
/** Room for the names of the lanes. */
const NAMES_WIDTH = 64;

export class Timeline {
  readonly root = element('section', {
    class: 'timeline',
    tabindex: '0',
    'aria-label': 'Timeline. Drag to select a stretch of time. Arrow keys move it, Shift with arrow keys widens it, Escape selects all.',
  });
  readonly #state: State;
  #plot: uPlot | undefined;
  #categories: Category[] = [];
  #rows: Rows = { rows: [], marks: [] };
  /** Where the flame graph looks. It moves with each frame, and redrawing the lanes would be too slow for that. */
  readonly #outline = element('div', { class: 'outline', hidden: true });
  #isSelecting = false;

  constructor(state: State) {
    this.#state = state;
    new ResizeObserver(() => this.#resize()).observe(this.root);
    this.root.addEventListener('keydown', (event) => this.#press(event));
    state.onChange((change) => {
      if (change === 'trace' || change === 'theme') this.#make();
      if (change === 'range') this.#showSelection();
    });
  }

  /** Outlines what the flame graph shows. */
  outline(view: { start: number; end: number }): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    const { extent } = this.#state.profile;
    const left = plot.valToPos(Math.max(extent.start, view.start), 'x');
    const right = plot.valToPos(Math.min(extent.end, view.end), 'x');
    const isHidden = view.start <= extent.start && view.end >= extent.end;
    if (this.#outline.hidden !== isHidden) this.#outline.hidden = isHidden;
    // A new width means a new layout, and panning needs none.
    const width = `${Math.max(3, Math.round(right - left))}px`;
    if (this.#outline.style.width !== width) this.#outline.style.width = width;
    this.#outline.style.transform = `translateX(${left.toFixed(1)}px)`;
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
    const buckets = 600;
    const { categories, times, parts } = categorise(profile, buckets);
    this.#categories = categories;
    this.#rows = stackMeasures(profile);
    // Areas on top of each other: the last is drawn first, and covered by those below it.
    const sums = parts.map((part) => [...part]);
    for (let index = 1; index < sums.length; index++) for (let at = 0; at < buckets; at++) sums[index][at] += sums[index - 1][at];
    const theme = canvasTheme();
    const width = this.root.clientWidth;
    const options: uPlot.Options = {
      width,
      height: PLOT_HEIGHT + AXIS_HEIGHT + this.#lanesHeight() + 8,
      padding: [8, 10, this.#lanesHeight(), NAMES_WIDTH],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: { x: { time: false, range: () => [profile.extent.start, profile.extent.end] }, y: { range: [0, 1] } },
      axes: [
        { size: AXIS_HEIGHT, stroke: theme.text, font: '11px system-ui, sans-serif', grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, values: (_, values) => values.map((value) => milliseconds(value)) },
        { show: false },
      ],
      series: [{}, ...sums.map((_, index) => ({ fill: categories[index].color, stroke: categories[index].color, width: 0, points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) })).reverse()],
      hooks: {
        draw: [(plot) => this.#drawLanes(plot)],
        setSelect: [(plot) => this.#selected(plot)],
        ready: [() => this.#showSelection()],
      },
    };
    const data = [times, ...sums.reverse()] as unknown as uPlot.AlignedData;
    this.#plot = new uPlot(options, data, this.root);
    this.#plot.over.append(this.#outline);
    this.#plot.over.addEventListener('dblclick', () => this.#state.select(undefined));
  }

  #resize(): void {
    const { clientWidth } = this.root;
    if (clientWidth === 0 || clientWidth === this.#plot?.width) return;
    this.#make();
  }

  #selected(plot: uPlot): void {
    if (this.#isSelecting) return;
    const { left, width } = plot.select;
    if (width < 3) this.#state.select(undefined);
    else this.#state.select({ start: plot.posToVal(left, 'x'), end: plot.posToVal(left + width, 'x') });
  }

  #showSelection(): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    this.#isSelecting = true;
    const { start, end } = this.#state.range;
    const left = plot.valToPos(start, 'x');
    const width = this.#state.hasSelection ? plot.valToPos(end, 'x') - left : 0;
    plot.setSelect({ left, width, top: 0, height: width === 0 ? 0 : plot.over.clientHeight }, false);
    this.#isSelecting = false;
    plot.redraw(false);
  }

  #drawLanes(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const theme = canvasTheme();
    const { profile } = this.#state;
    const area = { ctx, left: bbox.left, width: bbox.width, ratio, theme, namesWidth: NAMES_WIDTH * ratio };
    const toX = (time: number): number => plot.valToPos(time, 'x', true);
    ctx.save();
    let top = bbox.top + bbox.height + (AXIS_HEIGHT + 4) * ratio;
    const firstTop = top;
    for (const category of this.#categories) {
      drawLane(area, profile, category, top, toX);
      top += LANE * ratio;
    }
    top = drawEntries(area, this.#rows, top, toX);
    if (this.#state.hasSelection) {
      // What is not selected is dimmed.
      const { start, end } = this.#state.range;
      ctx.fillStyle = theme.background;
      ctx.globalAlpha = 0.6;
      ctx.fillRect(bbox.left, firstTop, toX(start) - bbox.left, top - firstTop);
      ctx.fillRect(toX(end), firstTop, bbox.left + bbox.width - toX(end), top - firstTop);
      ctx.globalAlpha = 1;
    }
    ctx.restore();
  }

  #press(event: KeyboardEvent): void {
    const { range, profile } = this.#state;
    const { extent } = profile;
    const step = (extent.end - extent.start) / 50;
    const moves: Record<string, number> = { ArrowLeft: -step, ArrowRight: step };
    if (event.key === 'Escape') {
      this.#state.select(undefined);
    } else if (moves[event.key] !== undefined) {
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
}
