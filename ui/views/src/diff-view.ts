// Two traces compared: both flame graphs, colored by significant change, and a table of functions, largest change
// first.

import './diff-view.css';

import { changeColor, DIMMED_COLOR, selectedColor } from './colors.ts';
import { element } from './dom.ts';
import { FlameGraph } from './flame-graph.ts';
import { leftHeavy } from './flame-layout.ts';
import { formatCount, formatDuration, shortLocation } from './format.ts';
import type { Profile, Totals } from './profile.ts';
import type { ComparisonData } from './profile-data.ts';
import { searchMatcher } from './search.ts';

/** The table has this many rows at most. */
const MAX_ROWS = 200;
/** A change by this fraction of the busy time has the full color. */
const FULL_COLOR_CHANGE = 0.05;

const COLUMNS: { title: string; explanation: string; isNumber?: boolean }[] = [
  { title: 'Change', explanation: 'Change of the share of self time', isNumber: true },
  { title: 'Before', explanation: 'Share of self time in the first trace', isNumber: true },
  { title: 'After', explanation: 'Share of self time in the second trace', isNumber: true },
  { title: 'Significant', explanation: 'Whether the change is statistically significant' },
  { title: 'Function', explanation: 'Name of the function' },
  { title: 'Location', explanation: 'File, line and column of the function' },
];

interface Row {
  /** The function's frame in each trace, or -1. */
  frames: [number, number];
  name: string;
  location: string;
  before: number;
  after: number;
  /** The change of the share of total time; undefined if the function occurs in one trace only. */
  totalChange: number | undefined;
  isSignificant: boolean;
}

/** One of the two traces. */
interface Side {
  profile: Profile;
  totals: Totals;
  /** By frame. */
  rows: (Row | undefined)[];
  graph: FlameGraph;
}

export class DiffView {
  readonly root = element('div', { class: 'diff' });
  readonly #tableBody = element('tbody');
  readonly #footer = element('p', { class: 'footer' });
  readonly #sides: [Side, Side];
  readonly #rows: Row[];
  #selected: Row | undefined;
  #isMatch = searchMatcher('');

  constructor(before: Profile, after: Profile, comparison: ComparisonData) {
    this.#sides = [this.#side(before, 0), this.#side(after, 1)];
    const head = COLUMNS.map(({ title, explanation, isNumber }) =>
      element('th', { scope: 'col', class: isNumber ? 'number' : undefined, title: explanation }, title),
    );
    const figures = this.#sides.map(({ profile, graph }, side) =>
      element(
        'figure',
        {},
        element('figcaption', {}, `${side === 0 ? 'Before' : 'After'}: ${profile.name}`),
        graph.root,
      ),
    );
    const legend = element(
      'p',
      { class: 'legend' },
      element('span', { class: 'less' }),
      'less time',
      element('span', { class: 'same' }),
      'no significant change',
      element('span', { class: 'more' }),
      'more time',
    );
    this.root.append(
      legend,
      element('div', { class: 'figures' }, ...figures),
      element(
        'div',
        { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Changes by function' },
        element('table', {}, element('thead', {}, element('tr', {}, ...head)), this.#tableBody),
      ),
      this.#footer,
    );
    this.#rows = this.#compare(comparison);
  }

  #side(profile: Profile, side: 0 | 1): Side {
    const totals = profile.totals(profile.extent);
    const rows: (Row | undefined)[] = [];
    const colors = (): Uint32Array =>
      Uint32Array.from({ length: profile.frameCount }, (_, frame) => {
        if (frame === this.#selected?.frames[side]) return selectedColor();
        if (!this.#isMatch(profile.frames.identity(frame))) return DIMMED_COLOR;
        const row = rows[frame];
        return changeColor(row?.isSignificant ? (row.after - row.before) / FULL_COLOR_CHANGE : 0);
      });
    const graph = new FlameGraph({
      label: `Flame graph ${side === 0 ? 'before' : 'after'}`,
      style: { colors, nameOf: (frame) => profile.functionName(frame) },
      describe: ({ frame, start, end }) => [
        profile.functionName(frame),
        profile.location(frame),
        formatDuration(end - start),
        ...describeChange(rows[frame]),
      ],
      zoomsOnClick: true,
      onSelect: (frame) => this.#select(this.#rows.find(({ frames }) => frame !== -1 && frames[side] === frame)),
    });
    return { profile, totals, rows, graph };
  }

  #compare({ base, new: next, baseShare, newShare, isSignificant }: ComparisonData): Row[] {
    const [before, after] = this.#sides;
    return base.map((baseFrame, index) => {
      const newFrame = next[index];
      const totalChange =
        baseFrame === -1 || newFrame === -1
          ? undefined
          : after.totals.total[newFrame] / after.totals.busy - before.totals.total[baseFrame] / before.totals.busy;
      const [profile, frame] = newFrame === -1 ? [before.profile, baseFrame] : [after.profile, newFrame];
      const row: Row = {
        frames: [baseFrame, newFrame],
        name: profile.functionName(frame),
        location: profile.location(frame),
        before: baseShare[index],
        after: newShare[index],
        totalChange,
        isSignificant: isSignificant[index] === 1,
      };
      if (baseFrame !== -1) before.rows[baseFrame] = row;
      if (newFrame !== -1) after.rows[newFrame] = row;
      return row;
    });
  }

  /** Shows everything. */
  show(): void {
    for (const { profile, totals, graph } of this.#sides) graph.show(leftHeavy(profile, totals));
    this.#renderTable();
  }

  applyTheme(): void {
    for (const { graph } of this.#sides) graph.applyTheme();
  }

  hideTooltips(): void {
    for (const { graph } of this.#sides) graph.hideTooltip();
  }

  /** Goes back to before the last zoom; false if there was none. */
  zoomOut(): boolean {
    return this.#sides.some(({ graph }) => graph.zoomOut());
  }

  /** Dims the functions that do not match in the flame graphs, and leaves them out of the table. */
  search(search: string): void {
    this.#isMatch = searchMatcher(search);
    for (const { graph } of this.#sides) graph.redraw();
    this.#renderTable();
  }

  /** Highlights a function in both flame graphs and in the table. */
  #select(row: Row | undefined): void {
    this.#selected = row;
    for (const [side, { graph }] of this.#sides.entries()) graph.selectFrame(row?.frames[side] ?? -1);
    this.#renderTable();
    this.#selectedRow?.scrollIntoView({ block: 'nearest' });
  }

  get #selectedRow(): HTMLElement | null {
    return this.#tableBody.querySelector<HTMLElement>('[aria-selected=true]');
  }

  #renderTable(): void {
    const matching = this.#rows.filter(({ name, location }) => this.#isMatch(`${name}\n${location}`));
    const shown = matching.slice(0, MAX_ROWS);
    if (this.#selected !== undefined && !shown.includes(this.#selected)) shown.unshift(this.#selected);
    this.#tableBody.replaceChildren(...shown.map((row) => this.#renderRow(row)));
    const significant = this.#rows.filter(({ isSignificant }) => isSignificant).length;
    this.#footer.textContent =
      `Significant changes: ${formatCount(significant)} of ${formatCount(this.#rows.length)} functions, at a level of 5% ` +
      'corrected for multiple comparisons. The table and the colors compare self time, as a share of busy samples. See ' +
      '`selfprof diff --help`.';
  }

  #renderRow(row: Row): HTMLElement {
    const change = row.after - row.before;
    const toggle = (): void => this.#select(row === this.#selected ? undefined : row);
    const cell = (text: string, name: string, title?: string): HTMLElement =>
      element('td', { class: name, title }, text);
    return element(
      'tr',
      {
        class: row.isSignificant ? (change > 0 ? 'grew' : 'shrank') : 'insignificant',
        'aria-selected': String(row === this.#selected),
        tabindex: '0',
        click: toggle,
        keydown: (event: KeyboardEvent) => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          toggle();
          this.#selectedRow?.focus();
        },
      },
      cell(formatChange(change), 'number'),
      cell(formatShare(row.before), 'number'),
      cell(formatShare(row.after), 'number'),
      cell(row.isSignificant ? 'yes' : 'no', 'significance'),
      cell(row.name, 'name', row.name),
      cell(shortLocation(row.location), 'location', row.location),
    );
  }
}

/** The lines of a tooltip about the change of a function. */
function describeChange(row: Row | undefined): string[] {
  if (row === undefined) return [];
  const { before, after, totalChange, isSignificant } = row;
  const self = `Self time of the function: ${formatChange(after - before)} of busy time`;
  return [
    isSignificant ? self : `${self}, not significant`,
    totalChange === undefined ? 'In this trace only' : `Total time: ${formatChange(totalChange)} of busy time`,
  ];
}

function formatShare(share: number): string {
  return `${(100 * share).toFixed(2)}%`;
}

function formatChange(change: number): string {
  return `${change > 0 ? '+' : change < 0 ? '−' : '±'}${formatShare(Math.abs(change))}`;
}
