// What got slower and what got faster: a row for each function, with the interval of its change.

import { element } from '@selfprof/views/dom.ts';
import { formatDuration, shortLocation } from '@selfprof/views/format.ts';

import type { ChangeAnswer, TimeChange, Verdict } from './api.ts';
import { type Column, headOf, scrollingTable } from './list-table.ts';
import { replaceRows, selectableRow } from './table-row.ts';

const VERDICTS: Record<Verdict, string> = {
  slower: 'slower',
  faster: 'faster',
  'no-evidence': 'no evidence',
  'too-few-sessions': 'too few sessions',
};

const COLUMNS: Column[] = [
  {
    title: 'Verdict',
    explanation: 'Slower or faster: two equal selections show such a change in 5% of comparisons at most',
  },
  { title: 'Function', explanation: 'Name of the function', name: 'name' },
  {
    title: 'Change',
    explanation: 'Change of the mean self time of a session. Very long sessions count less.',
    name: 'number',
  },
  {
    title: '95% interval',
    explanation: 'Where the change lies with a probability of 95%. The line in the middle is no change.',
    name: 'interval',
  },
  { title: 'Base', explanation: 'Mean self time of a session in the base', name: 'number' },
  { title: 'New', explanation: 'Mean self time of a session in the new one', name: 'number' },
  {
    title: 'p',
    explanation:
      'Probability that two equal selections have any function with so clear a change. Corrected for the number of functions.',
    name: 'number',
  },
  { title: 'Location', explanation: 'File of the function', name: 'location' },
];

const MINUS = '−';

export function formatChange(milliseconds: number): string {
  const size = formatDuration(Math.abs(milliseconds));
  return milliseconds === 0 ? size : `${milliseconds < 0 ? MINUS : '+'}${size}`;
}

export function formatInterval([low, high]: [number, number]): string {
  return `${formatChange(low)} to ${formatChange(high)}`;
}

export function formatProbability(probability: number): string {
  if (probability <= 0.001) return '≤ 0.001';
  return probability >= 0.9995 ? '1' : probability.toFixed(3);
}

/** Name and file: what functions of two releases are matched by. */
export function keyOf({ name, resource }: { name: string; resource: string | null }): string {
  return `${name}\n${resource ?? ''}`;
}

export function displayName({ name }: { name: string }): string {
  return name === '' ? '(anonymous)' : name;
}

/** Slower functions first, then faster ones, then the others; larger changes first. */
export function inOrder(changes: readonly ChangeAnswer[]): ChangeAnswer[] {
  const rank = ({ selfTime: { verdict } }: ChangeAnswer): number => ['slower', 'faster'].indexOf(verdict) + 1 || 3;
  return [...changes].sort(
    (a, b) => rank(a) - rank(b) || Math.abs(b.selfTime.difference) - Math.abs(a.selfTime.difference),
  );
}

export class ChangeTable {
  readonly root: HTMLElement;
  readonly #body = element('tbody');
  readonly #onSelect: (key: string) => void;

  constructor(onSelect: (key: string) => void) {
    this.#onSelect = onSelect;
    const names = { label: 'Changes by function', table: 'changes' };
    this.root = scrollingTable(names, headOf(COLUMNS), this.#body);
  }

  show(changes: readonly ChangeAnswer[], selected: string): void {
    let reach = 0;
    for (const { selfTime } of changes)
      for (const end of selfTime.differenceInterval ?? []) reach = Math.max(reach, Math.abs(end));
    replaceRows(
      this.#body,
      changes.map((change) => this.#row(change, keyOf(change) === selected, reach)),
    );
  }

  #row(change: ChangeAnswer, isSelected: boolean, reach: number): HTMLElement {
    const { selfTime, resource } = change;
    const { verdict, difference, probability } = selfTime;
    const isTold = verdict === 'slower' || verdict === 'faster';
    const toggle = (): void => this.#onSelect(isSelected ? '' : keyOf(change));
    const cell = (name: string | undefined, content: Node | string, title?: string): HTMLElement =>
      element('td', { class: name, title }, content);
    const name = displayName(change);
    return selectableRow(
      { name: isTold ? verdict : 'no-evidence', isSelected, toggle },
      cell('verdict', VERDICTS[verdict]),
      cell('name', name, name),
      cell('number', formatChange(difference), ratioOf(selfTime)),
      cell('interval', intervalBar(selfTime, reach)),
      cell('number', formatDuration(selfTime.base)),
      cell('number', formatDuration(selfTime.new)),
      cell('number', probability === null ? '–' : formatProbability(probability)),
      cell('location', resource === null ? '(native)' : shortLocation(resource), resource ?? undefined),
    );
  }
}

function ratioOf({ ratio, ratioInterval }: TimeChange): string | undefined {
  if (ratio === null) return undefined;
  const interval = ratioInterval === null ? '' : ` (${ratioInterval.map((end) => end.toFixed(2)).join(' to ')})`;
  return `${ratio.toFixed(2)} times${interval}`;
}

/** The interval as a bar around its estimate. The middle is no change. */
function intervalBar({ difference, differenceInterval }: TimeChange, reach: number): HTMLElement {
  if (differenceInterval === null || reach === 0) return element('span', {}, '–');
  const [low, high] = differenceInterval;
  const place = (change: number): string => `${50 + (50 * Math.max(-reach, Math.min(reach, change))) / reach}%`;
  const text = formatInterval(differenceInterval);
  const bar = element('span', { class: 'bar', role: 'img', 'aria-label': text, title: text });
  for (const [name, value] of Object.entries({ low, high, estimate: difference }))
    bar.style.setProperty(`--${name}`, place(value));
  bar.append(element('i'));
  return bar;
}
