// The spans by name: how often, how long, and how that is distributed.

import { element } from '@selfprof/views/dom.ts';
import { formatCount, formatDuration } from '@selfprof/views/format.ts';

import type { SpanAnswer, SpansAnswer } from './api.ts';
import { type Column, headOf, scrollingTable } from './list-table.ts';
import { replaceRows, selectableRow } from './table-row.ts';

const COLUMNS: Column[] = [
  { title: 'Span', explanation: 'Name of the measure, or kind of the span', name: 'name' },
  {
    title: 'Times',
    explanation: 'How many there were in all visits: a profile that stands for ten visits counts ten times',
    name: 'number',
  },
  { title: 'Sessions', explanation: 'Sessions that were profiled and had some', name: 'number sessions' },
  { title: 'p50', explanation: 'Half of them took at most this', name: 'number' },
  { title: 'p75', explanation: '75% of them took at most this', name: 'number p75' },
  { title: 'p90', explanation: '90% of them took at most this. The slow tenth begins here.', name: 'number' },
  { title: 'p95', explanation: '95% of them took at most this', name: 'number p95' },
  { title: 'p99', explanation: '99% of them took at most this', name: 'number p99' },
  {
    title: 'Distribution',
    explanation: 'How many of each duration, from short to long. All rows have the same logarithmic axis.',
    name: 'distribution',
  },
];

const HEIGHT = 18;

export class SpansTable {
  readonly root: HTMLElement;
  readonly #body = element('tbody');
  readonly #axis = element('small');
  readonly #onSelect: (name: string) => void;

  constructor(onSelect: (name: string) => void) {
    this.#onSelect = onSelect;
    const head = headOf(COLUMNS);
    head.at(-1)?.append(' ', this.#axis);
    this.root = scrollingTable({ label: 'Spans', region: 'span-list' }, head, this.#body);
  }

  show({ spans, limits }: SpansAnswer, selected: string): void {
    const isUsed = limits.map((_, part) => spans.some(({ distribution }) => distribution[part] > 0));
    const isLastUsed = spans.some(({ distribution }) => distribution[limits.length] > 0);
    const first = Math.max(0, isUsed.indexOf(true));
    const last = isLastUsed ? limits.length : Math.max(first, isUsed.lastIndexOf(true));
    this.#axis.textContent = axisOf(spans, limits, [first, last]);
    replaceRows(
      this.#body,
      spans.map((span) => this.#row(span, span.name === selected, limits, [first, last])),
    );
  }

  #row(span: SpanAnswer, isSelected: boolean, limits: readonly number[], parts: [number, number]): HTMLElement {
    const texts = [
      span.name.trim(),
      formatCount(Math.round(span.times)),
      formatCount(span.sessions),
      ...[span.p50, span.p75, span.p90, span.p95, span.p99].map(formatDuration),
    ];
    const cells = texts.map((text, index) =>
      element('td', { class: COLUMNS[index].name, title: index === 0 ? text : undefined }, text),
    );
    const toggle = (): void => this.#onSelect(isSelected ? '' : span.name);
    return selectableRow({ isSelected, toggle }, ...cells, element('td', {}, distributionBars(span, limits, parts)));
  }
}

/** From where to where bars go. */
function axisOf(spans: readonly SpanAnswer[], limits: readonly number[], [first, last]: [number, number]): string {
  const longest = Math.max(0, ...spans.map((span) => span.longest));
  const ends = [first === 0 ? 0 : limits[first - 1], limits[last] ?? longest];
  return ends.map(formatDuration).join(' to ');
}

/** A bar for each part. Those of the slow tenth have another color. */
function distributionBars(span: SpanAnswer, limits: readonly number[], [first, last]: [number, number]): HTMLElement {
  const counts = span.distribution.slice(first, last + 1);
  const most = Math.max(...counts);
  const text = `${axisOf([span], limits, [first, last])}; the longest took ${formatDuration(span.longest)}`;
  const bars = counts.map((count, index) => {
    const part = first + index;
    const bar = element('i', { class: part > 0 && limits[part - 1] >= span.p90 ? 'slow' : undefined });
    const height = count === 0 || most === 0 ? 0 : Math.max(1, (count / most) * HEIGHT);
    bar.style.setProperty('height', `${height.toFixed(1)}px`);
    return bar;
  });
  return element('span', { class: 'distribution-bars', role: 'img', 'aria-label': text, title: text }, ...bars);
}
