// Draws boxes with flame-chart-js, which brings the canvas, zooming, dragging and the time grid. Its own plugin keeps an
// object for each box and walks all of them each time; a trace has millions. This one walks what is in sight, and skips
// what is thinner than a pixel.

import { UIPlugin } from 'flame-chart-js';

import { type Boxes, type Level } from './boxes.ts';
import { lowerBound } from './profile.ts';

export interface Box {
  level: number;
  index: number;
  frame: number;
  start: number;
  end: number;
}

export interface Look {
  colorOf(frame: number): string;
  nameOf(frame: number): string;
  /** Whether a frame is drawn pale, since something else is looked for. */
  isPale(frame: number): boolean;
  pale: string;
  stroke: string;
}

/** Boxes thinner than this many pixels are drawn as one with their neighbours. */
const THIN = 0.7;
/** As many pixels of thin boxes are drawn as one. */
const RUN = 3;
const ROW_GAP = 1;

export class BoxesPlugin extends UIPlugin {
  override height = 'flexible' as const;
  positionY = 0;
  #boxes: Boxes = { levels: [], extent: { start: 0, end: 1 } };
  readonly #growsUp: boolean;
  readonly #look: Look;
  #hovered: Box | undefined;
  #chosen = -1;
  onHover: (box: Box | undefined, mouse: { x: number; y: number }) => void = () => {};
  onChoose: (box: Box | undefined) => void = () => {};
  onView: (start: number, end: number) => void = () => {};

  constructor(name: string, look: Look, growsUp = false) {
    super(name);
    this.#look = look;
    this.#growsUp = growsUp;
    this.min = 0;
    this.max = 1;
  }

  override init(...engines: Parameters<UIPlugin['init']>): void {
    super.init(...engines);
    const interactions = this.interactionsEngine;
    interactions.on('change-position', ({ deltaX, deltaY }: { deltaX: number; deltaY: number }) => this.#drag(deltaX, deltaY));
    interactions.on('move', () => this.#hover());
    interactions.on('click', () => this.onChoose(this.boxAt(interactions.getMouse())));
    interactions.on('up', () => interactions.clearCursor());
  }

  get boxes(): Boxes {
    return this.#boxes;
  }

  show(boxes: Boxes): void {
    this.#boxes = boxes;
    this.min = boxes.extent.start;
    this.max = boxes.extent.end;
    this.positionY = 0;
    this.#hovered = undefined;
    this.renderEngine.recalcMinMax();
    this.renderEngine.resetParentView();
  }

  /** Marks the boxes of a function. */
  choose(frame: number): void {
    this.#chosen = frame;
    this.renderEngine?.parent.render();
  }

  /** How high all levels are. */
  get contentHeight(): number {
    return this.#boxes.levels.length * this.#rowHeight;
  }

  get #rowHeight(): number {
    return (this.renderEngine?.blockHeight ?? 16) + ROW_GAP;
  }

  #drag(deltaX: number, deltaY: number): void {
    this.interactionsEngine.setCursor('grabbing');
    this.scroll(this.#growsUp ? -deltaY : deltaY);
    this.renderEngine.tryToChangePosition(deltaX);
    this.renderEngine.parent.render();
  }

  /** Moves the levels, as far as there are any. */
  scroll(delta: number): void {
    const furthest = Math.max(0, this.contentHeight - this.renderEngine.height);
    this.positionY = Math.min(furthest, Math.max(0, this.positionY + delta));
  }

  #top(level: number): number {
    const offset = level * this.#rowHeight - this.positionY;
    return this.#growsUp ? this.renderEngine.height - offset - this.#rowHeight : offset;
  }

  /** The box under a point of the canvas. */
  boxAt({ x, y }: { x: number; y: number }): Box | undefined {
    const engine = this.renderEngine;
    const offset = this.#growsUp ? engine.height - y : y;
    const level = Math.floor((offset + this.positionY) / this.#rowHeight);
    const boxes = this.#boxes.levels[level];
    if (boxes === undefined || y < 0 || y > engine.height) return undefined;
    const time = engine.positionX + engine.pixelToTime(x);
    const index = lowerBound(boxes.end, time, true);
    if (index >= boxes.end.length || boxes.start[index] > time) return undefined;
    return this.#box(level, boxes, index);
  }

  #box(level: number, { start, end, frame }: Level, index: number): Box {
    return { level, index, frame: frame[index], start: start[index], end: end[index] };
  }

  #hover(): void {
    const mouse = this.interactionsEngine.getMouse();
    const box = this.boxAt(mouse);
    if (box?.level !== this.#hovered?.level || box?.index !== this.#hovered?.index) {
      this.#hovered = box;
      this.renderEngine.render();
    }
    this.onHover(box, this.interactionsEngine.getGlobalMouse());
  }

  leave(): void {
    if (this.#hovered === undefined) return;
    this.#hovered = undefined;
    this.renderEngine.render();
  }

  /** Draws all of itself, the grid below the boxes. */
  override render(): boolean {
    const engine = this.renderEngine;
    engine.renderTimeGrid();
    const { levels } = this.#boxes;
    for (let level = 0; level < levels.length; level++) {
      const y = this.#top(level);
      if (y + this.#rowHeight > 0 && y < engine.height) this.#renderLevel(levels[level], level, y);
    }
    engine.resolveQueue();
    this.onView(engine.positionX, engine.positionX + engine.getRealView());
    return true;
  }

  #renderLevel({ start, end, frame }: Level, level: number, y: number): void {
    const engine = this.renderEngine;
    const { zoom, positionX, minTextWidth } = engine;
    const until = positionX + engine.getRealView();
    const thin = THIN / zoom;
    const run = RUN / zoom;
    let index = lowerBound(end, positionX, true);
    while (index < start.length && start[index] < until) {
      const left = (start[index] - positionX) * zoom;
      if (end[index] - start[index] < thin) {
        // Thin boxes side by side become one of a few pixels, so that as much is drawn as can be seen.
        const color = this.#colorOf(frame[index]);
        const limit = start[index] + run;
        let next = index + 1;
        let last = end[index];
        while (next < start.length && start[next] < last + thin && end[next] - start[next] < thin && last < limit) {
          next = Math.max(next + 1, lowerBound(end, last + thin, true, next));
          last = end[next - 1];
        }
        engine.addRect({ color, x: left, y, w: Math.max(0.5, (last - start[index]) * zoom) }, 0);
        index = next;
        continue;
      }
      const width = (end[index] - start[index]) * zoom;
      // A line of background between neighbours.
      const w = width >= 3 ? width - 1 : width * 0.8;
      engine.addRect({ color: this.#colorOf(frame[index]), x: left, y, w }, 0);
      if (width >= minTextWidth) engine.addText({ text: this.#look.nameOf(frame[index]), x: left, y, w: width }, 2);
      const isHovered = this.#hovered?.level === level && this.#hovered.index === index;
      if (isHovered || (frame[index] === this.#chosen && width > 2)) {
        engine.addStroke({ color: this.#look.stroke, x: left + 0.5, y: y + 0.5, w: w - 1, h: engine.blockHeight - 1 }, 3);
      }
      index += 1;
    }
  }

  #colorOf(frame: number): string {
    return this.#look.isPale(frame) ? this.#look.pale : this.#look.colorOf(frame);
  }
}
