// Names of functions, cut to the room that they have. Measuring text is slow, so each name is measured once.

/** As many cut names are kept. */
const KEPT = 20_000;
/** In pixels. */
const STEP = 4;
/** Fewer characters of a name say nothing. */
const LEAST = 3;

export class Names {
  readonly #nameOf: (frame: number) => string;
  readonly #font: string;
  /** By frame: the name's width. */
  readonly #widths = new Map<number, number>();
  /** By frame and steps of room. */
  readonly #cut = new Map<number, string>();

  constructor({ nameOf }: { nameOf(frame: number): string }, font: string) {
    this.#nameOf = nameOf;
    this.#font = font;
  }

  /** Other functions have the numbers now. */
  forget(): void {
    this.#widths.clear();
    this.#cut.clear();
  }

  /** A function's name, or as much of its start and its end as fits; empty where that is too little to say anything. */
  within(ctx: CanvasRenderingContext2D, frame: number, room: number): string {
    const name = this.#nameOf(frame);
    let width = this.#widths.get(frame);
    if (width === undefined) {
      ctx.font = this.#font;
      width = ctx.measureText(name).width;
      this.#widths.set(frame, width);
    }
    if (width <= room) return name;
    // Rooms that are about the same share a cut name, so that zooming measures little.
    const steps = Math.floor(room / STEP);
    const key = frame * 4096 + Math.min(4095, steps);
    let cut = this.#cut.get(key);
    if (cut === undefined) {
      if (this.#cut.size >= KEPT) this.#cut.clear();
      ctx.font = this.#font;
      cut = '';
      for (let kept = Math.ceil((steps * STEP * name.length) / width); kept >= LEAST && cut === ''; kept--) {
        const tried = cutTo(name, kept);
        if (ctx.measureText(tried).width <= steps * STEP) cut = tried;
      }
      this.#cut.set(key, cut);
    }
    return cut;
  }
}

/** Keeps so many characters: of long names some of the end, where names differ that begin alike. */
function cutTo(name: string, kept: number): string {
  const end = kept < 14 ? 0 : Math.floor(kept / 3);
  return `${name.slice(0, kept - end)}…${end === 0 ? '' : name.slice(-end)}`;
}
