// The page: header, timeline, tabs with views, and the details of the selected function.

import '@selfprof/views/theme.css';
import '@selfprof/views/controls.css';
import '@selfprof/views/tabs.css';
import '@selfprof/views/page-frame.css';
import './page.css';

import type { Box } from '@selfprof/views/box-walk.ts';
import { DIMMED_COLOR, frameColors, selectedColor } from '@selfprof/views/colors.ts';
import { DiffView } from '@selfprof/views/diff-view.ts';
import { element } from '@selfprof/views/dom.ts';
import { FlameGraph } from '@selfprof/views/flame-graph.ts';
import type { FrameStyle } from '@selfprof/views/flame-graph-plugin.ts';
import { type Level, leftHeavy, timeOrder } from '@selfprof/views/flame-layout.ts';
import { formatDuration, formatPercent } from '@selfprof/views/format.ts';
import { FunctionTable } from '@selfprof/views/function-table.ts';
import { inverted } from '@selfprof/views/inverted-tree.ts';
import type { Profile } from '@selfprof/views/profile.ts';
import { Sandwich } from '@selfprof/views/sandwich.ts';
import { searchMatcher } from '@selfprof/views/search.ts';
import type { Thread } from '@selfprof/views/thread.ts';
import type { TimeRange } from '@selfprof/views/time-range.ts';

import type { Embedded } from './embedded.ts';
import { FunctionDetails } from './function-details.ts';
import { Header } from './header.ts';
import { openHelp } from './help.ts';
import { LabelValues } from './label-values.ts';
import { type Change, type State, VIEWS, type View } from './state.ts';
import { Switches } from './switches.ts';
import { type Tab, Tabs } from './tabs.ts';
import { ThreadLanes } from './thread-lanes.ts';
import { axisMargins } from './time-axis.ts';
import { Timeline } from './timeline.ts';

const TITLES: Record<View, string> = {
  time: 'Time order',
  heavy: 'Left heavy',
  functions: 'Functions',
  packages: 'Packages',
  sandwich: 'Callers and callees',
  diff: 'Diff',
};

const DESCRIPTIONS: Record<View, string> = {
  time: 'Calls in time order. Width is duration, and callees are below their caller.',
  heavy: 'Equal stacks merged, heaviest first. Width is total time.',
  functions: 'Self time is time in a function’s own code. Total time includes the functions it called.',
  packages: 'Packages by time. A click groups packages in all views, and selects this one.',
  sandwich: 'The callers and callees of the selected function.',
  diff: 'What changed from the first trace to the second, as shares of busy time.',
};

const THREADS_DESCRIPTION = 'Calls in time order, the busiest thread first. Width is duration.';
const INVERTED_DESCRIPTION = 'Functions by self time, and their callers below them. Width is self time.';

const SAME_AS_TABLE = 'The Functions tab has the same data as a table';

/** What a report has besides its traces. */
export interface ReportContent extends Pick<Embedded, 'generator' | 'comparison'> {
  /** A link to the page that the report belongs to. */
  back?: HTMLElement;
}

export class ReportPage {
  readonly #state: State;
  readonly #header: Header;
  readonly #timeline: Timeline;
  readonly #timeOrder: FlameGraph;
  readonly #leftHeavy: FlameGraph;
  readonly #table: FunctionTable;
  readonly #packages: FunctionTable;
  readonly #sandwich: Sandwich;
  readonly #details: FunctionDetails;
  readonly #diff: DiffView | undefined;
  readonly #tabs: Tabs;
  readonly #description = element('p', { class: 'view-description' });
  /** Announces the selected function to screen readers. */
  readonly #announcement = element('p', { class: 'visually-hidden', role: 'status' });
  /** Views to update when they are shown. */
  readonly #stale = new Set<View>(VIEWS);
  /** What the flame graph in time order shows. The layout of one thread does not depend on the selected range. */
  #inTimeOrder: { profile: Profile; threads: readonly Thread[]; range: TimeRange } | undefined;
  #colors: Uint32Array;

  constructor(container: Element, state: State, { generator, comparison, back }: ReportContent) {
    this.#state = state;
    this.#colors = frameColors(state.profile);
    const style: FrameStyle = {
      colors: () => this.#currentColors(),
      nameOf: (frame) => state.profile.functionName(frame),
    };
    const onSelect = (frame: number): void => state.selectFrame(frame);
    this.#header = new Header(state, generator, () => this.#openHelp(), back);
    this.#timeline = new Timeline(state);
    const lanes = new ThreadLanes(state);
    this.#timeOrder = new FlameGraph({
      label: `Flame graph in time order. ${SAME_AS_TABLE}`,
      style,
      describe: (box) => this.#describeCall(box),
      zoomsOnClick: true,
      onSelect,
      onViewChange: (visible) => this.#timeline.showVisibleRange(visible),
      marginsIn: (width) => axisMargins(width, state.profile.threads.length),
    });
    this.#leftHeavy = new FlameGraph({
      label: `Left-heavy flame graph. ${SAME_AS_TABLE}`,
      style,
      describe: (box) => this.#describeMerged(box),
      zoomsOnClick: true,
      onSelect,
    });
    this.#table = new FunctionTable({
      subject: 'functions',
      onSelect,
      onOpen: (frame) => this.#openSandwich(frame),
    });
    this.#packages = new FunctionTable({
      subject: 'packages',
      onSelect: (frame) => state.selectPackage(frame),
      canSelect: (frame) => state.canSelectPackage(frame),
      onOpen: (frame) => {
        if (state.canSelectPackage(frame)) this.#openSandwich(frame);
      },
    });
    this.#sandwich = new Sandwich(style, onSelect);
    this.#details = new FunctionDetails(state);
    const [before, after] = state.profiles;
    this.#diff = comparison === null ? undefined : new DiffView(before, after, comparison);
    const panels: Partial<Record<View, HTMLElement>> = {
      time: this.#timeOrder.root,
      heavy: this.#leftHeavy.root,
      functions: this.#table.root,
      packages: this.#packages.root,
      sandwich: this.#sandwich.root,
    };
    if (this.#diff !== undefined) panels.diff = this.#diff.root;
    const tabs = Object.entries(panels).map(([view, panel]): Tab => {
      return { view: view as View, title: TITLES[view as View], panel };
    });
    this.#tabs = new Tabs(state, tabs);
    const views = element('div', { class: 'views' }, ...Object.values(panels));
    container.replaceChildren(
      this.#header.root,
      element('div', { class: 'times' }, this.#timeline.root, lanes.root, new LabelValues(state).root),
      element('nav', {}, this.#tabs.root, this.#description, new Switches(state).root),
      element('main', {}, views),
      this.#details.root,
      this.#announcement,
    );
    state.onChange((change) => this.#onChange(change));
    document.addEventListener('keydown', (event) => this.#onKeyDown(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => state.themeChanged());
    this.#showView();
  }

  /** By frame: the selected function is highlighted, and functions that do not match the search are dimmed. */
  #currentColors(): Uint32Array {
    const { selectedFrame, matches } = this.#state;
    const colors = this.#colors.slice();
    if (matches !== undefined)
      for (let frame = 0; frame < colors.length; frame++) if (matches[frame] === 0) colors[frame] = DIMMED_COLOR;
    if (selectedFrame !== -1) colors[selectedFrame] = selectedColor();
    return colors;
  }

  get views(): readonly View[] {
    return this.#tabs.views;
  }

  /** The range that the flame graph in time order shows. Tests and benchmarks read and set it. */
  get visibleRange(): TimeRange {
    return this.#timeOrder.visibleRange;
  }

  /** The boxes of the flame graph of merged stacks, for tests. */
  get mergedLevels(): readonly Level[] {
    return this.#leftHeavy.layout.levels;
  }

  zoomTo(range: TimeRange): void {
    this.#timeOrder.zoomTo(range);
  }

  #describeCall({ frame, start, end }: Box): [string, ...string[]] {
    const { profile } = this.#state;
    return [
      profile.functionName(frame),
      profile.location(frame),
      `${formatDuration(end - start)}, starts at ${formatDuration(start)}`,
      this.#describeTotals(frame),
    ];
  }

  #describeMerged({ frame, start, end }: Box): [string, ...string[]] {
    const { profile, totals } = this.#state;
    const share = `${formatDuration(end - start)}, ${formatPercent(end - start, totals.busy)} of busy time`;
    return [
      profile.functionName(frame),
      profile.location(frame),
      this.#state.isInverted ? `${share}, in the function at the top` : share,
      this.#describeTotals(frame),
    ];
  }

  #describeTotals(frame: number): string {
    const { totals } = this.#state;
    const self = `${formatDuration(totals.self[frame])} self time (${formatPercent(totals.self[frame], totals.busy)})`;
    return `All calls of the function: ${self}, ${formatDuration(totals.total[frame])} total time`;
  }

  #openSandwich(frame: number): void {
    this.#state.selectFrame(frame);
    this.#state.view = 'sandwich';
  }

  #openHelp(): void {
    openHelp(this.#tabs.count);
  }

  #onChange(change: Change): void {
    this.#markStale(change);
    if (change === 'profile' || change === 'grouping' || change === 'theme')
      this.#colors = frameColors(this.#state.profile);
    if (change === 'theme')
      for (const view of [this.#timeOrder, this.#leftHeavy, this.#sandwich, this.#diff]) view?.applyTheme();
    if (change === 'frame') this.#announceSelection();
    if (change === 'view' || change === 'inverted' || change === 'thread') this.#showView();
    if (change !== 'search') this.#details.update();
    this.#timeOrder.selectFrame(this.#state.selectedFrame);
    this.#leftHeavy.selectFrame(this.#state.selectedFrame);
    if (change === 'search') {
      this.#sandwich.redraw();
      this.#diff?.search(this.#state.search);
    }
    this.#updateIfStale(this.#state.view);
  }

  #markStale(change: Change): void {
    const affected: Partial<Record<Change, View[]>> = {
      profile: ['time', 'heavy', 'functions', 'packages', 'sandwich'],
      grouping: ['time', 'heavy', 'functions', 'packages', 'sandwich'],
      inverted: ['heavy'],
      thread: ['time', 'heavy', 'functions', 'packages', 'sandwich'],
      label: ['time', 'heavy', 'functions', 'packages', 'sandwich'],
      range: ['time', 'heavy', 'functions', 'packages', 'sandwich'],
      frame: ['functions', 'packages', 'sandwich'],
      search: ['functions', 'packages'],
    };
    for (const view of affected[change] ?? []) this.#stale.add(view);
  }

  #updateIfStale(view: View): void {
    if (!this.#stale.delete(view)) return;
    const { profile, totals, search, matches, selectedFrame } = this.#state;
    const updates: Record<View, () => void> = {
      time: () => this.#updateTimeOrder(),
      heavy: () =>
        this.#leftHeavy.show(this.#state.isInverted ? inverted(profile, totals) : leftHeavy(profile, totals)),
      functions: () => this.#table.show({ profile, totals, search, matches, selectedFrame }),
      packages: () => this.#updatePackages(),
      sandwich: () => this.#sandwich.show({ profile, totals, frame: selectedFrame }),
      diff: () => this.#diff?.show(),
    };
    updates[view]();
  }

  #updatePackages(): void {
    const { packages, packageTotals, search, selectedFrame, isGrouped } = this.#state;
    const { profile, firstPackage } = packages;
    const isListed = isGrouped && (selectedFrame >= firstPackage || profile.frames.isPseudoFunction(selectedFrame));
    const isMatch = searchMatcher(search);
    const matches =
      search.trim() === ''
        ? undefined
        : Uint8Array.from({ length: profile.frameCount }, (_, frame) =>
            Number(isMatch(profile.frames.identity(frame))),
          );
    this.#packages.show({
      profile,
      totals: packageTotals,
      search,
      matches,
      selectedFrame: isListed ? selectedFrame : -1,
    });
  }

  #updateTimeOrder(): void {
    const { profile, threads, range } = this.#state;
    const shown = this.#inTimeOrder;
    const isSame = shown?.profile === profile && shown.threads === threads;
    if (!isSame || (threads.length > 1 && shown.range !== range))
      this.#timeOrder.show(timeOrder(profile, threads, range));
    this.#inTimeOrder = { profile, threads, range };
    this.#timeOrder.zoomTo(range);
  }

  #showView(): void {
    const { view } = this.#state;
    this.#tabs.update();
    this.#description.textContent = this.#describeView();
    document.body.dataset.view = view;
    this.#updateIfStale(view);
    this.#details.update();
  }

  #describeView(): string {
    const { view, isInverted, threads } = this.#state;
    if (view === 'heavy' && isInverted) return INVERTED_DESCRIPTION;
    if (view === 'time' && threads.length > 1) return THREADS_DESCRIPTION;
    return DESCRIPTIONS[view];
  }

  #announceSelection(): void {
    const { selectedFrame: frame, profile, totals } = this.#state;
    const times = (): string =>
      `self time ${formatDuration(totals.self[frame])}, total time ${formatDuration(totals.total[frame])}`;
    this.#announcement.textContent = frame === -1 ? '' : `${profile.functionName(frame)}: ${times()}`;
  }

  /** Goes back to before the last click that zoomed in the view; false if there was none. */
  #zoomOut(): boolean {
    const { view } = this.#state;
    const graph = { time: this.#timeOrder, heavy: this.#leftHeavy, diff: this.#diff }[view as string];
    return graph?.zoomOut() ?? false;
  }

  #hideTooltips(): void {
    this.#timeline.hideTooltip();
    this.#timeOrder.hideTooltip();
    this.#leftHeavy.hideTooltip();
    this.#sandwich.hideTooltips();
    this.#diff?.hideTooltips();
  }

  #onKeyDown(event: KeyboardEvent): void {
    const { target } = event;
    // Arrow keys on a flame graph or on the timeline show tooltips of their own.
    if (target instanceof HTMLInputElement || event.key === '/' || event.key === 'Escape') this.#hideTooltips();
    const isTyping =
      (target instanceof HTMLInputElement && target.type !== 'checkbox') || target instanceof HTMLSelectElement;
    if (event.key === 'Escape') {
      if (isTyping) target.blur();
      else if (this.#zoomOut()) return;
      else if (this.#state.selectedFrame !== -1) this.#state.selectFrame(-1);
      else if (this.#state.hasSelectedRange) this.#state.selectRange(undefined);
      else this.#state.selectLabel(this.#state.labelName);
      return;
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = this.#tabs.viewAt(Number(event.key));
    if (view !== undefined) this.#state.view = view;
    else if (event.key === 'i' && this.#state.view === 'heavy') this.#state.isInverted = !this.#state.isInverted;
    else if (event.key === 'p') this.#state.isGrouped = !this.#state.isGrouped;
    else if (event.key === 'n') this.#state.isNodeFolded = !this.#state.isNodeFolded;
    else if (event.key === 'h') this.#state.hideSelectedPackage();
    else if (event.key === '/') {
      event.preventDefault();
      this.#header.focusSearch();
    } else if (event.key === '?') this.#openHelp();
  }
}
