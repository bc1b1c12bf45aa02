// What all views show, and who is told when it changes.

import { Profile, type Range, type Sums } from './profile.ts';

export type View = 'time' | 'heavy' | 'functions' | 'sandwich' | 'diff';

export type Change = 'trace' | 'range' | 'frame' | 'search' | 'view' | 'theme';

export class State {
  readonly profiles: Profile[];
  #index = 0;
  #range: Range | undefined;
  #frame = -1;
  #search = '';
  #view: View = 'time';
  #sums: Sums | undefined;
  #matches: Uint8Array | undefined;
  readonly #listeners: ((change: Change) => void)[] = [];

  constructor(profiles: Profile[]) {
    this.profiles = profiles;
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  get profile(): Profile {
    return this.profiles[this.#index];
  }

  get index(): number {
    return this.#index;
  }

  /** Shows another trace, from its start to its end. */
  show(index: number): void {
    if (index === this.#index || this.profiles[index] === undefined) return;
    this.#index = index;
    this.#range = undefined;
    this.#frame = -1;
    this.#forget();
    this.#tell('trace');
  }

  #forget(): void {
    this.#sums = undefined;
    this.#matches = undefined;
  }

  /** The selected stretch of time, or all of it. */
  get range(): Range {
    return this.#range ?? this.profile.extent;
  }

  get hasSelection(): boolean {
    return this.#range !== undefined;
  }

  select(range: Range | undefined): void {
    const { extent } = this.profile;
    let within: Range | undefined;
    if (range !== undefined) {
      within = { start: Math.max(extent.start, Math.min(range.start, range.end)), end: Math.min(extent.end, Math.max(range.start, range.end)) };
      if (!(within.end > within.start)) within = undefined;
    }
    if (within?.start === this.#range?.start && within?.end === this.#range?.end) return;
    this.#range = within;
    this.#sums = undefined;
    this.#tell('range');
  }

  /** What was spent in the selected stretch. */
  get sums(): Sums {
    return (this.#sums ??= this.profile.sums(this.range));
  }

  /** The chosen function, or -1. */
  get frame(): number {
    return this.#frame;
  }

  choose(frame: number): void {
    if (frame === this.#frame) return;
    this.#frame = frame;
    this.#tell('frame');
  }

  get search(): string {
    return this.#search;
  }

  set search(text: string) {
    if (text === this.#search) return;
    this.#search = text;
    this.#matches = undefined;
    this.#tell('search');
  }

  /** Tells whether a function is looked for, by its identity: every word must be in its name or its place. */
  get matcher(): (identity: string) => boolean {
    const words = this.#search.toLowerCase().split(/\s+/).filter(Boolean);
    return (identity) => {
      const text = identity.toLowerCase();
      return words.every((word) => text.includes(word));
    };
  }

  /** By frame, whether it is looked for; undefined when nothing is. */
  get matches(): Uint8Array | undefined {
    if (this.#search.trim() === '') return undefined;
    if (this.#matches === undefined) {
      const { profile, matcher } = this;
      this.#matches = Uint8Array.from({ length: profile.frameCount }, (_, frame) => Number(matcher(profile.identity(frame))));
    }
    return this.#matches;
  }

  get view(): View {
    return this.#view;
  }

  set view(view: View) {
    if (view === this.#view) return;
    this.#view = view;
    this.#tell('view');
  }

  themeChanged(): void {
    this.#tell('theme');
  }
}
