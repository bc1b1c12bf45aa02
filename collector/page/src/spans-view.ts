// How long spans are, and what runs in the slow tenth of one of them.

import '@selfprof/views/diff-view.css';
import './spans-view.css';

import { element } from '@selfprof/views/dom.ts';
import { formatCount, formatDuration } from '@selfprof/views/format.ts';
import { searchMatcher } from '@selfprof/views/search.ts';

import { type Api, ApiError, type SlowSpansAnswer, type SpanGroup, type SpansAnswer } from './api.ts';
import { formatChange, keyOf } from './change-table.ts';
import { countOf } from './function-views.ts';
import { treeOf } from './profiles.ts';
import { parametersOf, type Query } from './query.ts';
import type { Differences } from './side-figure.ts';
import { type ShownSide, SideFigures } from './side-figures.ts';
import { moreIn, type SpanFunction, SpanFunctions } from './span-functions.ts';
import { SpansTable } from './spans-table.ts';
import type { Actions, Shown, View } from './view.ts';

/** A difference by this fraction of a slow span’s busy time has the full color. */
const FULL_COLOR_DIFFERENCE = 0.05;
/** A usual time between samples, in milliseconds. Shorter spans have few samples. */
const INTERVAL = 10;

export class SpansView implements View {
  readonly root = element('div', { class: 'diff spans' });
  readonly #table: SpansTable;
  readonly #summary = element('div', { class: 'verdicts', role: 'status' });
  readonly #functions: SpanFunctions;
  readonly #figures: SideFigures;
  readonly #result: HTMLElement[];
  readonly #change: Actions['change'];
  #query: Query | undefined;
  #rows: SpanFunction[] = [];
  #selected = '';

  constructor({ change }: Actions) {
    this.#change = change;
    this.#table = new SpansTable((name) => {
      const { span: _, ...values } = this.#query?.values ?? {};
      change({ values: name === '' ? values : { ...values, span: name } });
    });
    const select = (key: string): void => {
      this.#selected = key;
      if (this.#query !== undefined) this.update(this.#query);
    };
    this.#functions = new SpanFunctions(select);
    this.#figures = new SideFigures(['Flame graph of the slow tenth', 'Flame graph of the others'], 'span', select);
    this.#result = [this.#functions.root, this.#figures.root];
    this.root.append(this.#table.root, this.#summary, ...this.#result);
  }

  async load(api: Api, query: Query, signal: AbortSignal): Promise<Shown> {
    const parameters = parametersOf(query);
    const chosen = query.values.span ?? '';
    const compared = chosen === '' ? undefined : api.slowSpans(parameters, chosen, signal).catch(ifMissing);
    const answer = await api.spans(parameters, signal);
    const both = await compared;
    this.#query = query;
    this.root.classList.toggle('has-choice', both !== undefined);
    this.#table.root.hidden = answer.spans.length === 0;
    this.#table.show(answer, chosen);
    for (const part of this.#result) part.hidden = both === undefined;
    if (both === undefined) this.#summary.replaceChildren(hintOf(answer, chosen));
    else this.#showBoth(both);
    const count = answer.spans.reduce((sum, { spans }) => sum + spans, 0);
    return { summary: count === 0 ? '' : `${countOf(count, 'span')} of ${countOf(answer.spans.length, 'name')}` };
  }

  #showBoth(both: SlowSpansAnswer): void {
    const { slow, rest, functions } = both;
    const button = (title: string, view: Query['view']): HTMLElement =>
      element('button', { type: 'button', class: 'button', click: () => this.#change({ view }) }, title);
    this.#summary.replaceChildren(
      ...sentencesOf(both),
      element(
        'p',
        { class: 'actions' },
        button('Functions in all of them', 'functions'),
        button('Flame graph of all of them', 'flamegraph'),
      ),
    );
    this.#rows = functions;
    const differences = differencesOf(functions, slow.busyTime);
    const shown = (title: string, group: SpanGroup): ShownSide => ({
      caption: `${title} · ${countOf(group.spans, 'span')} · ${formatDuration(group.busyTime)} busy per span`,
      selection: treeOf({ ...group, sessions: 1 }),
    });
    const limit = formatDuration(both.limit);
    this.#figures.show([shown(`Slow tenth: ${limit} or longer`, slow), shown('The others', rest)], differences);
    if (this.#query !== undefined) this.update(this.#query);
  }

  update(query: Query): void {
    this.#query = query;
    const isMatch = searchMatcher(query.search);
    this.#functions.show(
      this.#rows.filter((row) => isMatch(keyOf(row))),
      this.#selected,
    );
    this.#figures.update(query.search, this.#selected);
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

/** The span may not be in another period. */
function ifMissing(error: unknown): undefined {
  if (!(error instanceof ApiError && error.status === 404)) throw error;
}

function hintOf({ spans }: SpansAnswer, chosen: string): HTMLElement {
  const none =
    'These profiles have no measures, long tasks, long animation frames or slow interactions. ' +
    'Pages send them as “entries”, for example performance.getEntriesByType("measure").';
  const choose = 'Choose a span to see what runs in it, and what the slow ones do more than the others.';
  const missing = chosen === '' ? '' : `There is no “${chosen.trim()}” here. `;
  return element('p', { class: 'hint' }, spans.length === 0 ? missing + none : missing + choose);
}

function sentencesOf({ span, limit, slow, rest, profiles, read, cut }: SlowSpansAnswer): HTMLElement[] {
  const name = element('strong', {}, span.trim());
  const meanOf = ({ duration, busyTime }: SpanGroup): string =>
    `${formatDuration(duration)} each, busy for ${formatDuration(busyTime)}`;
  const from = `took ${formatDuration(limit)} or longer, the 90th percentile`;
  const isShort = limit < INTERVAL;
  const notes = [
    'Means of one span. A sample counts for a span during which it was taken, in the same profile.',
    isShort
      ? `Such short spans have few samples, and each stands for the ${INTERVAL} ms or so before it: the times are rough, and may be longer than the spans.`
      : '',
    read < profiles ? `Of ${formatCount(profiles)} profiles, ${formatCount(read)} were read, chosen at random.` : '',
    cut > 0 ? `${countOf(cut, 'span')} left out: the recording has only a part.` : '',
    'This describes the spans; it does not test why some are slow.',
  ];
  return [
    element('p', {}, 'The slow tenth of ', name, `: ${countOf(slow.spans, 'span')} ${from}; ${meanOf(slow)}.`),
    element(
      'p',
      {},
      rest.spans === 0
        ? 'There are no shorter ones to compare with.'
        : `The others: ${countOf(rest.spans, 'span')}; ${meanOf(rest)}.`,
    ),
    element('p', { class: 'method' }, notes.filter(Boolean).join(' ')),
  ];
}

function differencesOf(functions: readonly SpanFunction[], busy: number): Differences {
  const more = new Map(functions.map((one) => [keyOf(one), moreIn(one)]));
  const full = Math.max(busy * FULL_COLOR_DIFFERENCE, 1e-9);
  return {
    strengthOf: (key) => Math.max(-1, Math.min(1, (more.get(key) ?? 0) / full)),
    describe: (key) => {
      const difference = more.get(key);
      return difference === undefined ? undefined : `Self time in a slow one: ${formatChange(difference)}`;
    },
  };
}
