// Puts the page together.

import 'uplot/dist/uPlot.min.css';
import './style.css';

import { leftHeavy, timeOrder } from './boxes.ts';
import type { Box, Look } from './boxes-plugin.ts';
import { PALE, chosenColor, frameColors } from './colors.ts';
import { Details } from './details.ts';
import { DiffView } from './diff-view.ts';
import { element, fill } from './elements.ts';
import { type Embedded, readEmbedded } from './embedded.ts';
import { FlameView } from './flame-view.ts';
import { FunctionTable } from './function-table.ts';
import { Header } from './header.ts';
import { Profile } from './profile.ts';
import { Sandwich } from './sandwich.ts';
import { type Change, State, type View } from './state.ts';
import { Timeline } from './timeline.ts';
import { milliseconds, percent } from './words.ts';

/** What a view shows, for who sees it for the first time. */
const ABOUT: Record<View, string> = {
  time: 'Calls in the order of time. Width is time, and what a function called is below it.',
  heavy: 'The same calls added up, what took longest first. Width is time, not order.',
  functions: 'Self is time in a function’s own code, total includes what it called.',
  sandwich: 'One function: who called it above, what it called below.',
  diff: 'What changed from the first trace to the second, as shares of the busy time.',
};

const TITLES: Record<View, string> = { time: 'Time order', heavy: 'Left heavy', functions: 'Functions', sandwich: 'Callers and callees', diff: 'Difference' };

class Report {
  readonly #state: State;
  readonly #header: Header;
  readonly #timeline: Timeline;
  readonly #time: FlameView;
  readonly #heavy: FlameView;
  readonly #table: FunctionTable;
  readonly #sandwich: Sandwich;
  readonly #details: Details;
  readonly #diff: DiffView | undefined;
  readonly #views: Partial<Record<View, HTMLElement>>;
  readonly #tabs: Partial<Record<View, HTMLElement>>;
  readonly #about = element('p', { class: 'about' });
  /** Tells who cannot see it what was chosen. */
  readonly #spoken = element('p', { class: 'spoken', role: 'status' });
  /** What has to be brought up to date when it is looked at. */
  readonly #stale = new Set<View>(['time', 'heavy', 'functions', 'sandwich', 'diff']);
  #colors: Uint32Array = new Uint32Array();

  constructor(state: State, { generator, comparison }: Embedded) {
    this.#state = state;
    this.#dress();
    const look: Look = {
      colors: () => this.#look(),
      nameOf: (frame) => state.profile.functionName(frame),
    };
    const choose = (frame: number): void => state.choose(frame);
    this.#header = new Header(state, generator);
    this.#timeline = new Timeline(state);
    this.#time = new FlameView({ label: 'Flame graph in the order of time', look, tell: (box) => this.#tellCall(box), onChoose: choose, onView: (view) => this.#timeline.outline(view) });
    this.#heavy = new FlameView({ label: 'Flame graph, what took longest first', look, tell: (box) => this.#tellSum(box), onChoose: choose });
    this.#table = new FunctionTable(state);
    this.#sandwich = new Sandwich(state, look);
    this.#details = new Details(state);
    this.#diff = comparison === null ? undefined : new DiffView(state, comparison);
    this.#views = { time: this.#time.root, heavy: this.#heavy.root, functions: this.#table.root, sandwich: this.#sandwich.root };
    if (this.#diff !== undefined) this.#views.diff = this.#diff.root;
    const panels = Object.entries(this.#views).map(([view, root]) => {
      root.id = `view-${view}`;
      root.setAttribute('role', 'tabpanel');
      root.setAttribute('aria-labelledby', `tab-${view}`);
      return root;
    });
    const main = element('main', {}, element('div', { class: 'views' }, ...panels), this.#details.root);
    this.#tabs = this.#makeTabs();
    const tabs = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' }, ...Object.values(this.#tabs));
    tabs.addEventListener('keydown', (event) => this.#moveTab(event));
    fill(document.getElementById('app')!, this.#header.root, this.#timeline.root, element('nav', {}, tabs, this.#about), main, this.#spoken);
    state.onChange((change) => this.#onChange(change));
    document.addEventListener('keydown', (event) => this.#press(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => state.themeChanged());
    this.#showView();
  }

  #dress(): void {
    this.#colors = frameColors(this.#state.profile);
  }

  /** The colours of functions: strong for the chosen one, pale for those that are not looked for. */
  #look(): Uint32Array {
    const { frame, matches } = this.#state;
    const colors = this.#colors.slice();
    if (matches !== undefined) for (let index = 0; index < colors.length; index++) if (matches[index] === 0) colors[index] = PALE;
    if (frame !== -1) colors[frame] = chosenColor();
    return colors;
  }

  /** What the flame graph in time order shows: for whoever measures it. */
  get view(): { start: number; end: number } {
    return this.#time.view;
  }

  /** Moves it. */
  zoomTo(range: { start: number; end: number }): void {
    this.#time.zoomTo(range);
  }

  #tellCall(box: Box): string[] {
    const { profile } = this.#state;
    return [profile.functionName(box.frame), profile.place(box.frame), `${milliseconds(box.end - box.start)} from ${milliseconds(box.start)}`];
  }

  #tellSum(box: Box): string[] {
    const { profile, sums } = this.#state;
    const time = box.end - box.start;
    const own = `of the function in all: self ${milliseconds(sums.self[box.frame])}, total ${milliseconds(sums.total[box.frame])}`;
    return [profile.functionName(box.frame), profile.place(box.frame), `${milliseconds(time)}, ${percent(time, sums.busy)} of the busy time`, own];
  }

  #onChange(change: Change): void {
    if (change === 'trace' || change === 'theme') this.#dress();
    if (change === 'theme') {
      for (const view of [this.#time, this.#heavy, this.#sandwich, this.#diff]) view?.applyTheme();
    }
    if (change === 'trace' || change === 'range') for (const view of ['time', 'heavy', 'functions', 'sandwich'] as const) this.#stale.add(view);
    if (change === 'frame') this.#stale.add('sandwich').add('functions');
    if (change === 'search') this.#stale.add('functions');
    if (change === 'frame') this.#speak();
    if (change === 'view') this.#showView();
    this.#refresh(change);
  }

  #refresh(change: Change): void {
    const { view, frame } = this.#state;
    if (change !== 'search') this.#details.update();
    this.#time.choose(frame);
    this.#heavy.choose(frame);
    if (change === 'search') {
      this.#sandwich.redraw();
      this.#diff?.search();
    }
    // A range alone moves the graph in time order, and need not build it anew.
    if (change === 'range' && view === 'time') {
      this.#stale.delete('time');
      this.#time.zoomTo(this.#state.range);
    }
    this.#bringUpToDate(view);
  }

  #bringUpToDate(view: View): void {
    if (!this.#stale.delete(view)) return;
    const { profile, sums } = this.#state;
    const update: Record<View, () => void> = {
      time: () => {
        if (this.#shownInTime !== profile) this.#time.show(timeOrder(profile));
        this.#shownInTime = profile;
        this.#time.zoomTo(this.#state.range);
      },
      heavy: () => this.#heavy.show(leftHeavy(profile, sums)),
      functions: () => this.#table.update(),
      sandwich: () => this.#sandwich.update(),
      diff: () => this.#diff?.update(),
    };
    update[view]();
  }

  #shownInTime: Profile | undefined;

  get #names(): View[] {
    return Object.keys(this.#views) as View[];
  }

  #makeTabs(): Partial<Record<View, HTMLElement>> {
    const tabs = this.#names.map((view, index) => [
      view,
      element('button', { type: 'button', id: `tab-${view}`, role: 'tab', 'aria-controls': `view-${view}`, title: `${TITLES[view]} (${index + 1})`, click: () => (this.#state.view = view) }, TITLES[view]),
    ]);
    return Object.fromEntries(tabs);
  }

  /** Arrow keys go from tab to tab. https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ */
  #moveTab(event: KeyboardEvent): void {
    const names = this.#names;
    const at = names.indexOf(this.#state.view);
    const moves: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#state.view = names.at(next % names.length)!;
    this.#tabs[this.#state.view]!.focus();
  }

  #showView(): void {
    const { view } = this.#state;
    for (const name of this.#names) {
      const isShown = name === view;
      this.#views[name]!.hidden = !isShown;
      this.#tabs[name]!.setAttribute('aria-selected', String(isShown));
      this.#tabs[name]!.tabIndex = isShown ? 0 : -1;
    }
    this.#tabs[view]!.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    fill(this.#about, ABOUT[view]);
    document.body.dataset.view = view;
    this.#bringUpToDate(view);
    this.#details.update();
  }

  #speak(): void {
    const { frame, profile, sums } = this.#state;
    fill(this.#spoken, frame === -1 ? '' : `${profile.functionName(frame)}: self ${milliseconds(sums.self[frame])}, total ${milliseconds(sums.total[frame])}`);
  }

  #press(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === 'Escape') {
      if (isTyping) (event.target as HTMLElement).blur();
      else if (this.#state.frame !== -1) this.#state.choose(-1);
      else this.#state.select(undefined);
      return;
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = this.#names[Number(event.key) - 1];
    if (view !== undefined) this.#state.view = view;
    else if (event.key === '/') {
      event.preventDefault();
      this.#header.focusSearch();
    } else if (event.key === '?') this.#header.help();
  }
}

async function start(): Promise<void> {
  const app = document.getElementById('app')!;
  const data = document.getElementById('selfprof-traces');
  try {
    if (data === null) throw new Error('there is no trace in this page: `selfprof report TRACE -o report.html` makes one with traces');
    const embedded = await readEmbedded(data.textContent ?? '');
    const { traces } = embedded;
    if (traces.length === 0) throw new Error('the page holds no traces');
    const state = new State(traces.map((trace) => new Profile(trace)));
    document.title = `${state.profiles.map(({ name }) => name).join(', ')} – selfprof`;
    const report = new Report(state, embedded);
    Object.assign(globalThis, { selfprofReport: { state, report } });
    // Whoever measures how long it takes to be of use looks for this.
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('selfprof-interactive')));
  } catch (error) {
    fill(app, element('p', { class: 'failure', role: 'alert' }, `The report cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
  }
}

void start();
