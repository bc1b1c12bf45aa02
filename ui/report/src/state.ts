// What the page shows: the selected trace, time range, function, search and view. Listeners are notified of
// changes.

import { type GroupedProfile, groupPackages, hidePackages, packageOf } from '@selfprof/views/packages.ts';
import type { Profile, Totals } from '@selfprof/views/profile.ts';
import {
  hasLabelValue,
  type LabelTotal,
  type LabelValue,
  labelNames,
  labelTotals,
  withLabel,
} from '@selfprof/views/sample-labels.ts';
import { searchMatcher } from '@selfprof/views/search.ts';
import type { Thread } from '@selfprof/views/thread.ts';
import type { TimeRange } from '@selfprof/views/time-range.ts';

export const VIEWS = ['time', 'heavy', 'functions', 'packages', 'sandwich', 'diff'] as const;
export type View = (typeof VIEWS)[number];

/**
 * 'grouping' means that packages are functions now or hidden, or no longer: frames and stacks have changed. 'label'
 * means that other samples are idle, or that another label is listed.
 */
export type Change =
  | 'profile'
  | 'grouping'
  | 'inverted'
  | 'thread'
  | 'label'
  | 'range'
  | 'frame'
  | 'search'
  | 'view'
  | 'theme';

/** Stands for all threads together. */
export const ALL_THREADS = -1;
/** Threads are listed up to this number, the busiest ones. */
const MAX_LANES = 200;

export class State {
  readonly profiles: Profile[];
  #index = 0;
  #selectedThread = ALL_THREADS;
  #threads: readonly Thread[] | undefined;
  #lanes: number[] | undefined;
  #selectedRange: TimeRange | undefined;
  #selectedFrame = -1;
  #search = '';
  #view: View = 'time';
  #isGrouped = false;
  #isInverted = false;
  #isNodeFolded = true;
  #hiddenPackages: ReadonlySet<string> = new Set();
  #labelName: string | undefined;
  #labelValue: LabelValue | undefined;
  /** The trace with folded functions of Node.js. */
  #folded: Profile | undefined;
  /** The trace with the samples of the selected label. */
  #labelled: Profile | undefined;
  /** That trace without hidden packages. */
  #shown: Profile | undefined;
  #grouped: GroupedProfile | undefined;
  #allGrouped: GroupedProfile | undefined;
  #totals: Totals | undefined;
  #packageTotals: Totals | undefined;
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

  /** The trace, with packages as functions if they are grouped. */
  get profile(): Profile {
    return this.#isGrouped ? this.#grouping.profile : this.#ungrouped;
  }

  /** The trace without hidden packages. */
  get #ungrouped(): Profile {
    if (this.#hiddenPackages.size === 0) return this.#filtered;
    this.#shown ??= hidePackages(this.#filtered, this.#hiddenPackages);
    return this.#shown;
  }

  /** The trace with the samples of the selected label. */
  get #filtered(): Profile {
    if (this.#labelName === undefined || this.#labelValue === undefined) return this.#whole;
    this.#labelled ??= withLabel(this.#whole, this.#labelName, this.#labelValue);
    return this.#labelled;
  }

  /** The trace, possibly with folded functions of Node.js. */
  get #whole(): Profile {
    const profile = this.profiles[this.#index];
    if (!this.#isNodeFolded) return profile;
    this.#folded ??= profile.withFoldedNode();
    return this.#folded;
  }

  /** Whether the trace has functions of Node.js's own scripts. */
  get hasNodeFrames(): boolean {
    return this.profiles[this.#index].hasNodeFrames;
  }

  /** Whether functions of Node.js are shown as built-in ones: only the one that the program has called. */
  get isNodeFolded(): boolean {
    return this.#isNodeFolded;
  }

  set isNodeFolded(isNodeFolded: boolean) {
    if (isNodeFolded === this.#isNodeFolded) return;
    this.#isNodeFolded = isNodeFolded;
    this.#labelled = undefined;
    this.#forgetProfile();
    this.#selectedFrame = -1;
    this.#notify('grouping');
  }

  get profileIndex(): number {
    return this.#index;
  }

  get #grouping(): GroupedProfile {
    this.#grouped ??= groupPackages(this.#ungrouped);
    return this.#grouped;
  }

  /** The trace with packages and all other code as functions. */
  get packages(): GroupedProfile {
    this.#allGrouped ??= groupPackages(this.#ungrouped, true);
    return this.#allGrouped;
  }

  /** The totals of `range` in `packages`. */
  get packageTotals(): Totals {
    const { profile } = this.packages;
    this.#packageTotals ??= profile.totals(this.range, this.#selected(profile));
    return this.#packageTotals;
  }

  get isGrouped(): boolean {
    return this.#isGrouped;
  }

  /** Makes each package one function, or shows its functions. A selected function becomes its package. */
  set isGrouped(isGrouped: boolean) {
    if (isGrouped === this.#isGrouped) return;
    const frame = this.#selectedFrame;
    this.#isGrouped = isGrouped;
    if (isGrouped && frame !== -1) this.#selectedFrame = this.#grouping.frameOf[frame];
    else if (frame >= this.#ungrouped.frameCount) this.#selectedFrame = -1;
    this.#threads = undefined;
    this.#totals = undefined;
    this.#matches = undefined;
    this.#notify('grouping');
  }

  get hiddenPackages(): ReadonlySet<string> {
    return this.#hiddenPackages;
  }

  /** Leaves the functions of these packages out of all stacks. */
  set hiddenPackages(hidden: ReadonlySet<string>) {
    const isSame =
      hidden.size === this.#hiddenPackages.size && [...hidden].every((one) => this.#hiddenPackages.has(one));
    if (isSame) return;
    const { selectedPackage, selectedFrame } = this;
    const identity = selectedFrame === -1 ? '' : this.profile.frames.identity(selectedFrame);
    const isHidden = selectedPackage !== undefined && hidden.has(selectedPackage);
    this.#hiddenPackages = hidden;
    this.#forgetProfile();
    // Groups have other numbers now.
    this.#selectedFrame = selectedFrame === -1 || isHidden ? -1 : this.frameOf(identity);
    this.#notify('grouping');
  }

  /** The package of the selected function; undefined if it is of none. */
  get selectedPackage(): string | undefined {
    const resource = this.#selectedFrame === -1 ? undefined : this.profile.frames.resource(this.#selectedFrame);
    return resource === undefined ? undefined : packageOf(resource);
  }

  /** Hides the package of the selected function, if it is of one. */
  hideSelectedPackage(): void {
    const { selectedPackage } = this;
    if (selectedPackage !== undefined) this.hiddenPackages = new Set([...this.#hiddenPackages, selectedPackage]);
  }

  /** Forgets what was computed of the trace. */
  #forgetProfile(): void {
    this.#shown = undefined;
    this.#grouped = undefined;
    this.#allGrouped = undefined;
    this.#packageTotals = undefined;
    this.#threads = undefined;
    this.#totals = undefined;
    this.#matches = undefined;
  }

  /** Groups packages, and selects one: a frame of `packages`. */
  selectPackage(frame: number): void {
    if (!this.canSelectPackage(frame)) return;
    this.isGrouped = true;
    this.selectFrame(frame);
  }

  /**
   * Whether a frame of `packages` is a package, the garbage collector or waiting. Other code has a frame for each
   * function.
   */
  canSelectPackage(frame: number): boolean {
    return frame >= 0 && frame < this.packages.endOfPackages;
  }

  /** Whether the merged flame graph has callees at the top, and their callers below. */
  get isInverted(): boolean {
    return this.#isInverted;
  }

  set isInverted(isInverted: boolean) {
    if (isInverted === this.#isInverted) return;
    this.#isInverted = isInverted;
    this.#notify('inverted');
  }

  /** Shows another trace, in full and with no function selected. */
  selectProfile(index: number): void {
    if (index === this.#index || this.profiles[index] === undefined) return;
    this.#index = index;
    this.#folded = undefined;
    this.#labelName = undefined;
    this.#labelValue = undefined;
    this.#labelled = undefined;
    this.#forgetProfile();
    this.#selectedThread = ALL_THREADS;
    this.#lanes = undefined;
    this.#selectedRange = undefined;
    this.#selectedFrame = -1;
    this.#notify('profile');
  }

  /** The index of the thread that is shown alone, or `ALL_THREADS`. */
  get selectedThread(): number {
    return this.#selectedThread;
  }

  selectThread(index: number): void {
    const isThread = index === ALL_THREADS || this.profile.threads[index] !== undefined;
    if (index === this.#selectedThread || !isThread) return;
    this.#selectedThread = index;
    this.#threads = undefined;
    this.#totals = undefined;
    this.#packageTotals = undefined;
    this.#notify('thread');
  }

  /** The threads that are shown. */
  get threads(): readonly Thread[] {
    this.#threads ??= this.#selected(this.profile);
    return this.#threads;
  }

  #selected({ threads }: Profile): readonly Thread[] {
    return this.#selectedThread === ALL_THREADS ? threads : [threads[this.#selectedThread]];
  }

  /** The threads to choose from, by process; empty if there is only one. */
  get lanes(): number[] {
    this.#lanes ??= lanesOf(this.#whole.threads);
    return this.#lanes;
  }

  get labelNames(): readonly string[] {
    return labelNames(this.#whole);
  }

  /** The label whose values are listed; undefined for none. */
  get labelName(): string | undefined {
    return this.#labelName;
  }

  /** The value that samples must have to be shown; undefined shows all. */
  get labelValue(): LabelValue | undefined {
    return this.#labelValue;
  }

  /**
   * Lists the values of a label, and shows only the samples with a value. A name or value that is not in the trace
   * counts as none.
   */
  selectLabel(name: string | undefined, value?: LabelValue): void {
    const known = name !== undefined && this.labelNames.includes(name) ? name : undefined;
    const isKnown = known !== undefined && value !== undefined && hasLabelValue(this.#whole, known, value);
    const wanted = isKnown ? value : undefined;
    if (known === this.#labelName && wanted === this.#labelValue) return;
    this.#labelName = known;
    this.#labelValue = wanted;
    this.#labelled = undefined;
    this.#forgetProfile();
    this.#notify('label');
  }

  /** The values of the listed label, in the selected range and threads, most time first. */
  get labelTotals(): LabelTotal[] {
    if (this.#labelName === undefined) return [];
    return labelTotals(this.#whole, this.#labelName, this.range, this.#selected(this.#whole));
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
    this.#packageTotals = undefined;
    this.#notify('range');
  }

  /** The totals of `range`. */
  get totals(): Totals {
    this.#totals ??= this.profile.totals(this.range, this.threads);
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

  /** The frame with an identity, or -1. */
  frameOf(identity: string): number {
    const { frames } = this.profile;
    for (let frame = 0; frame < frames.count; frame++) if (frames.identity(frame) === identity) return frame;
    return -1;
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
        Number(isMatch(profile.frames.identity(frame))),
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

/** The indices of the busiest threads, the threads of a process together. */
function lanesOf(threads: readonly Thread[]): number[] {
  if (threads.length < 2) return [];
  const busiest = [...threads.keys()].sort((a, b) => threads[b].busy - threads[a].busy).slice(0, MAX_LANES);
  const firstOf = new Map<string, number>();
  for (const [index, { group }] of threads.entries()) if (!firstOf.has(group)) firstOf.set(group, index);
  const orderOf = (index: number): number => firstOf.get(threads[index].group) ?? index;
  return busiest.sort(
    (a, b) => orderOf(a) - orderOf(b) || Number(threads[b].isMain) - Number(threads[a].isMain) || a - b,
  );
}
