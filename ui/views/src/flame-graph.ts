// A flame graph on a canvas, with a tooltip, keyboard control and touch gestures. A click zooms into a box.

import './flame-graph.css';

import { FlameChartContainer } from 'flame-chart-js';

import { element } from './dom.ts';
import { type Box, firstBox, placeOf, type Step, walk } from './box-walk.ts';
import { FlameGraphPlugin, FONT, type FrameStyle, ROW_HEIGHT } from './flame-graph-plugin.ts';
import type { FlameLayout } from './flame-layout.ts';
import { ordinal } from './format.ts';
import { canvasTheme } from './theme.ts';
import type { TimeRange } from './time-range.ts';
import { listenToTouch, type Point } from './touch-gestures.ts';

/** Arrow keys zoom in on boxes with fewer pixels. */
const MIN_ACTIVE_WIDTH = 4;

export interface FlameGraphOptions {
  /** For screen readers. */
  label: string;
  style: FrameStyle;
  /** The heading of a box's tooltip, and the lines below it. */
  describe(box: Box): [string, ...string[]];
  /** A click on a box; -1 outside all boxes. */
  onSelect(frame: number): void;
  /** Whether a click zooms into the box, too. */
  zoomsOnClick?: boolean;
  onViewChange?(visible: TimeRange): void;
  /** The free space left and right of the boxes in a graph of some width, in pixels. */
  marginsIn?(width: number): { left: number; right: number };
  /** Whether roots are at the bottom. */
  growsUp?: boolean;
}

/**
 * The library's own time grid has unrounded times. It is painted in the background's color, and the plugin draws
 * another.
 */
function libraryStyles() {
  const { background, text } = canvasTheme();
  return { main: { backgroundColor: background, font: FONT, fontColor: text }, timeGrid: { color: background } };
}

export class FlameGraph {
  readonly root: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #tooltip = element('div', { class: 'tooltip', hidden: true });
  /** Names the box that arrow keys have reached, for screen readers. */
  readonly #announcement = element('p', { class: 'visually-hidden', role: 'status' });
  readonly #back: HTMLElement;
  readonly #plugin: FlameGraphPlugin;
  readonly #container: FlameChartContainer;
  readonly #options: FlameGraphOptions;
  /** What was visible before each click that zoomed. */
  #zooms: TimeRange[] = [];
  #active: Box | undefined;
  readonly #empty = element('p', { class: 'hint', hidden: true }, 'Nothing with a stack in this time range.');

  constructor(options: FlameGraphOptions) {
    this.#options = options;
    this.#canvas = element('canvas', {
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'flame graph',
      'aria-label':
        `${options.label}. Arrow keys go from box to box, Enter selects a function, plus and minus zoom, 0 resets the ` +
        'zoom, Shift and arrow keys pan.',
    });
    this.#back = element(
      'button',
      {
        type: 'button',
        class: 'button zoom-out',
        title: 'Back (double click or Esc)',
        hidden: true,
        click: () => this.zoomOut(),
      },
      'Zoom out',
    );
    this.root = element(
      'div',
      { class: 'flame-graph' },
      this.#canvas,
      this.#empty,
      this.#back,
      this.#tooltip,
      this.#announcement,
    );
    this.#plugin = new FlameGraphPlugin('boxes', options.style, canvasTheme(), options.growsUp);
    this.#plugin.onHover = (box, pointer) => this.#showTooltip(box, pointer);
    this.#plugin.onSelect = (box) => this.#click(box);
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
    this.#canvas.addEventListener('blur', () => this.#activate(undefined));
    this.#canvas.addEventListener('dblclick', () => this.zoomOut());
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
    const { left, right } = this.#margins;
    // On a canvas without pixels, the visible time would be 0 / 0, and stay so.
    if (clientWidth <= left + right || clientHeight === 0) return;
    const { visibleRange } = this;
    this.#canvas.style.left = `${left}px`;
    // The container's own `resize` is ignored while a frame is scheduled.
    this.#container.renderEngine.resize(clientWidth - left - right, clientHeight);
    this.#setVisible(visibleRange);
  }

  get #margins(): { left: number; right: number } {
    return this.#options.marginsIn?.(this.root.clientWidth) ?? { left: 0, right: 0 };
  }

  show(layout: FlameLayout): void {
    this.#forgetZooms();
    this.#active = undefined;
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

  /** Makes a range visible, limited to the extent of the layout, and forgets earlier zooms. */
  zoomTo(range: TimeRange): void {
    this.#forgetZooms();
    this.#setVisible(range);
  }

  #forgetZooms(): void {
    this.#zooms = [];
    this.#back.hidden = true;
  }

  /** Selects the function of a box, and zooms into the box. */
  #click(box: Box | undefined): void {
    this.hideTooltip();
    if (box !== undefined && this.#options.zoomsOnClick) {
      const { visibleRange } = this;
      const slack = (visibleRange.end - visibleRange.start) * 0.01;
      const isZoomed = Math.abs(box.start - visibleRange.start) < slack && Math.abs(box.end - visibleRange.end) < slack;
      if (!isZoomed) {
        this.#zooms.push(visibleRange);
        this.#back.hidden = false;
        this.#setVisible(box);
      }
    }
    this.#options.onSelect(box?.frame ?? -1);
  }

  /** Goes back to what was visible before the last click that zoomed; false if there was none. */
  zoomOut(): boolean {
    const previous = this.#zooms.pop();
    this.#back.hidden = this.#zooms.length === 0;
    if (previous === undefined) return false;
    this.#setVisible(previous);
    return true;
  }

  #setVisible({ start, end }: TimeRange): void {
    const { extent } = this.#plugin.layout;
    const width = Math.min(end - start, extent.end - extent.start);
    const from = Math.min(Math.max(start, extent.start), extent.end - width);
    this.#container.setZoom(from, from + width);
  }

  /** Multiplies the visible time by `factor`. The point at `position`, from 0 to 1 of the width, stays where it is. */
  #zoom(factor: number, position: number): void {
    const { start, end } = this.visibleRange;
    const anchor = start + (end - start) * position;
    this.#setVisible({ start: anchor - (anchor - start) * factor, end: anchor + (end - anchor) * factor });
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
    const { growsUp } = this.#options;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.#walk('previous'),
      ArrowRight: () => this.#walk('next'),
      ArrowUp: () => this.#walk(growsUp ? 'in' : 'out'),
      ArrowDown: () => this.#walk(growsUp ? 'out' : 'in'),
      PageUp: () => this.#walk('previousSection'),
      PageDown: () => this.#walk('nextSection'),
      Enter: () => this.#activateSelected(),
      ' ': () => this.#activateSelected(),
      '+': () => this.#zoom(2 / 3, 0.5),
      '=': () => this.#zoom(2 / 3, 0.5),
      '-': () => this.#zoom(3 / 2, 0.5),
      '0': () => this.zoomTo(this.#plugin.layout.extent),
    };
    const pans: Record<string, () => void> = {
      ArrowLeft: () => this.#setVisible({ start: start - width / 8, end: end - width / 8 }),
      ArrowRight: () => this.#setVisible({ start: start + width / 8, end: end + width / 8 }),
      ArrowUp: () => this.#plugin.pan(0, -3 * ROW_HEIGHT),
      ArrowDown: () => this.#plugin.pan(0, 3 * ROW_HEIGHT),
    };
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    const action = hasModifier ? undefined : ((event.shiftKey ? pans[event.key] : undefined) ?? actions[event.key]);
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  /** Goes to a neighbor of the box that arrow keys have reached, or begins with the first box. */
  #walk(step: Step): void {
    const { layout } = this.#plugin;
    const { visibleRange } = this;
    const from = this.#active;
    const box = from === undefined ? firstBox(layout, visibleRange) : walk(layout, from, step, visibleRange);
    if (box !== undefined) this.#activate(box);
  }

  #activate(box: Box | undefined): void {
    if (box === undefined && this.#active === undefined) return;
    this.#active = box;
    if (box !== undefined) this.#reveal(box);
    this.#plugin.activate(box);
    const [heading, ...lines] = box === undefined ? [''] : this.#describe(box);
    this.#announcement.textContent = [heading, ...lines].join(', ');
    if (box === undefined) this.hideTooltip();
    else this.#showTooltip(box, this.#plugin.cornerOf(box));
  }

  /** Makes a box visible, and wide enough to be seen. */
  #reveal({ start, end }: Box): void {
    const { visibleRange } = this;
    const width = visibleRange.end - visibleRange.start;
    const pixels = ((end - start) / width) * this.#canvas.clientWidth;
    const middle = (Math.max(start, visibleRange.start) + Math.min(end, visibleRange.end)) / 2;
    const isVisible = start < visibleRange.end && end > visibleRange.start;
    if (isVisible && pixels >= MIN_ACTIVE_WIDTH) return;
    const around = isVisible ? middle : (start + end) / 2;
    const wanted = pixels >= MIN_ACTIVE_WIDTH ? width : (end - start) * 20;
    this.#setVisible({ start: around - wanted / 2, end: around + wanted / 2 });
  }

  #activateSelected(): void {
    const box = this.#active;
    if (box === undefined) return;
    this.#click(box);
    this.#activate(box);
  }

  /** The lines of a tooltip. Calls of a recursive function are told apart by their place. */
  #describe(box: Box): [string, ...string[]] {
    const { depth, call } = placeOf(this.#plugin.layout, box);
    const recursion = call > 1 ? `, ${ordinal(call)} call of this function on the path (recursive)` : '';
    return [...this.#options.describe(box), `Depth ${depth}${recursion}`];
  }

  hideTooltip(): void {
    this.#tooltip.hidden = true;
  }

  #showTooltip(box: Box | undefined, pointer: Point): void {
    this.#tooltip.hidden = box === undefined;
    if (box === undefined) return;
    const [heading, ...lines] = this.#describe(box);
    this.#tooltip.replaceChildren(element('strong', {}, heading), ...lines.map((line) => element('div', {}, line)));
    const { clientWidth, clientHeight } = this.root;
    const { offsetWidth, offsetHeight } = this.#tooltip;
    const x = pointer.x + this.#margins.left;
    const left = x + 14 + offsetWidth > clientWidth ? x - offsetWidth - 10 : x + 14;
    const top = pointer.y + 14 + offsetHeight > clientHeight ? pointer.y - offsetHeight - 10 : pointer.y + 14;
    this.#tooltip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
  }
}
