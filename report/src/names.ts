// Names of functions, cut to the room that they have. Measuring text is slow, so each name is measured once.

/** As many cut names are kept. */
const KEPT = 20_000;

export class Names {
  readonly #nameOf: (frame: number) => string;
  readonly #font: string;
  /** By frame: the name's width. */
  readonly #widths = new Map<number, number>();
  /** By frame and number of characters. */
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
    const characters = Math.min(1023, Math.floor((room * name.length) / width) - 1);
    if (characters < 3) return '';
    const key = frame * 1024 + characters;
    let cut = this.#cut.get(key);
    if (cut === undefined) {
      if (this.#cut.size >= KEPT) this.#cut.clear();
      const end = Math.floor(characters / 3);
      cut = `${name.slice(0, characters - end)}…${end === 0 ? '' : name.slice(-end)}`;
      this.#cut.set(key, cut);
    }
    return cut;
  }
}
