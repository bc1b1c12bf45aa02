// Two selections, such as two releases, side by side: what got slower or faster, with confidence intervals.

import '@selfprof/views/diff-view.css';
import './compare.css';

import { element } from '@selfprof/views/dom.ts';
import { formatCount, formatDuration } from '@selfprof/views/format.ts';
import { searchMatcher } from '@selfprof/views/search.ts';

import type { Api, ChangeAnswer, DiffAnswer, SideAnswer } from './api.ts';
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
import { type Selection, treeOf } from './profiles.ts';
import { condition, parametersOf, periodOf, type Query } from './query.ts';
import type { Differences } from './side-figure.ts';
import { SideFigures } from './side-figures.ts';
import { nameOf, newestFirst, Side } from './sides.ts';
import type { Actions, Shown, View } from './view.ts';

/** A change by this fraction of the busy time has the full color. */
const FULL_COLOR_CHANGE = 0.05;
/** A change that is certain has at least this much of it. */
const MIN_COLOR = 0.35;
/** The summary names this many functions at most. */
const MAX_NAMED = 3;

const SWAP = 'Swap base and new';

export class CompareView implements View {
  readonly root = element('div', { class: 'diff compare' });
  readonly #sides: [Side, Side];
  readonly #summary = element('div', { class: 'verdicts', role: 'status' });
  readonly #table: ChangeTable;
  readonly #figures: SideFigures;
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
    this.#figures = new SideFigures(['Flame graph of the base', 'Flame graph of the new one'], 'session', select);
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
    this.#result = [this.#table.root, legend, this.#figures.root];
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
    const differences = differencesOf(this.#changes, diff.new.busyTime);
    const captionOf = (title: string, { sessions, busyTime }: SideAnswer): string =>
      `${title} · ${countOf(sessions, 'session')} · ${formatDuration(busyTime)} busy per session`;
    this.#figures.show(
      [
        { caption: captionOf(`Base: ${nameOf(sides.base)}`, diff.base), selection: selections[0] },
        { caption: captionOf(`New: ${nameOf(sides.new)}`, diff.new), selection: selections[1] },
      ],
      differences,
    );
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
    this.#figures.update(search, this.#selected);
  }

  applyTheme(): void {
    this.#figures.applyTheme();
  }

  hideTooltips(): void {
    this.#figures.hideTooltips();
  }

  zoomOut(): boolean {
    return this.#figures.zoomOut();
  }
}

function differencesOf(all: readonly ChangeAnswer[], busy: number): Differences {
  const changes = new Map(all.map((change) => [keyOf(change), change]));
  return {
    strengthOf: (key) => {
      const { verdict, difference } = changes.get(key)?.selfTime ?? { verdict: 'no-evidence', difference: 0 };
      if (verdict !== 'slower' && verdict !== 'faster') return 0;
      const strength = Math.abs(difference) / Math.max(busy * FULL_COLOR_CHANGE, 1e-9);
      return (verdict === 'slower' ? 1 : -1) * Math.max(MIN_COLOR, Math.min(1, strength));
    },
    describe: (key) => {
      const change = changes.get(key);
      return change && `Self time of the function: ${formatChange(change.selfTime.difference)}`;
    },
  };
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
  return [...warningsOf(base), ...warningsOf(after), ...sentences, element('p', { class: 'method' }, method)];
}

/** Without source maps, functions of minified code cannot be matched. */
function warningsOf({ minified }: SideAnswer): HTMLElement[] {
  return minified.map(({ release, functions, minified: count, hasMaps }) => {
    const maps = hasMaps ? 'no source map for some of its scripts' : 'no source maps';
    const names = `${formatCount(count)} of ${countOf(functions, 'function')} have minified names`;
    return element(
      'p',
      { class: 'warning' },
      element('strong', {}, `⚠ ${release === '' ? 'No release' : `Release ${release}`} has ${maps}.`),
      ` ${names}, so functions of base and new may be matched wrongly. Upload them by `,
      element('code', {}, 'selfprof-collector maps upload'),
      '.',
    );
  });
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
