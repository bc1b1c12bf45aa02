// One flame graph on a canvas: boxes, a tooltip, keys and fingers.

import { FlameChartContainer } from 'flame-chart-js';

import type { Boxes } from './boxes.ts';
import { type Box, BoxesPlugin, FONT, type Look, ROW_HEIGHT } from './boxes-plugin.ts';
import { canvasTheme } from './colors.ts';
import { element, fill } from './elements.ts';
import { listenToFingers } from './fingers.ts';
import type { Range } from './profile.ts';

export interface FlameOptions {
  /** What it shows, for who cannot see it. */
  label: string;
  look: Look;
  /** The lines of the tooltip of a box. */
  tell(box: Box): string[];
  onChoose(frame: number): void;
  onView?(range: Range): void;
  growsUp?: boolean;
}

/** The engine's own grid has odd times; ours is drawn over it. */
function styles() {
  const { background, text } = canvasTheme();
  return { main: { backgroundColor: background, font: FONT, fontColor: text }, timeGrid: { color: background } };
}

export class FlameView {
  readonly root: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #tooltip = element('div', { class: 'tooltip', hidden: true, role: 'status' });
  readonly #plugin: BoxesPlugin;
  readonly #container: FlameChartContainer;
  readonly #options: FlameOptions;
  readonly #empty = element('p', { class: 'hint', hidden: true }, 'Nothing ran in this stretch of time: no sample has a function.');

  constructor(options: FlameOptions) {
    this.#options = options;
    this.#canvas = element('canvas', { tabindex: '0', role: 'img', 'aria-label': `${options.label}. Arrow keys move, + and - zoom, 0 shows all. The view Functions has the same as a table.` });
    this.root = element('div', { class: 'flame' }, this.#canvas, this.#empty, this.#tooltip);
    this.#plugin = new BoxesPlugin('boxes', options.look, canvasTheme(), options.growsUp);
    this.#plugin.onHover = (box, mouse) => this.#tell(box, mouse);
    this.#plugin.onChoose = (box) => options.onChoose(box?.frame ?? -1);
    this.#plugin.onView = (view) => options.onView?.(view);
    this.#canvas.width = 300;
    this.#canvas.height = 100;
    this.#container = new FlameChartContainer({ canvas: this.#canvas, plugins: [this.#plugin], settings: { styles: styles() } });
    new ResizeObserver(() => this.#resize()).observe(this.root);
    this.#canvas.addEventListener('mouseleave', () => this.#plugin.leave());
    this.#canvas.addEventListener('keydown', (event) => this.#press(event));
    listenToFingers(this.#canvas, {
      drag: (deltaX, deltaY) => this.#plugin.pan((-deltaX * (this.view.end - this.view.start)) / this.#canvas.clientWidth, -deltaY),
      pinch: (factor, { x }) => this.#zoom(1 / factor, x / this.#canvas.clientWidth),
      tap: (at) => this.#plugin.onChoose(this.#plugin.boxAt(at)),
    });
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.root;
    if (clientWidth === 0 || clientHeight === 0) return;
    const { view } = this;
    // The container's own `resize` is lost when a frame is on its way already.
    this.#container.renderEngine.resize(clientWidth, clientHeight);
    // What was in sight stays in sight.
    this.zoomTo(view);
  }

  show(boxes: Boxes): void {
    this.#plugin.show(boxes);
    this.#empty.hidden = boxes.levels.length > 0;
  }

  /** What is in sight. */
  get view(): Range {
    const { positionX } = this.#container.renderEngine;
    return { start: positionX, end: positionX + this.#container.renderEngine.getRealView() };
  }

  /** Brings a stretch into sight, as far as there is anything. */
  zoomTo({ start, end }: Range): void {
    const { extent } = this.#plugin.boxes;
    const width = Math.min(end - start, extent.end - extent.start);
    const from = Math.min(Math.max(start, extent.start), extent.end - width);
    this.#container.setZoom(from, from + width);
  }

  /** Shows `factor` times as much, and keeps a part of the width where it is. */
  #zoom(factor: number, part: number): void {
    const { start, end } = this.view;
    const anchor = start + (end - start) * part;
    this.zoomTo({ start: anchor - (anchor - start) * factor, end: anchor + (end - anchor) * factor });
  }

  /** The chosen function changed, or what is looked for. */
  choose(frame: number): void {
    this.#plugin.choose(frame);
  }

  redraw(): void {
    this.#plugin.recolor();
  }

  applyTheme(): void {
    this.#container.setSettings({ styles: styles() });
    this.#plugin.recolor(canvasTheme());
  }

  #press(event: KeyboardEvent): void {
    const { start, end } = this.view;
    const width = end - start;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.zoomTo({ start: start - width / 8, end: end - width / 8 }),
      ArrowRight: () => this.zoomTo({ start: start + width / 8, end: end + width / 8 }),
      ArrowUp: () => this.#plugin.pan(0, -3 * ROW_HEIGHT),
      ArrowDown: () => this.#plugin.pan(0, 3 * ROW_HEIGHT),
      '+': () => this.#zoom(2 / 3, 0.5),
      '=': () => this.#zoom(2 / 3, 0.5),
      '-': () => this.#zoom(3 / 2, 0.5),
      '0': () => this.zoomTo(this.#plugin.boxes.extent),
    };
    const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  }

  #tell(box: Box | undefined, mouse: { x: number; y: number }): void {
    this.#tooltip.hidden = box === undefined;
    if (box === undefined) return;
    const [heading, ...lines] = this.#options.tell(box);
    fill(this.#tooltip, element('strong', {}, heading), ...lines.map((line) => element('div', {}, line)));
    const { clientWidth, clientHeight } = this.root;
    const { offsetWidth, offsetHeight } = this.#tooltip;
    const left = mouse.x + 14 + offsetWidth > clientWidth ? mouse.x - offsetWidth - 10 : mouse.x + 14;
    const top = mouse.y + 14 + offsetHeight > clientHeight ? mouse.y - offsetHeight - 10 : mouse.y + 14;
    this.#tooltip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
  }
}
