// The filters: period, columns with the values that profiles have, and any further condition.

import './filter-bar.css';

import { element } from '@selfprof/views/dom.ts';
import { formatCount } from '@selfprof/views/format.ts';

import type { ColumnValue } from './api.ts';
import { COLUMNS, type Column, DEFAULT_FROM, isDay, OWN_COLUMN, type Query } from './query.ts';

const PERIODS: [string, string][] = [
  ['-1h', 'Last hour'],
  ['-24h', 'Last 24 hours'],
  ['-7d', 'Last 7 days'],
  ['-30d', 'Last 30 days'],
  ['-90d', 'Last 90 days'],
  ['days', 'Days…'],
];

const TITLES: Record<Column, string> = {
  release: 'Release',
  page: 'Page',
  browser: 'Browser',
  device: 'Device',
  environment: 'Environment',
  span: 'During',
};

/** Spans that the collector finds. */
const OWN_SPANS: [string, string][] = [
  ['(long task)', 'long tasks'],
  ['(long frame)', 'long animation frames'],
  ['(slow interaction)', 'slow interactions'],
];

/** Columns with fewer values than this are left out: there is nothing to choose. */
const MIN_VALUES = 2;

type ColumnControls = Record<Column, { label: HTMLElement; select: HTMLSelectElement }>;

type Change = (changes: Partial<Query>) => void;

export class FilterBar {
  readonly root = element('section', { class: 'filters', 'aria-label': 'Filters' });
  readonly #change: Change;
  readonly #open = element('button', { type: 'button', class: 'button open', 'aria-expanded': 'false' });
  readonly #period = element('select', { change: () => this.#choosePeriod() });
  readonly #from = element('input', {
    type: 'date',
    'aria-label': 'First day (UTC)',
    change: () => this.#chooseDays(),
  });
  readonly #to = element('input', { type: 'date', 'aria-label': 'Last day (UTC)', change: () => this.#chooseDays() });
  readonly #days = element('span', { class: 'days', hidden: true }, this.#from, '–', this.#to);
  readonly #columns: ColumnControls;
  readonly #where = element('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: "page like '/shop/%' and marker = 'gc'",
    title:
      'Columns: release, page, environment, browser, device, session, marker, span. Conditions: =, !=, in, like, and, or, not, ( )',
    change: () => this.#change({ where: this.#where.value.trim() }),
  });
  readonly #clear = element('button', { type: 'button', class: 'link' }, 'Clear filters');
  readonly #values = new Map<Column, readonly ColumnValue[]>();
  #query: Query | undefined;

  constructor(change: Change) {
    this.#change = change;
    this.#columns = Object.fromEntries(
      COLUMNS.map((column) => {
        const select = element('select', { change: () => this.#chooseValue(column) });
        return [column, { label: element('label', {}, TITLES[column], select), select }];
      }),
    ) as unknown as ColumnControls;
    this.#clear.addEventListener('click', () => change({ values: {}, where: '' }));
    this.#open.addEventListener('click', () => this.#setOpen(!this.root.classList.contains('is-open')));
    this.root.append(
      this.#open,
      element('label', {}, 'Period', this.#period),
      this.#days,
      ...COLUMNS.map((column) => this.#columns[column].label),
      element('label', { class: 'where' }, 'Condition', this.#where),
      this.#clear,
    );
  }

  #setOpen(isOpen: boolean): void {
    this.root.classList.toggle('is-open', isOpen);
    this.#open.setAttribute('aria-expanded', String(isOpen));
  }

  focusCondition(): void {
    this.#setOpen(true);
    this.#where.focus();
    this.#where.select();
  }

  show(query: Query): void {
    // What someone types stays, unless it is to show another condition.
    const isTyping = document.activeElement === this.#where && this.#query?.where === query.where;
    if (this.#query?.app !== query.app) this.#values.clear();
    this.#query = query;
    const isDays = isDay(query.from) || query.to !== '';
    const known = PERIODS.some(([value]) => value === query.from);
    const periods: [string, string][] = isDays || known ? PERIODS : [[query.from, `From ${query.from}`], ...PERIODS];
    this.#period.replaceChildren(...periods.map(([value, title]) => element('option', { value }, title)));
    this.#period.value = isDays ? 'days' : query.from;
    this.#days.hidden = !isDays;
    this.#from.value = isDay(query.from) ? query.from : '';
    this.#to.value = isDay(query.to) ? query.to : '';
    for (const column of COLUMNS) this.#showColumn(column);
    if (!isTyping) this.#where.value = query.where;
    const count = Object.keys(query.values).length + Number(query.where !== '');
    this.#clear.hidden = count === 0;
    this.#open.textContent = count === 0 ? 'Filters' : `Filters (${count})`;
  }

  /** Offers the values of a column. */
  offer(column: Column, values: readonly ColumnValue[]): void {
    this.#values.set(column, values);
    this.#showColumn(column);
  }

  #showColumn(column: Column): void {
    const { label, select } = this.#columns[column];
    const values = this.#values.get(column) ?? [];
    const chosen = this.#query?.values[column];
    const options: [string, string][] = values.map(({ value, profiles }) => [
      value,
      `${value === '' ? '(none)' : value} · ${formatCount(profiles)}`,
    ]);
    if (column === 'span') options.push(...OWN_SPANS);
    const isChoice = options.length >= MIN_VALUES || chosen !== undefined;
    label.hidden = !isChoice || (this.#query !== undefined && column === OWN_COLUMN[this.#query.view]);
    if (chosen !== undefined && !options.some(([value]) => value === chosen))
      options.unshift([chosen, chosen || '(none)']);
    select.replaceChildren(
      element('option', { value: '' }, column === 'span' ? 'any time' : 'all'),
      ...options.map(([value, title]) => element('option', { value: `=${value}` }, title)),
    );
    select.value = chosen === undefined ? '' : `=${chosen}`;
    select.classList.toggle('is-set', chosen !== undefined);
  }

  #choosePeriod(): void {
    const { value } = this.#period;
    if (value !== 'days') {
      this.#change({ from: value, to: '' });
      return;
    }
    const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
    this.#change({ from: day(6), to: day(0) });
  }

  #chooseDays(): void {
    if (this.#from.value !== '') this.#change({ from: this.#from.value || DEFAULT_FROM, to: this.#to.value });
  }

  #chooseValue(column: Column): void {
    const { value } = this.#columns[column].select;
    const values = { ...this.#query?.values };
    if (value === '') delete values[column];
    else values[column] = value.slice(1);
    this.#change({ values });
  }
}
