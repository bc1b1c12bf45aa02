// Draws boxes with flame-chart-js, which brings the canvas, zooming, dragging and one drawing a frame. Its own plugin keeps
// an object for each box and walks all of them each time; a trace has millions. This one paints what is in sight as pixels,
// and it draws on the visible canvas: a canvas for each plugin, which is then copied, costs as much again.

import { UIPlugin } from 'flame-chart-js';

import { type Boxes, type Level } from './boxes.ts';
import type { Theme } from './colors.ts';
import type { Point } from './fingers.ts';
import { Names } from './names.ts';
import { paintLevel, type Scale } from './pixels.ts';
import { lowerBound, type Range } from './profile.ts';
import { ticks } from './ticks.ts';

export interface Box {
  level: number;
  index: number;
  frame: number;
  start: number;
  end: number;
}

/** Colours are as `rgba` of colors.ts packs them. */
export interface Look {
  /** By frame. */
  colors(): Uint32Array;
  nameOf(frame: number): string;
}

/** Room for the times above the boxes. */
const AXIS = 22;
export const ROW_HEIGHT = 18;
const ROW_GAP = 1;
const PADDING = 4;
/** A name has at least this much room: what is left of it in less says nothing. */
const MIN_NAME = 26;
/** Lines around narrower boxes would hide them. */
const MIN_OUTLINED = 12;
/** A pointer that moves less between down and up did not drag. */
const CLICK_SLACK = 3;
export const FONT = '11px system-ui, sans-serif';

export class BoxesPlugin extends UIPlugin {
  // It draws where the engine leaves the canvas free.
  override height = 0;
  positionY = 0;
  #boxes: Boxes = { levels: [], extent: { start: 0, end: 1 } };
  readonly #growsUp: boolean;
  readonly #look: Look;
  readonly #names: Names;
  #theme: Theme;
  #colors: Uint32Array | undefined;
  /** A row of pixels for each level in sight; stretched when it is drawn. */
  readonly #rows = new OffscreenCanvas(1, 1);
  readonly #rowsContext = this.#rows.getContext('2d', { willReadFrequently: true })!;
  #image = new ImageData(1, 1);
  #hovered: Box | undefined;
  #chosen = -1;
  #pressedAt: Point | undefined;
  #hasDragged = false;
  onHover: (box: Box | undefined, mouse: Point) => void = () => {};
  onChoose: (box: Box | undefined) => void = () => {};
  onView: (view: Range) => void = () => {};

  constructor(name: string, look: Look, theme: Theme, growsUp = false) {
    super(name);
    this.#look = look;
    this.#names = new Names(look, FONT);
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
    interactions.on('change-position', ({ deltaX, deltaY }: { deltaX: number; deltaY: number }) => this.#drag(mouse, deltaX, deltaY));
    interactions.on('move', () => this.#hover(mouse));
    interactions.on('up', () => {
      const isClick = this.#pressedAt !== undefined && !this.#hasDragged;
      this.#pressedAt = undefined;
      this.interactionsEngine.clearCursor();
      if (isClick) this.onChoose(this.boxAt(mouse));
    });
  }

  get boxes(): Boxes {
    return this.#boxes;
  }

  get #canvas() {
    return this.renderEngine.parent;
  }

  show(boxes: Boxes): void {
    this.#boxes = boxes;
    this.min = boxes.extent.start;
    this.max = boxes.extent.end;
    this.positionY = 0;
    this.#hovered = undefined;
    this.#forgetLook();
    this.renderEngine.recalcMinMax();
    this.renderEngine.resetParentView();
  }

  /** Marks the boxes of a function. */
  choose(frame: number): void {
    this.#chosen = frame;
    this.recolor();
  }

  /** Draws anew, in the colours of now. */
  recolor(theme?: Theme): void {
    if (theme !== undefined) this.#theme = theme;
    this.#colors = undefined;
    this.#canvas?.render();
  }

  #forgetLook(): void {
    this.#colors = undefined;
    this.#names.forget();
  }

  get #room(): number {
    return Math.max(0, this.#canvas.height - AXIS);
  }

  #drag(mouse: Point, deltaX: number, deltaY: number): void {
    const from = this.#pressedAt;
    if (from !== undefined && !this.#hasDragged) {
      // The engine tells of a move before the pointer's place is that of the move.
      const distance = Math.hypot(mouse.x - deltaX * this.#canvas.zoom - from.x, mouse.y - deltaY - from.y);
      if (distance < CLICK_SLACK) return;
      this.#hasDragged = true;
      this.interactionsEngine.setCursor('grabbing');
      this.leave();
    }
    this.pan(deltaX, deltaY);
  }

  /** Moves what is in sight, by time and by pixels. */
  pan(deltaTime: number, deltaY: number): void {
    const furthest = Math.max(0, this.#boxes.levels.length * ROW_HEIGHT - this.#room);
    this.positionY = Math.min(furthest, Math.max(0, this.positionY + (this.#growsUp ? -deltaY : deltaY)));
    this.renderEngine.tryToChangePosition(deltaTime);
    this.#canvas.render();
  }

  #top(level: number): number {
    const offset = level * ROW_HEIGHT - this.positionY;
    return this.#growsUp ? this.#canvas.height - offset - ROW_HEIGHT : AXIS + offset;
  }

  /** The box under a point of the canvas. */
  boxAt({ x, y }: Point): Box | undefined {
    const { height, positionX, zoom } = this.#canvas;
    if (y < AXIS || y > height) return undefined;
    const offset = this.#growsUp ? height - y : y - AXIS;
    const level = Math.floor((offset + this.positionY) / ROW_HEIGHT);
    const boxes = this.#boxes.levels[level];
    if (boxes === undefined) return undefined;
    const time = positionX + x / zoom;
    const index = lowerBound(boxes.end, time, true);
    if (index >= boxes.end.length || boxes.start[index] > time) return undefined;
    return { level, index, frame: boxes.frame[index], start: boxes.start[index], end: boxes.end[index] };
  }

  #hover(mouse: Point): void {
    // What moves with the pointer is under it still.
    if (this.#pressedAt !== undefined) return;
    const box = this.boxAt(mouse);
    if (box?.level !== this.#hovered?.level || box?.index !== this.#hovered?.index) {
      this.#hovered = box;
      this.#canvas.render();
    }
    this.onHover(box, mouse);
  }

  leave(): void {
    this.onHover(undefined, { x: 0, y: 0 });
    if (this.#hovered === undefined) return;
    this.#hovered = undefined;
    this.#canvas.render();
  }

  /** Draws all of it, after the engine has cleared the canvas. */
  override postRender(): void {
    const { ctx, width, height, positionX, zoom, pixelRatio } = this.#canvas;
    const view = { start: positionX, end: positionX + width / zoom };
    this.onView(view);
    if (width < 1 || height <= AXIS) return;
    ctx.save();
    ctx.font = FONT;
    ctx.textBaseline = 'middle';
    this.#drawGrid(ctx, view);
    ctx.beginPath();
    ctx.rect(0, AXIS, width, height - AXIS);
    ctx.clip();
    this.#drawBoxes(ctx, { from: positionX, perPixel: 1 / (zoom * pixelRatio), ratio: pixelRatio });
    ctx.restore();
    // The engine remembers what it has set.
    this.#canvas.reset();
  }

  #drawGrid(ctx: CanvasRenderingContext2D, view: Range): void {
    const { width, height, zoom } = this.#canvas;
    const { start } = this.#boxes.extent;
    ctx.fillStyle = this.#theme.grid;
    ctx.fillRect(0, AXIS - 1, width, 1);
    const marks = ticks(view, width);
    for (const { time } of marks) ctx.fillRect(Math.round((time - view.start) * zoom), 0, 1, height);
    ctx.fillStyle = this.#theme.quiet;
    for (const { time, label } of marks) {
      const left = Math.round((time - view.start) * zoom) + PADDING;
      if (time >= start && left + ctx.measureText(label).width <= width) ctx.fillText(label, left, AXIS / 2);
    }
  }

  #drawBoxes(ctx: CanvasRenderingContext2D, scale: Scale): void {
    const { width, zoom, positionX } = this.#canvas;
    const { levels } = this.#boxes;
    const first = Math.floor(this.positionY / ROW_HEIGHT);
    const last = Math.min(levels.length, Math.ceil((this.positionY + this.#room) / ROW_HEIGHT));
    const count = last - first;
    if (count <= 0) return;
    const columns = Math.ceil(width * scale.ratio);
    if (this.#image.width !== columns || this.#image.height !== count) {
      this.#image = new ImageData(columns, count);
      this.#rows.width = columns;
      this.#rows.height = count;
    }
    const pixels = new Uint32Array(this.#image.data.buffer);
    this.#colors ??= this.#look.colors();
    const wide: { level: number; indices: number[] }[] = [];
    for (let level = first; level < last; level++) {
      const row = this.#growsUp ? last - 1 - level : level - first;
      wide.push({ level, indices: paintLevel(levels[level], this.#colors, pixels.subarray(row * columns, (row + 1) * columns), scale) });
    }
    this.#rowsContext.putImageData(this.#image, 0, 0);
    ctx.imageSmoothingEnabled = false;
    const top = this.#top(this.#growsUp ? last - 1 : first);
    // Rows are drawn one by one, with a line of the background between them.
    for (let row = 0; row < count; row++) ctx.drawImage(this.#rows, 0, row, columns, 1, 0, top + row * ROW_HEIGHT, columns / scale.ratio, ROW_HEIGHT - ROW_GAP);
    ctx.fillStyle = this.#theme.text;
    for (const { level, indices } of wide) {
      const { start, end, frame } = levels[level];
      const y = this.#top(level) + (ROW_HEIGHT - ROW_GAP) / 2 + 0.5;
      for (const index of indices) {
        const left = Math.max(0, (start[index] - positionX) * zoom);
        const room = Math.min(width, (end[index] - positionX) * zoom) - left - 2 * PADDING;
        if (room < MIN_NAME) continue;
        const name = this.#names.within(ctx, frame[index], room);
        if (name !== '') ctx.fillText(name, left + PADDING, y);
      }
    }
    this.#outline(ctx, wide);
  }

  /** Lines around the boxes of the chosen function, and around the one under the pointer. */
  #outline(ctx: CanvasRenderingContext2D, wide: { level: number; indices: number[] }[]): void {
    const { width, zoom, positionX } = this.#canvas;
    ctx.beginPath();
    const add = (level: number, { start, end }: Level, index: number, least: number): void => {
      const left = Math.max(-2, (start[index] - positionX) * zoom);
      const right = Math.min(width + 2, (end[index] - positionX) * zoom);
      if (right - left < least) return;
      ctx.rect(left + 0.5, this.#top(level) + 0.5, Math.max(1, right - left - 2), ROW_HEIGHT - ROW_GAP - 1);
    };
    if (this.#chosen !== -1) {
      for (const { level, indices } of wide) {
        const boxes = this.#boxes.levels[level];
        for (const index of indices) if (boxes.frame[index] === this.#chosen) add(level, boxes, index, MIN_OUTLINED);
      }
    }
    const hovered = this.#hovered;
    if (hovered !== undefined) add(hovered.level, this.#boxes.levels[hovered.level], hovered.index, 0);
    ctx.lineWidth = 1;
    ctx.strokeStyle = this.#theme.text;
    ctx.stroke();
  }
}
