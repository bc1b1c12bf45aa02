// A sortable table of functions. Only the visible rows are elements.

import './function-table.css';

import { element } from './dom.ts';
import { formatCount, formatDuration, formatPercent, formatSamples, shortLocation } from './format.ts';
import { INFERRED_NOTE } from './frame-table.ts';
import type { Profile, Totals } from './profile.ts';

/** In CSS pixels, as `--row` in theme.css. Fingers need higher rows than a mouse. */
const ROW_HEIGHT = matchMedia('(pointer: coarse)').matches ? 44 : 24;

type Column = 'self' | 'total' | 'samples' | 'trend' | 'name' | 'location';

type SortedColumn = Exclude<Column, 'trend'>;

type Subject = 'functions' | 'packages';

interface ColumnTitle {
  column: Column;
  title: string;
  explanation: string;
}

const COLUMNS: ColumnTitle[] = [
  { column: 'self', title: 'Self time', explanation: 'Time in the function’s own code' },
  { column: 'total', title: 'Total time', explanation: 'Time in the function and in the functions it called' },
  { column: 'samples', title: 'Samples', explanation: 'Samples with the function on top of the stack' },
  { column: 'name', title: 'Function', explanation: 'Name of the function; with a star, inferred from the source' },
  { column: 'location', title: 'Location', explanation: 'File, line and column of the function' },
];

/** The titles of columns with means of a session. */
const SESSION_COLUMNS: Partial<Record<Column, ColumnTitle>> = {
  self: { column: 'self', title: 'Self / session', explanation: 'Mean time of a session in the function’s own code' },
  total: {
    column: 'total',
    title: 'Total / session',
    explanation: 'Mean time of a session in the function and in the functions it called',
  },
};

/** After the samples, if there are trends. */
const TREND_COLUMN: ColumnTitle = {
  column: 'trend',
  title: 'Trend',
  explanation: 'Self time over the period. Each row has its own scale.',
};

/** Where it is among the columns. */
const TREND_PLACE = 3;

const PACKAGE_COLUMNS: ColumnTitle[] = [
  { column: 'self', title: 'Self time', explanation: 'Time in the package’s own functions' },
  { column: 'total', title: 'Total time', explanation: 'Time in the package and in what it called' },
  { column: 'samples', title: 'Samples', explanation: 'Samples with a function of the package on top of the stack' },
  { column: 'name', title: 'Package', explanation: 'Name of the folder in node_modules' },
  { column: 'location', title: 'Location', explanation: 'Where the package is' },
];

/** The title of the column in a trace of calls. */
function ofIntervals(title: ColumnTitle): ColumnTitle {
  if (title.column !== 'samples') return title;
  return {
    ...title,
    title: 'Intervals',
    explanation: title.explanation.replace('Samples', 'Intervals between two entries or exits'),
  };
}

const LABELS: Record<Subject, string> = {
  functions: 'Functions. Arrow keys select a function, Enter shows its callers and callees.',
  packages: 'Packages. Arrow keys select a package, Enter shows its callers and callees.',
};

export interface FunctionTableOptions {
  subject: Subject;
  /** Whether times are means of a session. */
  isPerSession?: boolean;
  onSelect(frame: number): void;
  /** Whether a row can be selected; all can unless it says otherwise. */
  canSelect?(frame: number): boolean;
  /** A double click on a row, or Enter. */
  onOpen(frame: number): void;
}

/** What a table shows. */
export interface FunctionTableContent {
  profile: Profile;
  totals: Totals;
  /** The search, and by frame whether it matches; undefined without a search. */
  search: string;
  matches: Uint8Array | undefined;
  selectedFrame: number;
  /** What shows a function's time over the period; undefined if that is not known. */
  trendOf?(frame: number): Node | undefined;
}

export class FunctionTable {
  readonly root: HTMLElement;
  readonly #options: FunctionTableOptions;
  readonly #body = element('div', { class: 'rows', tabindex: '-1', role: 'rowgroup' });
  /** As high as all rows, so that the body scrolls. */
  readonly #spacer = element('div', { class: 'spacer', role: 'presentation' });
  readonly #head = element('div', { class: 'row head', role: 'row' });
  readonly #grid = element('div', { class: 'grid', tabindex: '0', role: 'grid' }, this.#head, this.#body);
  readonly #empty = element('p', { class: 'hint', hidden: true });
  readonly #footer = element('p', { class: 'footer' });
  #content: FunctionTableContent | undefined;
  #sortedBy: SortedColumn = 'self';
  #isAscending = false;
  /** The frames of the rows, sorted. */
  #frames: number[] = [];

  constructor(options: FunctionTableOptions) {
    this.#options = options;
    this.#grid.setAttribute('aria-label', LABELS[options.subject]);
    this.#body.append(this.#spacer);
    const className = options.isPerSession ? 'function-table per-session' : 'function-table';
    this.root = element('div', { class: className }, this.#grid, this.#empty, this.#footer);
    this.#body.addEventListener('scroll', () => this.#renderRows());
    this.#grid.addEventListener('keydown', (event) => this.#onKeyDown(event));
    new ResizeObserver(() => this.#renderRows()).observe(this.#body);
  }

  show(content: FunctionTableContent): void {
    this.#content = content;
    this.#sort(content);
    this.#renderSummary(content);
    const hasTrends = content.trendOf !== undefined;
    this.root.classList.toggle('with-trends', hasTrends);
    this.#renderHead(hasTrends, content.totals.counted);
    this.#renderRows();
  }

  #sort({ profile, totals, matches }: FunctionTableContent): void {
    const frames: number[] = [];
    for (let frame = 0; frame < profile.frameCount; frame++) {
      const hasSamples = totals.total[frame] > 0 || totals.selfSamples[frame] > 0;
      if (hasSamples && (matches === undefined || matches[frame] === 1)) frames.push(frame);
    }
    const keys: Record<SortedColumn, (frame: number) => number | string> = {
      self: (frame) => totals.self[frame],
      total: (frame) => totals.total[frame],
      samples: (frame) => totals.selfSamples[frame],
      name: (frame) => profile.functionName(frame).toLowerCase(),
      location: (frame) => profile.location(frame),
    };
    const keyOf = keys[this.#sortedBy];
    const direction = this.#isAscending ? 1 : -1;
    const keyed = frames.map((frame) => ({ frame, key: keyOf(frame) }));
    keyed.sort((a, b) =>
      a.key < b.key ? -direction : a.key > b.key ? direction : totals.total[b.frame] - totals.total[a.frame],
    );
    this.#frames = keyed.map(({ frame }) => frame);
  }

  #renderSummary({ totals, matches, search }: FunctionTableContent): void {
    const { subject } = this.#options;
    const { length } = this.#frames;
    this.#spacer.style.height = `${length * ROW_HEIGHT}px`;
    this.#grid.setAttribute('aria-rowcount', String(length + 1));
    this.#empty.hidden = length > 0;
    this.#empty.textContent =
      matches === undefined
        ? `No ${totals.counted}s with a stack${this.#options.isPerSession ? '' : ' in this time range'}.`
        : `No ${subject.slice(0, -1)} matches “${search}”. The search looks for every word in names and locations.`;
    const rows = `${formatCount(length)} ${length === 1 ? subject.slice(0, -1) : subject}`;
    const matching = matches === undefined ? '' : ` matching “${search}”`;
    const busy = `${formatDuration(totals.busy)} busy${this.#options.isPerSession ? ' per session' : ''}`;
    this.#footer.textContent = `${rows}${matching} · ${formatSamples(totals)} · ${busy}`;
  }

  #renderHead(hasTrends: boolean, counted: Totals['counted']): void {
    const { subject, isPerSession } = this.#options;
    const ofSamples = subject === 'packages' ? PACKAGE_COLUMNS : COLUMNS;
    const columns = counted === 'interval' ? ofSamples.map(ofIntervals) : ofSamples;
    const perSession = isPerSession ? columns.map((column) => SESSION_COLUMNS[column.column] ?? column) : columns;
    const shown = hasTrends ? perSession.toSpliced(TREND_PLACE, 0, TREND_COLUMN) : perSession;
    const cells = shown.map(({ column, title, explanation }) => {
      if (column === 'trend')
        return element('div', { class: 'cell trend', role: 'columnheader', title: explanation }, title);
      const isSorted = column === this.#sortedBy;
      const sort = isSorted ? (this.#isAscending ? 'ascending' : 'descending') : 'none';
      const arrow = isSorted ? (this.#isAscending ? ' ▲' : ' ▼') : '';
      const button = element(
        'button',
        { type: 'button', title: explanation, click: () => this.#sortBy(column) },
        title + arrow,
      );
      return element('div', { class: `cell ${column}`, role: 'columnheader', 'aria-sort': sort }, button);
    });
    this.#head.replaceChildren(...cells);
  }

  #idOf(frame: number): string {
    return `${this.#options.subject}-${frame}`;
  }

  #sortBy(column: SortedColumn): void {
    const isText = column === 'name' || column === 'location';
    this.#isAscending = column === this.#sortedBy ? !this.#isAscending : isText;
    this.#sortedBy = column;
    if (this.#content !== undefined) this.show(this.#content);
  }

  #renderRows(): void {
    const content = this.#content;
    if (content === undefined) return;
    const { scrollTop, clientHeight } = this.#body;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - 4);
    const last = Math.min(this.#frames.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + 4);
    const rows: HTMLElement[] = [];
    for (let index = first; index < last; index++) rows.push(this.#row(content, this.#frames[index], index));
    this.#spacer.replaceChildren(...rows);
    const { selectedFrame } = content;
    const selected = this.#frames.indexOf(selectedFrame);
    if (selected >= first && selected < last)
      this.#grid.setAttribute('aria-activedescendant', this.#idOf(selectedFrame));
    else this.#grid.removeAttribute('aria-activedescendant');
  }

  #row({ profile, totals, selectedFrame, trendOf }: FunctionTableContent, frame: number, index: number): HTMLElement {
    const cell = (column: Column, text: string, title?: string): HTMLElement =>
      element('div', { class: `cell ${column}`, role: 'gridcell', title }, text);
    const timeCell = (column: 'self' | 'total', time: number): HTMLElement => {
      const created = cell(column, formatDuration(time));
      if (time > 0) created.style.setProperty('--share', `${Math.min(100, (100 * time) / totals.busy)}%`);
      created.append(element('span', { class: 'percent' }, formatPercent(time, totals.busy)));
      return created;
    };
    const name = profile.functionName(frame);
    const location = profile.location(frame);
    const row = element(
      'div',
      {
        class: 'row',
        role: 'row',
        id: this.#idOf(frame),
        'aria-rowindex': index + 2,
        'aria-selected': String(frame === selectedFrame),
        click: () => this.#options.onSelect(frame),
        dblclick: () => this.#options.onOpen(frame),
      },
      timeCell('self', totals.self[frame]),
      timeCell('total', totals.total[frame]),
      cell('samples', formatCount(totals.selfSamples[frame])),
      ...(trendOf === undefined
        ? []
        : [element('div', { class: 'cell trend', role: 'gridcell' }, trendOf(frame) ?? '')]),
      cell('name', name, profile.frames.inferredName(frame) === undefined ? name : `${name}\n${INFERRED_NOTE}`),
      cell('location', shortLocation(location), location),
    );
    row.style.top = `${index * ROW_HEIGHT}px`;
    return row;
  }

  #onKeyDown(event: KeyboardEvent): void {
    // The buttons in the head handle their own keys.
    if (event.target instanceof HTMLButtonElement || this.#content === undefined) return;
    const { selectedFrame } = this.#content;
    const at = this.#frames.indexOf(selectedFrame);
    const page = Math.max(1, Math.floor(this.#body.clientHeight / ROW_HEIGHT) - 1);
    const targets: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.#frames.length - 1,
    };
    if (event.key === 'Enter' && selectedFrame !== -1) this.#options.onOpen(selectedFrame);
    const target = targets[event.key];
    if (target === undefined || this.#frames.length === 0) return;
    event.preventDefault();
    const step = target < at ? -1 : 1;
    let index = Math.max(0, Math.min(this.#frames.length - 1, target));
    const canSelect = this.#options.canSelect ?? (() => true);
    while (index >= 0 && index < this.#frames.length && !canSelect(this.#frames[index])) index += step;
    if (index < 0 || index >= this.#frames.length) return;
    this.#options.onSelect(this.#frames[index]);
    this.#scrollTo(index);
    this.#renderRows();
  }

  #scrollTo(index: number): void {
    const top = index * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.#body;
    if (top < scrollTop) this.#body.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight) this.#body.scrollTop = top + ROW_HEIGHT - clientHeight;
  }
}
