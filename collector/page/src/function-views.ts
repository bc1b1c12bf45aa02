// The views of one selection: a table of functions, a flame graph, and the callers and callees of a function.

import type { Box } from '@selfprof/views/box-walk.ts';
import { DIMMED_COLOR, frameColors, selectedColor } from '@selfprof/views/colors.ts';
import { element } from '@selfprof/views/dom.ts';
import { FlameGraph } from '@selfprof/views/flame-graph.ts';
import type { FrameStyle } from '@selfprof/views/flame-graph-plugin.ts';
import { leftHeavy } from '@selfprof/views/flame-layout.ts';
import { formatCount, formatDuration, formatPercent } from '@selfprof/views/format.ts';
import { FunctionTable } from '@selfprof/views/function-table.ts';
import type { Profile } from '@selfprof/views/profile.ts';
import { Sandwich } from '@selfprof/views/sandwich.ts';
import { searchMatcher } from '@selfprof/views/search.ts';

import type { Api, FunctionName, SeriesAnswer } from './api.ts';
import { frameOf, functionsOf, matchesOf, type Selection, treeOf } from './profiles.ts';
import { parametersOf, type Query } from './query.ts';
import { meansOf, trendBars } from './trend-bars.ts';
import { TrendChart } from './trend-chart.ts';
import type { Actions, Shown, View } from './view.ts';

export function countOf(count: number, name: string): string {
  return `${formatCount(count)} ${name}${count === 1 ? '' : 's'}`;
}

function summaryOf({ profiles, sessions, totals }: Selection): Shown {
  if (profiles === 0) return 'nothing';
  const counts = `${countOf(profiles, 'profile')} · ${countOf(sessions, 'session')}`;
  return { summary: `${counts} · ${formatDuration(totals.busy)} busy per session` };
}

/** Name and location of a frame; empty for none. */
function identityOf({ frames }: Profile, frame: number): string {
  return frame === -1 ? '' : frames.identity(frame);
}

/** The functions of the table over the period. */
interface Trends {
  series: SeriesAnswer;
  /** By frame. */
  rows: (SeriesAnswer['functions'][number] | undefined)[];
}

function nameOf({ name, resource, line, column }: FunctionName): unknown[] {
  return [name, resource, line, column];
}

function barsOf({ series, rows }: Trends, frame: number): Node | undefined {
  const times = rows[frame]?.selfTime;
  return times === undefined ? undefined : trendBars(meansOf(times, series.points), series);
}

export class FunctionsView implements View {
  readonly root: HTMLElement;
  readonly #table: FunctionTable;
  readonly #chart: TrendChart;
  #selection: Selection | undefined;
  #trends: Trends | undefined;
  #query: Query | undefined;

  constructor({ select, open }: Actions) {
    const named = (act: (identity: string) => void) => (frame: number) => {
      if (this.#selection !== undefined) act(identityOf(this.#selection.profile, frame));
    };
    this.#table = new FunctionTable({
      subject: 'functions',
      isPerSession: true,
      onSelect: named(select),
      onOpen: named(open),
    });
    this.#chart = new TrendChart(() => select(this.#query?.selected ?? ''));
    this.root = element('div', { class: 'functions-view' }, this.#table.root, this.#chart.root);
  }

  async load(api: Api, query: Query, signal: AbortSignal): Promise<Shown> {
    const answer = await api.functions(parametersOf(query), signal);
    this.#selection = functionsOf(answer);
    this.#trends = undefined;
    this.update(query);
    void this.#loadTrends(api, query, answer.functions, signal);
    return summaryOf(this.#selection);
  }

  /** The table does not wait for them. */
  async #loadTrends(api: Api, query: Query, functions: readonly FunctionName[], signal: AbortSignal): Promise<void> {
    // A period may be too long for the series. The table says the rest.
    const series = await api.series(parametersOf(query), signal).catch(() => undefined);
    if (series === undefined || signal.aborted) return;
    const rowOf = new Map(series.functions.map((row) => [JSON.stringify(nameOf(row)), row]));
    this.#trends = { series, rows: functions.map((name) => rowOf.get(JSON.stringify(nameOf(name)))) };
    if (this.#query !== undefined) this.update(this.#query);
  }

  update(query: Query): void {
    this.#query = query;
    if (this.#selection === undefined) return;
    const { search, selected } = query;
    const { profile, totals } = this.#selection;
    const matches = search.trim() === '' ? undefined : matchesOf(profile, searchMatcher(search));
    const selectedFrame = frameOf(profile, selected);
    const trends = this.#trends;
    const trendOf = trends === undefined ? undefined : (frame: number) => barsOf(trends, frame);
    this.#table.show({ profile, totals, search, matches, selectedFrame, trendOf });
    const row = trends?.rows[selectedFrame];
    if (trends === undefined || row === undefined) this.#chart.hide();
    else this.#chart.show(profile.functionName(selectedFrame), trends.series, row);
  }

  applyTheme(): void {
    this.#chart.applyTheme();
  }

  hideTooltips(): void {}

  zoomOut(): boolean {
    return false;
  }
}

/** The tree of calls of a selection, with the colors of its functions. */
class Tree {
  readonly style: FrameStyle;
  selection: Selection | undefined;
  selectedFrame = -1;
  #colors: Uint32Array = new Uint32Array(0);
  #matches: Uint8Array = new Uint8Array(0);

  constructor() {
    this.style = {
      colors: () => this.#currentColors(),
      nameOf: (frame) => this.selection?.profile.functionName(frame) ?? '',
    };
  }

  async load(api: Api, query: Query, signal: AbortSignal): Promise<Selection> {
    const selection = treeOf(await api.flameGraph(parametersOf(query), signal));
    this.selection = selection;
    this.applyTheme();
    this.update(query);
    return selection;
  }

  update({ search, selected }: Query): void {
    if (this.selection === undefined) return;
    this.#matches = matchesOf(this.selection.profile, searchMatcher(search));
    this.selectedFrame = frameOf(this.selection.profile, selected);
  }

  applyTheme(): void {
    if (this.selection !== undefined) this.#colors = frameColors(this.selection.profile);
  }

  #currentColors(): Uint32Array {
    const colors = this.#colors.map((color, frame) => (this.#matches[frame] === 0 ? DIMMED_COLOR : color));
    if (this.selectedFrame !== -1) colors[this.selectedFrame] = selectedColor();
    return colors;
  }

  describe({ frame, start, end }: Box): [string, ...string[]] {
    if (this.selection === undefined) return [''];
    const { profile, totals } = this.selection;
    const time = end - start;
    const self = `${formatDuration(totals.self[frame])} self time (${formatPercent(totals.self[frame], totals.busy)})`;
    return [
      profile.functionName(frame),
      profile.location(frame),
      `${formatDuration(time)} per session, ${formatPercent(time, totals.busy)} of busy time`,
      `All calls of the function: ${self}, ${formatDuration(totals.total[frame])} total time`,
    ];
  }

  identityOf(frame: number): string {
    return this.selection === undefined ? '' : identityOf(this.selection.profile, frame);
  }
}

export class FlameGraphView implements View {
  readonly root: HTMLElement;
  readonly #tree = new Tree();
  readonly #graph: FlameGraph;

  constructor({ select }: Actions) {
    this.#graph = new FlameGraph({
      label: 'Flame graph. The Functions view has the same data as a table',
      style: this.#tree.style,
      describe: (box) => this.#tree.describe(box),
      zoomsOnClick: true,
      onSelect: (frame) => select(this.#tree.identityOf(frame)),
    });
    this.root = this.#graph.root;
  }

  async load(api: Api, query: Query, signal: AbortSignal): Promise<Shown> {
    const before = this.#tree.selection?.totals.busy;
    const selection = await this.#tree.load(api, query, signal);
    const { profile, totals } = selection;
    this.#graph.show(leftHeavy(profile, totals));
    if (before !== totals.busy) this.#graph.zoomTo(this.#graph.layout.extent);
    this.update(query);
    return summaryOf(selection);
  }

  update(query: Query): void {
    this.#tree.update(query);
    this.#graph.selectFrame(this.#tree.selectedFrame);
  }

  applyTheme(): void {
    this.#tree.applyTheme();
    this.#graph.applyTheme();
  }

  hideTooltips(): void {
    this.#graph.hideTooltip();
  }

  zoomOut(): boolean {
    return this.#graph.zoomOut();
  }
}

export class CallersView implements View {
  readonly root: HTMLElement;
  readonly #tree = new Tree();
  readonly #sandwich: Sandwich;
  #shownFrame: number | undefined;

  constructor({ select }: Actions) {
    this.#sandwich = new Sandwich(this.#tree.style, (frame) => select(this.#tree.identityOf(frame)));
    this.root = this.#sandwich.root;
  }

  async load(api: Api, query: Query, signal: AbortSignal): Promise<Shown> {
    const selection = await this.#tree.load(api, query, signal);
    this.#shownFrame = undefined;
    this.update(query);
    return summaryOf(selection);
  }

  update(query: Query): void {
    this.#tree.update(query);
    const { selection, selectedFrame } = this.#tree;
    if (selection === undefined) return;
    const { profile, totals } = selection;
    if (this.#shownFrame !== selectedFrame) this.#sandwich.show({ profile, totals, frame: selectedFrame });
    else this.#sandwich.redraw();
    this.#shownFrame = selectedFrame;
  }

  applyTheme(): void {
    this.#tree.applyTheme();
    this.#sandwich.applyTheme();
  }

  hideTooltips(): void {
    this.#sandwich.hideTooltips();
  }

  zoomOut(): boolean {
    return false;
  }
}
