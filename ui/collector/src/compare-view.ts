// Two selections, such as two releases, side by side: what got slower or faster, and how sure that is.

import '@selfprof/views/diff-view.css';
import './compare.css';

import { changeColor, DIMMED_COLOR, selectedColor } from '@selfprof/views/colors.ts';
import { element } from '@selfprof/views/dom.ts';
import { FlameGraph } from '@selfprof/views/flame-graph.ts';
import { leftHeavy } from '@selfprof/views/flame-layout.ts';
import { formatCount, formatDuration } from '@selfprof/views/format.ts';
import { searchMatcher } from '@selfprof/views/search.ts';

import type { Api, ChangeAnswer, DiffAnswer } from './api.ts';
import {
  ChangeTable,
  displayName,
  formatChange,
  formatInterval,
  formatProbability,
  inOrder,
  keyOf,
} from './change-table.ts';
import { countOf } from './function-views.ts';
import { matchesOf, type Selection, treeOf } from './profiles.ts';
import { condition, parametersOf, periodOf, type Query } from './query.ts';
import { nameOf, newestFirst, Side } from './sides.ts';
import type { Actions, Shown, View } from './view.ts';

/** A change by this fraction of the busy time has the full color. */
const FULL_COLOR_CHANGE = 0.05;
/** A change that is certain has at least this much of it. */
const MIN_COLOR = 0.35;
/** The summary names this many functions at most. */
const MAX_NAMED = 3;

const SWAP = 'Swap base and new';

/** The flame graph of one side. */
class Figure {
  readonly root: HTMLElement;
  readonly graph: FlameGraph;
  readonly #caption = element('figcaption');
  #selection: Selection | undefined;
  #keys: string[] = [];
  #matches: Uint8Array = new Uint8Array(0);
  #colorOf: (key: string) => number = () => changeColor(0);
  #changeOf: (key: string) => ChangeAnswer | undefined = () => undefined;
  #selected = '';

  constructor(label: string, onSelect: (key: string) => void) {
    this.graph = new FlameGraph({
      label,
      style: {
        colors: () => this.#colors(),
        nameOf: (frame) => this.#selection?.profile.functionName(frame) ?? '',
      },
      describe: ({ frame, start, end }) => {
        const { profile } = this.#selection ?? {};
        const change = this.#changeOf(this.#keys[frame]);
        return [
          profile?.functionName(frame) ?? '',
          profile?.location(frame) ?? '',
          `${formatDuration(end - start)} per session`,
          ...(change === undefined ? [] : [`Self time of the function: ${formatChange(change.selfTime.difference)}`]),
        ];
      },
      zoomsOnClick: true,
      onSelect: (frame) => onSelect(frame === -1 ? '' : this.#keys[frame]),
    });
    this.root = element('figure', {}, this.#caption, this.graph.root);
  }

  show(caption: string, selection: Selection, changes: ReadonlyMap<string, ChangeAnswer>, busy: number): void {
    this.#caption.textContent = caption;
    this.#selection = selection;
    const { profile } = selection;
    this.#keys = Array.from({ length: profile.frameCount }, (_, frame) => {
      const { data } = profile.frames;
      return keyOf({ name: data.names[data.frames.name[frame]], resource: profile.frames.resource(frame) ?? null });
    });
    this.#changeOf = (key) => changes.get(key);
    this.#colorOf = (key) => {
      const { verdict, difference } = changes.get(key)?.selfTime ?? { verdict: 'no-evidence', difference: 0 };
      if (verdict !== 'slower' && verdict !== 'faster') return changeColor(0);
      const strength = Math.abs(difference) / Math.max(busy * FULL_COLOR_CHANGE, 1e-9);
      return changeColor((verdict === 'slower' ? 1 : -1) * Math.max(MIN_COLOR, Math.min(1, strength)));
    };
    this.graph.show(leftHeavy(profile, selection.totals));
    this.graph.zoomTo(this.graph.layout.extent);
  }

  update(search: string, selected: string): void {
    if (this.#selection === undefined) return;
    this.#matches = matchesOf(this.#selection.profile, searchMatcher(search));
    this.#selected = selected;
    this.graph.selectFrame(selected === '' ? -1 : this.#keys.indexOf(selected));
  }

  #colors(): Uint32Array {
    return Uint32Array.from(this.#keys, (key, frame) => {
      if (key === this.#selected && this.#selected !== '') return selectedColor();
      return this.#matches[frame] === 0 ? DIMMED_COLOR : this.#colorOf(key);
    });
  }
}

export class CompareView implements View {
  readonly root = element('div', { class: 'diff compare' });
  readonly #sides: [Side, Side];
  readonly #summary = element('div', { class: 'verdicts', role: 'status' });
  readonly #table: ChangeTable;
  readonly #figures: [Figure, Figure];
  readonly #result: HTMLElement[];
  #changes: ChangeAnswer[] = [];
  #query: Query | undefined;
  #selected = '';

  constructor({ change }: Actions) {
    this.#sides = [new Side('Base', (base) => change({ base })), new Side('New', (text) => change({ new: text }))];
    const select = (key: string): void => {
      this.#selected = key;
      if (this.#query !== undefined) this.update(this.#query);
    };
    this.#table = new ChangeTable(select);
    this.#figures = [new Figure('Flame graph of the base', select), new Figure('Flame graph of the new one', select)];
    const swap = (): void => {
      if (this.#query !== undefined) change({ base: this.#query.new, new: this.#query.base });
    };
    const toolbar = element(
      'div',
      { class: 'sides' },
      ...this.#sides.map(({ root }) => root),
      element('button', { type: 'button', class: 'icon', click: swap, title: SWAP, 'aria-label': SWAP }, '⇄'),
    );
    const legend = element(
      'p',
      { class: 'legend' },
      element('span', { class: 'less' }),
      'faster',
      element('span', { class: 'same' }),
      'no clear change',
      element('span', { class: 'more' }),
      'slower',
    );
    const figures = element('div', { class: 'figures' }, ...this.#figures.map(({ root }) => root));
    this.#result = [this.#table.root, legend, figures];
    this.root.append(toolbar, this.#summary, ...this.#result);
  }

  async load(api: Api, query: Query, signal: AbortSignal): Promise<Shown> {
    const releases = newestFirst(await api.values({ ...periodOf(query), column: 'release' }, signal));
    const sides = {
      base: query.base || (releases.length > 1 ? condition('release', releases[1]) : ''),
      new: query.new || (releases.length > 0 ? condition('release', releases[0]) : ''),
    };
    this.#query = { ...query, ...sides };
    this.#sides[0].show(sides.base, releases);
    this.#sides[1].show(sides.new, releases);
    for (const part of this.#result) part.hidden = true;
    this.#summary.replaceChildren();
    if (releases.length === 0) return 'nothing';
    if (sides.base === '') {
      const only = `Only release ${nameOf(sides.new)} has profiles in this period.`;
      return this.#hint(
        `${only} Choose a longer period, or other conditions for base and new, such as device = 'phone'.`,
      );
    }
    if (sides.base === sides.new)
      return this.#hint('Base and new are the same. Choose another release for one of them.');
    this.#summary.textContent = 'Comparing…';
    const parameters = parametersOf(query);
    const one = (text: string): Record<string, string> => {
      const where = parameters.where === undefined ? text : `(${text}) and (${parameters.where})`;
      return { ...parameters, where };
    };
    const [diff, base, after] = await Promise.all([
      api.diff({ ...parameters, ...sides }, signal),
      api.flameGraph(one(sides.base), signal),
      api.flameGraph(one(sides.new), signal),
    ]);
    const missing = (['base', 'new'] as const).find((side) => diff[side].sessions === 0);
    if (missing !== undefined) {
      const side = missing === 'base' ? 'base' : 'new one';
      return this.#hint(`No profiles match ${nameOf(sides[missing])}. Choose another ${side}, or fewer filters.`);
    }
    this.#show(diff, sides, [treeOf(base), treeOf(after)]);
    return {
      summary: `${countOf(diff.base.profiles, 'profile')} before, ${countOf(diff.new.profiles, 'profile')} after`,
    };
  }

  #hint(text: string): Shown {
    this.#summary.replaceChildren(element('p', { class: 'hint' }, text));
    return { summary: '' };
  }

  #show(diff: DiffAnswer, sides: { base: string; new: string }, selections: [Selection, Selection]): void {
    for (const part of this.#result) part.hidden = false;
    this.#changes = inOrder(diff.functions);
    this.#summary.replaceChildren(...summaryOf(diff, this.#changes));
    const changes = new Map(this.#changes.map((change) => [keyOf(change), change]));
    const both = [diff.base, diff.new] as const;
    const texts = [`Base: ${nameOf(sides.base)}`, `New: ${nameOf(sides.new)}`];
    for (const [index, figure] of this.#figures.entries()) {
      const { sessions, busyTime } = both[index];
      const caption = `${texts[index]} · ${countOf(sessions, 'session')} · ${formatDuration(busyTime)} busy per session`;
      figure.show(caption, selections[index], changes, diff.new.busyTime);
    }
    if (this.#query !== undefined) this.update(this.#query);
  }

  update({ search }: Query): void {
    if (this.#query === undefined) return;
    this.#query = { ...this.#query, search };
    const isMatch = searchMatcher(search);
    this.#table.show(
      this.#changes.filter((change) => isMatch(keyOf(change))),
      this.#selected,
    );
    for (const figure of this.#figures) figure.update(search, this.#selected);
  }

  applyTheme(): void {
    for (const { graph } of this.#figures) graph.applyTheme();
  }

  hideTooltips(): void {
    for (const { graph } of this.#figures) graph.hideTooltip();
  }

  zoomOut(): boolean {
    return this.#figures.some(({ graph }) => graph.zoomOut());
  }
}

/** What the comparison says, in sentences. */
function summaryOf({ base, new: after, tested }: DiffAnswer, changes: readonly ChangeAnswer[]): HTMLElement[] {
  const told = (verdict: 'slower' | 'faster'): ChangeAnswer[] =>
    changes.filter(({ selfTime }) => selfTime.verdict === verdict);
  const sentences = (['slower', 'faster'] as const).flatMap((verdict) => {
    const functions = told(verdict);
    const named = functions.slice(0, MAX_NAMED).map((change) => sentenceOf(change, verdict));
    const more = functions.length - named.length;
    const rest = `${countOf(more, 'more function')} ${more === 1 ? 'is' : 'are'} ${verdict}; see the table.`;
    return more > 0 ? [...named, element('p', { class: verdict }, rest)] : named;
  });
  const sessions = `${formatCount(base.sessions)} and ${formatCount(after.sessions)} sessions`;
  const isShort = tested === 0 && changes.length > 0;
  if (sentences.length === 0)
    sentences.push(
      element(
        'p',
        {},
        element('strong', {}, isShort ? 'Too few sessions to tell.' : 'No function is clearly slower or faster.'),
        isShort ? ` There are ${sessions}.` : '',
      ),
    );
  const busy = `${formatDuration(base.busyTime)} busy per session before, ${formatDuration(after.busyTime)} after.`;
  const method = `${countOf(tested, 'function')} tested over ${sessions}. ${busy}`;
  return [...sentences, element('p', { class: 'method' }, method)];
}

function sentenceOf(change: ChangeAnswer, verdict: string): HTMLElement {
  const { difference, differenceInterval, probability } = change.selfTime;
  const interval = differenceInterval === null ? '' : ` (95% interval ${formatInterval(differenceInterval)})`;
  const sure = probability === null ? '' : `, p ${probability <= 0.001 ? '' : '= '}${formatProbability(probability)}`;
  return element(
    'p',
    { class: verdict },
    element('strong', {}, displayName(change)),
    ` is ${verdict}: ${formatChange(difference)} per session${interval}${sure}.`,
  );
}
