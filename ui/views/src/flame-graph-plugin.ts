// A plugin of flame-chart-js that draws the boxes of a flame graph. The library brings the canvas, zooming, dragging
// and scheduling of frames. Its own flame chart plugin keeps an object per box and walks all of them in every frame,
// and a trace has millions; this one rasterizes what is visible. It draws on the visible canvas directly: an offscreen
// canvas per plugin, copied in each frame, doubles the cost.

import { UIPlugin } from 'flame-chart-js';

import { type Box, boxAt } from './box-walk.ts';
import type { FlameLayout, Level } from './flame-layout.ts';
import { LabelCache } from './labels.ts';
import { rasterizeLevel, type Scale } from './rasterize.ts';
import type { CanvasTheme } from './theme.ts';
import { ticks } from './ticks.ts';
import type { TimeRange } from './time-range.ts';
import type { Point } from './touch-gestures.ts';

/** How boxes look. */
export interface FrameStyle {
  /** By frame, as pixels of an `ImageData` (see colors.ts). */
  colors(): Uint32Array;
  nameOf(frame: number): string;
}

/** In CSS pixels: the height of the time axis above the boxes. */
const AXIS_HEIGHT = 22;
export const ROW_HEIGHT = 18;
const ROW_GAP = 1;
const PADDING = 4;
/** Labels get at least this much width. */
const MIN_LABEL_WIDTH = 26;
/** Narrower boxes get no outline, which would cover them. */
const MIN_OUTLINED_WIDTH = 12;
/** A pointer that moves less than this between down and up makes a click. */
const CLICK_SLACK = 3;
export const FONT = '11px system-ui, sans-serif';
const TITLE_FONT = `600 ${FONT}`;

/** A level, with the indices of its boxes that are wide enough for a label. */
interface VisibleLevel {
  level: number;
  indices: number[];
}

function context2d(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D {
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('the browser has no 2D canvas');
  return context;
}

export class FlameGraphPlugin extends UIPlugin {
  // A plugin of height 0 leaves the engine's own layout alone; this one draws where the engine leaves the canvas free.
  override height = 0;
  /** The vertical scroll position in pixels. */
  positionY = 0;
  #layout: FlameLayout = { levels: [], extent: { start: 0, end: 1 }, sections: [] };
  readonly #growsUp: boolean;
  readonly #style: FrameStyle;
  readonly #labels: LabelCache;
  #theme: CanvasTheme;
  #colors: Uint32Array | undefined;
  /** One row of pixels per visible level, stretched to the row height when it is drawn. */
  readonly #rows = new OffscreenCanvas(1, 1);
  readonly #rowsContext = context2d(this.#rows);
  #image = new ImageData(1, 1);
  #hovered: Box | undefined;
  #active: Box | undefined;
  #selectedFrame = -1;
  #pressedAt: Point | undefined;
  #hasDragged = false;
  onHover: (box: Box | undefined, pointer: Point) => void = () => {};
  onSelect: (box: Box | undefined) => void = () => {};
  onViewChange: (visible: TimeRange) => void = () => {};

  constructor(name: string, style: FrameStyle, theme: CanvasTheme, growsUp = false) {
    super(name);
    this.#style = style;
    this.#labels = new LabelCache((frame) => style.nameOf(frame), FONT);
    this.#theme = theme;
    this.#growsUp = growsUp;
    this.min = 0;
    this.max = 1;
  }

  override init(...engines: Parameters<UIPlugin['init']>): void {
    super.init(...engines);
    const interactions = this.interactionsEngine.parent;
    const { mouse } = interactions as unknown as { mouse: Point };
    interactions.on('down', () => {
      this.#pressedAt = { ...mouse };
      this.#hasDragged = false;
    });
    interactions.on('change-position', ({ deltaX, deltaY }: { deltaX: number; deltaY: number }) =>
      this.#drag(mouse, deltaX, deltaY),
    );
    interactions.on('move', () => this.#hover(mouse));
    interactions.on('up', () => {
      const isClick = this.#pressedAt !== undefined && !this.#hasDragged;
      this.#pressedAt = undefined;
      this.interactionsEngine.clearCursor();
      if (isClick) this.onSelect(this.boxAt(mouse));
    });
  }

  get layout(): FlameLayout {
    return this.#layout;
  }

  get #canvas() {
    return this.renderEngine.parent;
  }

  show(layout: FlameLayout): void {
    this.#layout = layout;
    this.min = layout.extent.start;
    this.max = layout.extent.end;
    this.positionY = 0;
    this.#hovered = undefined;
    this.#active = undefined;
    this.#colors = undefined;
    this.#labels.clear();
    this.renderEngine.recalcMinMax();
    this.renderEngine.resetParentView();
  }

  /** Highlights the boxes of a function. */
  selectFrame(frame: number): void {
    this.#selectedFrame = frame;
    this.redraw();
  }

  /** Redraws with the current colors. */
  redraw(theme?: CanvasTheme): void {
    if (theme !== undefined) this.#theme = theme;
    this.#colors = undefined;
    this.#canvas?.render();
  }

  /** The height below the axis. */
  get #boxesHeight(): number {
    return Math.max(0, this.#canvas.height - AXIS_HEIGHT);
  }

  #drag(pointer: Point, deltaX: number, deltaY: number): void {
    const from = this.#pressedAt;
    if (from !== undefined && !this.#hasDragged) {
      // The engine reports a move before it updates the pointer's position.
      const distance = Math.hypot(pointer.x - deltaX * this.#canvas.zoom - from.x, pointer.y - deltaY - from.y);
      if (distance < CLICK_SLACK) return;
      this.#hasDragged = true;
      this.interactionsEngine.setCursor('grabbing');
      this.clearHover();
    }
    this.pan(deltaX, deltaY);
  }

  /** Moves the visible part: horizontally by milliseconds, vertically by pixels. */
  pan(deltaTime: number, deltaY: number): void {
    const maximum = Math.max(0, this.#layout.levels.length * ROW_HEIGHT - this.#boxesHeight);
    this.positionY = Math.min(maximum, Math.max(0, this.positionY + (this.#growsUp ? -deltaY : deltaY)));
    this.renderEngine.tryToChangePosition(deltaTime);
    this.#canvas.render();
  }

  #topOf(level: number): number {
    const offset = level * ROW_HEIGHT - this.positionY;
    return this.#growsUp ? this.#canvas.height - offset - ROW_HEIGHT : AXIS_HEIGHT + offset;
  }

  /** The box at a point of the canvas. */
  boxAt({ x, y }: Point): Box | undefined {
    const { height, positionX, zoom } = this.#canvas;
    if (y < AXIS_HEIGHT || y > height) return undefined;
    const offset = this.#growsUp ? height - y : y - AXIS_HEIGHT;
    return boxAt(this.#layout, Math.floor((offset + this.positionY) / ROW_HEIGHT), positionX + x / zoom);
  }

  /** Outlines the box that arrow keys have reached, and scrolls to it. */
  activate(box: Box | undefined): void {
    this.#active = box;
    if (box !== undefined) {
      const top = box.level * ROW_HEIGHT;
      this.positionY = Math.max(0, Math.min(top, Math.max(this.positionY, top + 2 * ROW_HEIGHT - this.#boxesHeight)));
    }
    this.#canvas?.render();
  }

  /** The lower left corner of the visible part of a box. */
  cornerOf({ level, start }: Box): Point {
    const { positionX, zoom } = this.#canvas;
    return { x: Math.max(0, (start - positionX) * zoom), y: this.#topOf(level) + ROW_HEIGHT };
  }

  #hover(pointer: Point): void {
    // While a drag moves the boxes with the pointer, the hovered box does not change.
    if (this.#pressedAt !== undefined) return;
    const box = this.boxAt(pointer);
    if (box?.level !== this.#hovered?.level || box?.index !== this.#hovered?.index) {
      this.#hovered = box;
      this.#canvas.render();
    }
    this.onHover(box, pointer);
  }

  clearHover(): void {
    this.onHover(undefined, { x: 0, y: 0 });
    if (this.#hovered === undefined) return;
    this.#hovered = undefined;
    this.#canvas.render();
  }

  /** Draws everything, after the engine has cleared the canvas. */
  override postRender(): void {
    const { ctx, width, height, positionX, zoom, pixelRatio } = this.#canvas;
    const visible = { start: positionX, end: positionX + width / zoom };
    this.onViewChange(visible);
    if (width < 1 || height <= AXIS_HEIGHT) return;
    ctx.save();
    ctx.font = FONT;
    ctx.textBaseline = 'middle';
    this.#drawAxis(ctx, visible);
    ctx.beginPath();
    ctx.rect(0, AXIS_HEIGHT, width, height - AXIS_HEIGHT);
    ctx.clip();
    this.#drawBoxes(ctx, { from: positionX, perPixel: 1 / (zoom * pixelRatio), ratio: pixelRatio });
    ctx.restore();
    // The engine caches the context's state, which has just changed.
    this.#canvas.reset();
  }

  #drawAxis(ctx: CanvasRenderingContext2D, visible: TimeRange): void {
    const { width, height, zoom } = this.#canvas;
    const { start } = this.#layout.extent;
    ctx.fillStyle = this.#theme.grid;
    ctx.fillRect(0, AXIS_HEIGHT - 1, width, 1);
    const marks = ticks(visible, width);
    for (const { time } of marks) ctx.fillRect(Math.round((time - visible.start) * zoom), 0, 1, height);
    ctx.fillStyle = this.#theme.secondaryText;
    for (const { time, label } of marks) {
      const left = Math.round((time - visible.start) * zoom) + PADDING;
      if (time >= start && left + ctx.measureText(label).width <= width) ctx.fillText(label, left, AXIS_HEIGHT / 2);
    }
  }

  #drawBoxes(ctx: CanvasRenderingContext2D, scale: Scale): void {
    const { width } = this.#canvas;
    const { levels } = this.#layout;
    const first = Math.floor(this.positionY / ROW_HEIGHT);
    const last = Math.min(levels.length, Math.ceil((this.positionY + this.#boxesHeight) / ROW_HEIGHT));
    const count = last - first;
    if (count <= 0) return;
    this.#layout.prepare?.(first, last);
    const columns = Math.ceil(width * scale.ratio);
    if (this.#image.width !== columns || this.#image.height !== count) {
      this.#image = new ImageData(columns, count);
      this.#rows.width = columns;
      this.#rows.height = count;
    }
    const pixels = new Uint32Array(this.#image.data.buffer);
    const colors = this.#colors ?? this.#style.colors();
    this.#colors = colors;
    const visible: VisibleLevel[] = [];
    for (let level = first; level < last; level++) {
      const row = this.#growsUp ? last - 1 - level : level - first;
      const rowPixels = pixels.subarray(row * columns, (row + 1) * columns);
      visible.push({ level, indices: rasterizeLevel(levels[level], colors, rowPixels, scale) });
    }
    this.#rowsContext.putImageData(this.#image, 0, 0);
    ctx.imageSmoothingEnabled = false;
    const top = this.#topOf(this.#growsUp ? last - 1 : first);
    // Row by row, because a line of the background separates them.
    for (let row = 0; row < count; row++) {
      const y = top + row * ROW_HEIGHT;
      ctx.drawImage(this.#rows, 0, row, columns, 1, 0, y, columns / scale.ratio, ROW_HEIGHT - ROW_GAP);
    }
    this.#drawTitles(ctx, first, last);
    this.#drawLabels(ctx, visible);
    this.#drawOutlines(ctx, visible);
  }

  #drawTitles(ctx: CanvasRenderingContext2D, first: number, last: number): void {
    const { width } = this.#canvas;
    for (const { title, level } of this.#layout.sections) {
      if (level < first || level >= last) continue;
      const y = this.#topOf(level);
      ctx.fillStyle = this.#theme.grid;
      ctx.fillRect(0, y, width, ROW_HEIGHT - ROW_GAP);
      ctx.fillStyle = this.#theme.text;
      ctx.font = TITLE_FONT;
      ctx.fillText(title, PADDING, y + (ROW_HEIGHT - ROW_GAP) / 2 + 0.5, width - 2 * PADDING);
    }
    ctx.font = FONT;
  }

  #drawLabels(ctx: CanvasRenderingContext2D, visible: VisibleLevel[]): void {
    const { width, zoom, positionX } = this.#canvas;
    ctx.fillStyle = this.#theme.text;
    for (const { level, indices } of visible) {
      const { start, end, frame } = this.#layout.levels[level];
      const y = this.#topOf(level) + (ROW_HEIGHT - ROW_GAP) / 2 + 0.5;
      for (const index of indices) {
        const left = Math.max(0, (start[index] - positionX) * zoom);
        const available = Math.min(width, (end[index] - positionX) * zoom) - left - 2 * PADDING;
        if (available < MIN_LABEL_WIDTH) continue;
        const label = this.#labels.labelOf(ctx, frame[index], available);
        if (label !== '') ctx.fillText(label, left + PADDING, y);
      }
    }
  }

  /** Outlines the boxes of the selected function, and the hovered box. */
  #drawOutlines(ctx: CanvasRenderingContext2D, visible: VisibleLevel[]): void {
    const { width, zoom, positionX } = this.#canvas;
    const { levels } = this.#layout;
    ctx.beginPath();
    const add = (level: number, { start, end }: Level, index: number, minWidth: number): void => {
      const left = Math.max(-2, (start[index] - positionX) * zoom);
      const right = Math.min(width + 2, (end[index] - positionX) * zoom);
      if (right - left < minWidth) return;
      ctx.rect(left + 0.5, this.#topOf(level) + 0.5, Math.max(1, right - left - 2), ROW_HEIGHT - ROW_GAP - 1);
    };
    if (this.#selectedFrame !== -1) {
      for (const { level, indices } of visible) {
        const boxes = levels[level];
        for (const index of indices)
          if (boxes.frame[index] === this.#selectedFrame) add(level, boxes, index, MIN_OUTLINED_WIDTH);
      }
    }
    const hovered = this.#hovered;
    if (hovered !== undefined) add(hovered.level, levels[hovered.level], hovered.index, 0);
    ctx.lineWidth = 1;
    ctx.strokeStyle = this.#theme.text;
    ctx.stroke();
    const active = this.#active;
    if (active === undefined) return;
    ctx.beginPath();
    add(active.level, levels[active.level], active.index, 0);
    ctx.lineWidth = 3;
    ctx.stroke();
  }
}
