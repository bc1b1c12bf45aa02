// The view of two traces: what grew, what shrank, and both flame graphs in the colours of the change.

import { leftHeavy } from './boxes.ts';
import { PALE, changeColor, chosenColor } from './colors.ts';
import { element, fill } from './elements.ts';
import type { Comparison } from './embedded.ts';
import { FlameView } from './flame-view.ts';
import type { Profile, Sums } from './profile.ts';
import type { State } from './state.ts';
import { count, milliseconds, shortPlace } from './words.ts';

/** How many functions are listed. */
const LISTED = 200;
/** A change of this part of the busy time has the full colour. */
const FULL_COLOR = 0.05;

interface Row {
  /** The function's frame in each trace, or -1. */
  frames: [number, number];
  name: string;
  place: string;
  before: number;
  after: number;
  isSignificant: boolean;
}

interface Side {
  profile: Profile;
  sums: Sums;
  /** By frame: the change of its total part, or undefined where the other trace has no such function. */
  changes: (number | undefined)[];
  view: FlameView;
}

export class DiffView {
  readonly root = element('div', { class: 'diff' });
  readonly #state: State;
  readonly #rows = element('tbody');
  readonly #foot = element('p', { class: 'foot' });
  readonly #sides: [Side, Side];
  readonly #compared: Row[];
  #chosen: Row | undefined;

  constructor(state: State, comparison: Comparison) {
    this.#state = state;
    this.#sides = [this.#side(state.profiles[0], 'before'), this.#side(state.profiles[1], 'after')];
    const head = element('thead', {}, element('tr', {}, ...['Change', 'Before', 'After', 'Chance?', 'Function', 'Defined at'].map((title, index) => element('th', { scope: 'col', class: index < 3 ? 'number' : undefined, title: index === 3 ? 'Whether the change may be chance' : undefined }, title))));
    const figures = this.#sides.map(({ profile, view }, index) => element('figure', {}, element('figcaption', {}, `${index === 0 ? 'Before' : 'After'}: ${profile.name}`), view.root));
    const legend = element('p', { class: 'legend' }, element('span', { class: 'less' }), 'took less', element('span', { class: 'same' }), 'the same', element('span', { class: 'more' }), 'took more');
    this.root.append(legend, element('div', { class: 'figures' }, ...figures), element('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Functions that changed' }, element('table', {}, head, this.#rows)), this.#foot);
    this.#compared = this.#compare(comparison);
  }

  #side(profile: Profile, label: string): Side {
    const sums = profile.sums(profile.extent);
    const changes: (number | undefined)[] = [];
    const colors = (): Uint32Array => {
      const { matcher } = this.#state;
      return Uint32Array.from({ length: profile.frameCount }, (_, frame) => {
        if (frame === this.#chosen?.frames[label === 'before' ? 0 : 1]) return chosenColor();
        if (!matcher(profile.identity(frame))) return PALE;
        return changeColor((changes[frame] ?? (label === 'before' ? -FULL_COLOR : FULL_COLOR)) / FULL_COLOR);
      });
    };
    const view = new FlameView({
      label: `Flame graph ${label}`,
      look: { colors, nameOf: (frame) => profile.functionName(frame) },
      tell: (box) => [profile.functionName(box.frame), profile.place(box.frame), `${signed(changes[box.frame])} of the busy time`, milliseconds(box.end - box.start)],
      onChoose: (frame) => this.#choose(this.#compared.find(({ frames }) => frame !== -1 && frames[label === 'before' ? 0 : 1] === frame)),
    });
    return { profile, sums, changes, view };
  }

  #compare({ base, new: next, baseShare, newShare, isSignificant }: Comparison): Row[] {
    const [before, after] = this.#sides;
    return base.map((baseFrame, index) => {
      const newFrame = next[index];
      if (baseFrame !== -1 && newFrame !== -1) {
        const change = after.sums.total[newFrame] / after.sums.busy - before.sums.total[baseFrame] / before.sums.busy;
        before.changes[baseFrame] = change;
        after.changes[newFrame] = change;
      }
      const [profile, frame] = newFrame === -1 ? [before.profile, baseFrame] : [after.profile, newFrame];
      return { frames: [baseFrame, newFrame], name: profile.functionName(frame), place: profile.place(frame), before: baseShare[index], after: newShare[index], isSignificant: isSignificant[index] === 1 };
    });
  }

  /** Shows what the state says now. */
  update(): void {
    for (const { profile, sums, view } of this.#sides) view.show(leftHeavy(profile, sums));
    this.#list();
  }

  applyTheme(): void {
    for (const { view } of this.#sides) view.applyTheme();
  }

  search(): void {
    for (const { view } of this.#sides) view.redraw();
    this.#list();
  }

  /** Marks a function in both graphs, and shows its row. */
  #choose(row: Row | undefined): void {
    this.#chosen = row;
    for (const [side, { view }] of this.#sides.entries()) view.choose(row?.frames[side] ?? -1);
    this.#list();
    this.#rows.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  #list(): void {
    const { matcher } = this.#state;
    const rows = this.#compared.filter(({ name, place }) => matcher(`${name}\n${place}`));
    const listed = rows.slice(0, LISTED);
    if (this.#chosen !== undefined && !listed.includes(this.#chosen)) listed.unshift(this.#chosen);
    const made = listed.map((row) => {
      const change = row.after - row.before;
      const cell = (text: string, name: string, title?: string): HTMLElement => element('td', { class: name, title }, text);
      return element(
        'tr',
        {
          class: row.isSignificant ? (change > 0 ? 'grew' : 'shrank') : 'unchanged',
          'aria-selected': String(row === this.#chosen),
          tabindex: '0',
          click: () => this.#choose(row === this.#chosen ? undefined : row),
          keydown: (event: KeyboardEvent) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            this.#choose(row === this.#chosen ? undefined : row);
            (this.#rows.querySelector('[aria-selected=true]') as HTMLElement | null)?.focus();
          },
        },
        cell(signed(change), 'number'),
        cell(part(row.before), 'number'),
        cell(part(row.after), 'number'),
        cell(row.isSignificant ? 'no' : 'maybe', 'chance'),
        cell(row.name, 'name', row.name),
        cell(shortPlace(row.place), 'place', row.place),
      );
    });
    fill(this.#rows, ...made);
    const changed = this.#compared.filter(({ isSignificant }) => isSignificant).length;
    fill(
      this.#foot,
      `Shares of the samples at which anything ran. ${count(changed)} of ${count(this.#compared.length)} functions changed by more than chance: ` +
        'if nothing had changed, 19 comparisons of 20 would name none. `selfprof diff --help` tells how it is computed. Colours show the total share.',
    );
  }
}

function part(value: number): string {
  return `${(100 * value).toFixed(2)} %`;
}

function signed(value: number | undefined): string {
  if (value === undefined) return 'only here';
  return `${value > 0 ? '+' : value < 0 ? '−' : '±'}${(100 * Math.abs(value)).toFixed(2)} %`;
}
