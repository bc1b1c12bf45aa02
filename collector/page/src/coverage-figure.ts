// How many sessions are profiled, in the header, and by browser, when it is opened.

import './coverage-figure.css';

import { element } from '@selfprof/views/dom.ts';
import { formatCount } from '@selfprof/views/format.ts';

import type { CoverageAnswer, CoverageGroup } from './api.ts';
import { type Column, headOf, scrollingTable } from './list-table.ts';

const KINDS: readonly (Column & { kind: keyof CoverageGroup['kinds'] })[] = [
  { kind: 'native', title: 'Profiled', explanation: 'By the Profiler of the browser' },
  { kind: 'polyfill', title: 'Polyfill', explanation: 'By a Profiler that the page has itself' },
  { kind: 'no-api', title: 'No Profiler', explanation: 'The browser has no Profiler' },
  {
    kind: 'not-allowed',
    title: 'Not allowed',
    explanation: 'The page lacks the header Document-Policy: js-profiling',
  },
  { kind: 'failed', title: 'Failed', explanation: 'The Profiler of the browser has failed' },
];

export class CoverageFigure {
  readonly root = element('details', { class: 'coverage', hidden: true });

  show({ total, groups }: CoverageAnswer): void {
    this.root.hidden = total.reports === 0;
    if (this.root.hidden) return;
    const kinds = KINDS.filter(({ kind }) => total.kinds[kind] !== undefined);
    const head = headOf([
      { title: 'Browser', explanation: 'The browser and its version' },
      {
        title: 'Sessions',
        explanation: 'How many there were: one that was chosen with a rate of 10% stands for ten',
        name: 'number',
      },
      ...kinds.map((column) => ({ ...column, name: 'number' })),
    ]);
    const rowOf = (group: CoverageGroup, name: string) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, name),
        element('td', { class: 'number' }, formatCount(Math.round(group.sessions))),
        ...kinds.map(({ kind }) => element('td', { class: 'number' }, share(group.kinds[kind] ?? 0, group.sessions))),
      );
    const rows = groups.map((group) => rowOf(group, group.value || '(unknown)'));
    const body = element('tbody', {}, ...rows, rowOf(total, 'All'));
    this.root.replaceChildren(
      element('summary', {}, `${share(total.profiled, total.sessions) || '0%'} of sessions profiled`),
      element(
        'div',
        { class: 'coverage-table' },
        scrollingTable({ label: 'Profiled sessions by browser' }, head, body),
        element('p', {}, 'Whole days. As far as their pages have the agent, and tell it.'),
      ),
    );
  }

  hide(): void {
    this.root.hidden = true;
  }
}

function share(part: number, all: number): string {
  if (part === 0 || all === 0) return '';
  const percent = (100 * part) / all;
  return `${percent >= 99.95 ? '100' : percent.toFixed(1)}%`;
}
