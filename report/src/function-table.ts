// The functions of the selected stretch, in a table that can be sorted and searched. Only the rows in sight are elements.

import { element, fill } from './elements.ts';
import type { State } from './state.ts';
import { count, milliseconds, percent, shortPlace } from './words.ts';

/** In CSS pixels; fingers need more than a mouse. style.css has the same as `--row`. */
const ROW_HEIGHT = matchMedia('(pointer: coarse)').matches ? 44 : 24;

type Column = 'self' | 'total' | 'samples' | 'name' | 'place';

const COLUMNS: { column: Column; title: string; explanation: string }[] = [
  { column: 'self', title: 'Self', explanation: 'Time in the function’s own code' },
  { column: 'total', title: 'Total', explanation: 'Time in the function and in what it called' },
  { column: 'samples', title: 'Samples', explanation: 'Samples that caught the function’s own code' },
  { column: 'name', title: 'Function', explanation: '' },
  { column: 'place', title: 'Defined at', explanation: '' },
];

export class FunctionTable {
  readonly root: HTMLElement;
  readonly #state: State;
  readonly #body = element('div', { class: 'rows', tabindex: '-1', role: 'rowgroup' });
  readonly #space = element('div', { class: 'space', role: 'presentation' });
  readonly #head = element('div', { class: 'row head', role: 'row' });
  readonly #grid = element('div', { class: 'grid', tabindex: '0', role: 'grid', 'aria-label': 'Functions. Arrow keys choose one, Enter shows its callers and callees.' }, this.#head, this.#body);
  readonly #empty = element('p', { class: 'hint', hidden: true });
  readonly #foot = element('p', { class: 'foot' });
  #sortedBy: Column = 'self';
  #isAscending = false;
  #frames: number[] = [];

  constructor(state: State) {
    this.#state = state;
    this.#body.append(this.#space);
    this.root = element('div', { class: 'table' }, this.#grid, this.#empty, this.#foot);
    this.#body.addEventListener('scroll', () => this.#renderRows());
    this.#grid.addEventListener('keydown', (event) => this.#press(event));
    new ResizeObserver(() => this.#renderRows()).observe(this.#body);
  }

  /** Shows what the state says now. */
  update(): void {
    const { sums, matches, profile } = this.#state;
    const frames: number[] = [];
    for (let frame = 0; frame < profile.frameCount; frame++) {
      if (sums.total[frame] > 0 || sums.selfSamples[frame] > 0) {
        if (matches === undefined || matches[frame] === 1) frames.push(frame);
      }
    }
    const key: Record<Column, (frame: number) => number | string> = {
      self: (frame) => sums.self[frame],
      total: (frame) => sums.total[frame],
      samples: (frame) => sums.selfSamples[frame],
      name: (frame) => profile.functionName(frame).toLowerCase(),
      place: (frame) => profile.place(frame),
    };
    const keyOf = key[this.#sortedBy];
    const direction = this.#isAscending ? 1 : -1;
    const keyed = frames.map((frame) => ({ frame, key: keyOf(frame) }));
    keyed.sort((a, b) => (a.key < b.key ? -direction : a.key > b.key ? direction : sums.total[b.frame] - sums.total[a.frame]));
    this.#frames = keyed.map(({ frame }) => frame);
    this.#space.style.height = `${this.#frames.length * ROW_HEIGHT}px`;
    const { length } = this.#frames;
    this.#grid.setAttribute('aria-rowcount', String(length + 1));
    this.#empty.hidden = length > 0;
    fill(this.#empty, matches === undefined ? 'Nothing ran in this stretch of time: no sample has a function.' : `No function matches “${this.#state.search}”. Every word must be in a name or a file.`);
    fill(this.#foot, `${count(length)} ${length === 1 ? 'function' : 'functions'}${matches === undefined ? '' : ` that match${length === 1 ? 'es' : ''} “${this.#state.search}”`}, ${milliseconds(sums.busy)} busy in ${count(sums.samples)} samples`);
    this.#renderHead();
    this.#renderRows();
  }

  #renderHead(): void {
    const cells = COLUMNS.map(({ column, title, explanation }) => {
      const isSorted = column === this.#sortedBy;
      const sort = isSorted ? (this.#isAscending ? 'ascending' : 'descending') : 'none';
      const sign = isSorted ? (this.#isAscending ? ' ▲' : ' ▼') : '';
      const button = element('button', { type: 'button', title: explanation, click: () => this.#sort(column) }, title + sign);
      return element('div', { class: `cell ${column}`, role: 'columnheader', 'aria-sort': sort }, button);
    });
    fill(this.#head, ...cells);
  }

  #sort(column: Column): void {
    const isText = column === 'name' || column === 'place';
    this.#isAscending = column === this.#sortedBy ? !this.#isAscending : isText;
    this.#sortedBy = column;
    this.update();
  }

  #renderRows(): void {
    const { scrollTop, clientHeight } = this.#body;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - 4);
    const last = Math.min(this.#frames.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + 4);
    const rows: HTMLElement[] = [];
    for (let index = first; index < last; index++) rows.push(this.#row(this.#frames[index], index));
    fill(this.#space, ...rows);
    const chosen = this.#frames.indexOf(this.#state.frame);
    if (chosen >= first && chosen < last) this.#grid.setAttribute('aria-activedescendant', `function-${this.#state.frame}`);
    else this.#grid.removeAttribute('aria-activedescendant');
  }

  #row(frame: number, index: number): HTMLElement {
    const { sums, profile } = this.#state;
    const cell = (column: Column, text: string, share?: number): HTMLElement => {
      const made = element('div', { class: `cell ${column}`, role: 'gridcell' }, text);
      if (column === 'name') made.title = text;
      if (share !== undefined && share > 0) made.style.setProperty('--share', `${Math.min(100, 100 * share)}%`);
      return made;
    };
    const amount = (column: 'self' | 'total', value: number): HTMLElement => {
      const made = cell(column, milliseconds(value), value / sums.busy);
      made.append(element('span', { class: 'part' }, percent(value, sums.busy)));
      return made;
    };
    const place = cell('place', shortPlace(profile.place(frame)));
    place.title = profile.place(frame);
    const row = element(
      'div',
      { class: 'row', role: 'row', id: `function-${frame}`, 'aria-rowindex': index + 2, 'aria-selected': String(frame === this.#state.frame), click: () => this.#state.choose(frame), dblclick: () => this.#open(frame) },
      amount('self', sums.self[frame]),
      amount('total', sums.total[frame]),
      cell('samples', count(sums.selfSamples[frame])),
      cell('name', profile.functionName(frame)),
      place,
    );
    row.style.top = `${index * ROW_HEIGHT}px`;
    return row;
  }

  #open(frame: number): void {
    this.#state.choose(frame);
    this.#state.view = 'sandwich';
  }

  #press(event: KeyboardEvent): void {
    // A column's button has keys of its own.
    if (event.target instanceof HTMLButtonElement) return;
    const at = this.#frames.indexOf(this.#state.frame);
    const page = Math.max(1, Math.floor(this.#body.clientHeight / ROW_HEIGHT) - 1);
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.#frames.length - 1 };
    if (event.key === 'Enter' && this.#state.frame !== -1) this.#open(this.#state.frame);
    const next = moves[event.key];
    if (next === undefined || this.#frames.length === 0) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(this.#frames.length - 1, next));
    this.#state.choose(this.#frames[index]);
    const top = index * ROW_HEIGHT;
    if (top < this.#body.scrollTop) this.#body.scrollTop = top;
    else if (top + ROW_HEIGHT > this.#body.scrollTop + this.#body.clientHeight) this.#body.scrollTop = top + ROW_HEIGHT - this.#body.clientHeight;
    this.#renderRows();
  }
}
