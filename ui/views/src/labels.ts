// Labels of flame graph boxes: function names, shortened to the width of the box. Measuring text is slow, so widths and
// shortened names are cached.

/** The cache of shortened names is emptied at this size. */
const MAX_CACHED = 20_000;
/** Widths are rounded down to multiples of this many pixels, so that zooming reuses shortened names. */
const WIDTH_STEP = 4;
/** A shorter piece of a name is not worth showing. */
const MIN_CHARACTERS = 3;

export class LabelCache {
  readonly #nameOf: (frame: number) => string;
  readonly #font: string;
  /** By frame: the width of the full name. */
  readonly #widths = new Map<number, number>();
  /** By frame and width step. */
  readonly #shortened = new Map<number, string>();

  constructor(nameOf: (frame: number) => string, font: string) {
    this.#nameOf = nameOf;
    this.#font = font;
  }

  /** To be called when frame numbers mean other functions. */
  clear(): void {
    this.#widths.clear();
    this.#shortened.clear();
  }

  /** A function's name, shortened to fit a width in pixels; empty when too little of it would remain. */
  labelOf(ctx: CanvasRenderingContext2D, frame: number, available: number): string {
    const name = this.#nameOf(frame);
    let width = this.#widths.get(frame);
    if (width === undefined) {
      ctx.font = this.#font;
      width = ctx.measureText(name).width;
      this.#widths.set(frame, width);
    }
    if (width <= available) return name;
    const steps = Math.floor(available / WIDTH_STEP);
    const key = frame * 4096 + Math.min(4095, steps);
    let label = this.#shortened.get(key);
    if (label === undefined) {
      if (this.#shortened.size >= MAX_CACHED) this.#shortened.clear();
      ctx.font = this.#font;
      label = '';
      const fitting = Math.ceil((steps * WIDTH_STEP * name.length) / width);
      for (let characters = fitting; characters >= MIN_CHARACTERS && label === ''; characters--) {
        const candidate = shorten(name, characters);
        if (ctx.measureText(candidate).width <= steps * WIDTH_STEP) label = candidate;
      }
      this.#shortened.set(key, label);
    }
    return label;
  }
}

/** Keeps a number of characters. Longer labels keep some of the name's end too, where similar names differ. */
function shorten(name: string, characters: number): string {
  const end = characters < 14 ? 0 : Math.floor(characters / 3);
  return `${name.slice(0, characters - end)}…${end === 0 ? '' : name.slice(-end)}`;
}
