// What the page shows: the selected trace, time range, function, search and view. Listeners are notified of
// changes.

import type { Profile, Totals } from '@selfprof/views/profile.ts';
import { searchMatcher } from '@selfprof/views/search.ts';
import type { TimeRange } from '@selfprof/views/time-range.ts';

export type View = 'time' | 'heavy' | 'functions' | 'sandwich' | 'diff';

export type Change = 'profile' | 'range' | 'frame' | 'search' | 'view' | 'theme';

export class State {
  readonly profiles: Profile[];
  #index = 0;
  #selectedRange: TimeRange | undefined;
  #selectedFrame = -1;
  #search = '';
  #view: View = 'time';
  #totals: Totals | undefined;
  #matches: Uint8Array | undefined;
  readonly #listeners: ((change: Change) => void)[] = [];

  constructor(profiles: Profile[]) {
    this.profiles = profiles;
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  #notify(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  get profile(): Profile {
    return this.profiles[this.#index];
  }

  /** Shows another trace, in full and with no function selected. */
  selectProfile(index: number): void {
    if (index === this.#index || this.profiles[index] === undefined) return;
    this.#index = index;
    this.#selectedRange = undefined;
    this.#selectedFrame = -1;
    this.#totals = undefined;
    this.#matches = undefined;
    this.#notify('profile');
  }

  /** The selected time range, or the whole trace. */
  get range(): TimeRange {
    return this.#selectedRange ?? this.profile.extent;
  }

  get hasSelectedRange(): boolean {
    return this.#selectedRange !== undefined;
  }

  /** Selects a time range, limited to the extent of the trace; undefined clears the selection. */
  selectRange(range: TimeRange | undefined): void {
    const { extent } = this.profile;
    let limited: TimeRange | undefined;
    if (range !== undefined) {
      limited = {
        start: Math.max(extent.start, Math.min(range.start, range.end)),
        end: Math.min(extent.end, Math.max(range.start, range.end)),
      };
      if (!(limited.end > limited.start)) limited = undefined;
    }
    if (limited?.start === this.#selectedRange?.start && limited?.end === this.#selectedRange?.end) return;
    this.#selectedRange = limited;
    this.#totals = undefined;
    this.#notify('range');
  }

  /** The totals of `range`. */
  get totals(): Totals {
    this.#totals ??= this.profile.totals(this.range);
    return this.#totals;
  }

  /** The frame of the selected function, or -1. */
  get selectedFrame(): number {
    return this.#selectedFrame;
  }

  selectFrame(frame: number): void {
    if (frame === this.#selectedFrame) return;
    this.#selectedFrame = frame;
    this.#notify('frame');
  }

  get search(): string {
    return this.#search;
  }

  set search(text: string) {
    if (text === this.#search) return;
    this.#search = text;
    this.#matches = undefined;
    this.#notify('search');
  }

  /** By frame: whether it matches the search; undefined without a search. */
  get matches(): Uint8Array | undefined {
    if (this.#search.trim() === '') return undefined;
    if (this.#matches === undefined) {
      const { profile } = this;
      const isMatch = searchMatcher(this.#search);
      this.#matches = Uint8Array.from({ length: profile.frameCount }, (_, frame) =>
        Number(isMatch(profile.identity(frame))),
      );
    }
    return this.#matches;
  }

  get view(): View {
    return this.#view;
  }

  set view(view: View) {
    if (view === this.#view) return;
    this.#view = view;
    this.#notify('view');
  }

  themeChanged(): void {
    this.#notify('theme');
  }
}
