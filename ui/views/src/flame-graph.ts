// A flame graph on a canvas, with a tooltip, keyboard control and touch gestures.

import './flame-graph.css';

import { FlameChartContainer } from 'flame-chart-js';

import { element } from './dom.ts';
import { type Box, FlameGraphPlugin, FONT, type FrameStyle, ROW_HEIGHT } from './flame-graph-plugin.ts';
import type { FlameLayout } from './flame-layout.ts';
import { canvasTheme } from './theme.ts';
import type { TimeRange } from './time-range.ts';
import { listenToTouch, type Point } from './touch-gestures.ts';

export interface FlameGraphOptions {
  /** For screen readers. */
  label: string;
  style: FrameStyle;
  /** The heading of a box's tooltip, and the lines below it. */
  describe(box: Box): [string, ...string[]];
  /** A click on a box; -1 outside all boxes. */
  onSelect(frame: number): void;
  onViewChange?(visible: TimeRange): void;
  /** The free space left and right of the boxes in a graph of some width, in pixels. */
  marginsIn?(width: number): { left: number; right: number };
  /** Whether roots are at the bottom. */
  growsUp?: boolean;
}

/** The library's own time grid has unrounded times. It is painted in the background's color, and the plugin draws another. */
function libraryStyles() {
  const { background, text } = canvasTheme();
  return { main: { backgroundColor: background, font: FONT, fontColor: text }, timeGrid: { color: background } };
}

export class FlameGraph {
  readonly root: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #tooltip = element('div', { class: 'tooltip', hidden: true, role: 'status' });
  readonly #plugin: FlameGraphPlugin;
  readonly #container: FlameChartContainer;
  readonly #options: FlameGraphOptions;
  readonly #empty = element('p', { class: 'hint', hidden: true }, 'No samples with a stack in this time range.');

  constructor(options: FlameGraphOptions) {
    this.#options = options;
    this.#canvas = element('canvas', {
      tabindex: '0',
      role: 'img',
      'aria-label': `${options.label}. Arrow keys pan, plus and minus zoom, 0 resets the zoom.`,
    });
    this.root = element('div', { class: 'flame-graph' }, this.#canvas, this.#empty, this.#tooltip);
    this.#plugin = new FlameGraphPlugin('boxes', options.style, canvasTheme(), options.growsUp);
    this.#plugin.onHover = (box, pointer) => this.#showTooltip(box, pointer);
    this.#plugin.onSelect = (box) => options.onSelect(box?.frame ?? -1);
    this.#plugin.onViewChange = (visible) => options.onViewChange?.(visible);
    this.#canvas.width = 300;
    this.#canvas.height = 100;
    this.#container = new FlameChartContainer({
      canvas: this.#canvas,
      plugins: [this.#plugin],
      settings: { styles: libraryStyles() },
    });
    new ResizeObserver(() => this.#resize()).observe(this.root);
    this.#canvas.addEventListener('mouseleave', () => this.#plugin.clearHover());
    this.#canvas.addEventListener('keydown', (event) => this.#onKeyDown(event));
    listenToTouch(this.#canvas, {
      drag: (deltaX, deltaY) => {
        const { start, end } = this.visibleRange;
        this.#plugin.pan((-deltaX * (end - start)) / this.#canvas.clientWidth, -deltaY);
      },
      pinch: (factor, { x }) => this.#zoom(1 / factor, x / this.#canvas.clientWidth),
      tap: (at) => this.#plugin.onSelect(this.#plugin.boxAt(at)),
    });
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.root;
    if (clientWidth === 0 || clientHeight === 0) return;
    const { visibleRange } = this;
    const { left, right } = this.#margins;
    this.#canvas.style.left = `${left}px`;
    // The container's own `resize` is ignored while a frame is scheduled.
    this.#container.renderEngine.resize(clientWidth - left - right, clientHeight);
    this.zoomTo(visibleRange);
  }

  get #margins(): { left: number; right: number } {
    return this.#options.marginsIn?.(this.root.clientWidth) ?? { left: 0, right: 0 };
  }

  show(layout: FlameLayout): void {
    this.#plugin.show(layout);
    this.#empty.hidden = layout.levels.length > 0;
  }

  get layout(): FlameLayout {
    return this.#plugin.layout;
  }

  get visibleRange(): TimeRange {
    const { positionX } = this.#container.renderEngine;
    return { start: positionX, end: positionX + this.#container.renderEngine.getRealView() };
  }

  /** Makes a range visible, limited to the extent of the layout. */
  zoomTo({ start, end }: TimeRange): void {
    const { extent } = this.#plugin.layout;
    const width = Math.min(end - start, extent.end - extent.start);
    const from = Math.min(Math.max(start, extent.start), extent.end - width);
    this.#container.setZoom(from, from + width);
  }

  /** Multiplies the visible time by `factor`. The point at `position`, from 0 to 1 of the width, stays where it is. */
  #zoom(factor: number, position: number): void {
    const { start, end } = this.visibleRange;
    const anchor = start + (end - start) * position;
    this.zoomTo({ start: anchor - (anchor - start) * factor, end: anchor + (end - anchor) * factor });
  }

  /** Highlights a function, and redraws with the current colors. */
  selectFrame(frame: number): void {
    this.#plugin.selectFrame(frame);
  }

  redraw(): void {
    this.#plugin.redraw();
  }

  applyTheme(): void {
    this.#container.setSettings({ styles: libraryStyles() });
    this.#plugin.redraw(canvasTheme());
  }

  #onKeyDown(event: KeyboardEvent): void {
    const { start, end } = this.visibleRange;
    const width = end - start;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.zoomTo({ start: start - width / 8, end: end - width / 8 }),
      ArrowRight: () => this.zoomTo({ start: start + width / 8, end: end + width / 8 }),
      ArrowUp: () => this.#plugin.pan(0, -3 * ROW_HEIGHT),
      ArrowDown: () => this.#plugin.pan(0, 3 * ROW_HEIGHT),
      '+': () => this.#zoom(2 / 3, 0.5),
      '=': () => this.#zoom(2 / 3, 0.5),
      '-': () => this.#zoom(3 / 2, 0.5),
      '0': () => this.zoomTo(this.#plugin.layout.extent),
    };
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  #showTooltip(box: Box | undefined, pointer: Point): void {
    this.#tooltip.hidden = box === undefined;
    if (box === undefined) return;
    const [heading, ...lines] = this.#options.describe(box);
    this.#tooltip.replaceChildren(element('strong', {}, heading), ...lines.map((line) => element('div', {}, line)));
    const { clientWidth, clientHeight } = this.root;
    const { offsetWidth, offsetHeight } = this.#tooltip;
    const x = pointer.x + this.#margins.left;
    const left = x + 14 + offsetWidth > clientWidth ? x - offsetWidth - 10 : x + 14;
    const top = pointer.y + 14 + offsetHeight > clientHeight ? pointer.y - offsetHeight - 10 : pointer.y + 14;
    this.#tooltip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
  }
}
