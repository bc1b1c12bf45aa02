// One flame graph on a canvas: boxes, a time grid, a tooltip, keys and fingers.

import { FlameChartContainer } from 'flame-chart-js';

import type { Boxes } from './boxes.ts';
import { type Box, BoxesPlugin, FONT, type Look, ROW_HEIGHT } from './boxes-plugin.ts';
import { canvasTheme } from './colors.ts';
import { element, fill } from './elements.ts';
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
  readonly #touches = new Map<number, { x: number; y: number }>();

  constructor(options: FlameOptions) {
    this.#options = options;
    this.#canvas = element('canvas', { tabindex: '0', role: 'img', 'aria-label': `${options.label}. Arrow keys move, + and - zoom, 0 shows all.` });
    this.root = element('div', { class: 'flame' }, this.#canvas, this.#tooltip);
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
    this.#listenToFingers();
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.root;
    if (clientWidth === 0 || clientHeight === 0) return;
    // The container's own `resize` is lost when a frame is on its way already.
    this.#container.renderEngine.resize(clientWidth, clientHeight);
    this.#container.render();
  }

  show(boxes: Boxes): void {
    this.#plugin.show(boxes);
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
      '+': () => this.zoomTo({ start: start + width / 6, end: end - width / 6 }),
      '=': () => this.zoomTo({ start: start + width / 6, end: end - width / 6 }),
      '-': () => this.zoomTo({ start: start - width / 4, end: end + width / 4 }),
      '0': () => this.zoomTo(this.#plugin.boxes.extent),
    };
    const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  }

  /** One finger drags, two zoom. Up and down is the page's. */
  #listenToFingers(): void {
    const forget = (event: PointerEvent): void => void this.#touches.delete(event.pointerId);
    this.#canvas.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'touch') this.#touches.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    });
    this.#canvas.addEventListener('pointermove', (event) => {
      const before = this.#touches.get(event.pointerId);
      if (before === undefined) return;
      const { start, end } = this.view;
      const scale = (end - start) / this.#canvas.clientWidth;
      const other = [...this.#touches].find(([id]) => id !== event.pointerId)?.[1];
      if (other === undefined) {
        const delta = (before.x - event.offsetX) * scale;
        this.zoomTo({ start: start + delta, end: end + delta });
      } else {
        const factor = Math.abs(before.x - other.x) / Math.max(8, Math.abs(event.offsetX - other.x));
        const anchor = start + other.x * scale;
        this.zoomTo({ start: anchor - (anchor - start) * factor, end: anchor + (end - anchor) * factor });
      }
      this.#touches.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    });
    this.#canvas.addEventListener('pointerup', forget);
    this.#canvas.addEventListener('pointercancel', forget);
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
