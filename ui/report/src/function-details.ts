// The details of the selected function: its times, location and source, its callers and callees.

import './function-details.css';

import { type CallTreeNode, callees, callers } from '@selfprof/views/call-tree.ts';
import { element } from '@selfprof/views/dom.ts';
import { formatCount, formatDuration, formatPercent } from '@selfprof/views/format.ts';
import { INFERRED_NOTE } from '@selfprof/views/frame-table.ts';
import type { Snippet } from '@selfprof/views/profile-data.ts';

import type { State } from './state.ts';

/** The lists of callers and callees have this many items at most. */
const MAX_ITEMS = 6;

export class FunctionDetails {
  readonly root = element('aside', { class: 'details', 'aria-label': 'Selected function' });
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  update(): void {
    const { selectedFrame: frame, profile, totals, view } = this.#state;
    this.root.hidden = frame === -1;
    if (frame === -1) return;
    const close = element(
      'button',
      {
        type: 'button',
        class: 'close',
        title: 'Close (Esc)',
        'aria-label': 'Close',
        click: () => this.#state.selectFrame(-1),
      },
      '×',
    );
    const term = (name: string, value: string): HTMLElement[] => [element('dt', {}, name), element('dd', {}, value)];
    const time = (value: number): string => `${formatDuration(value)} (${formatPercent(value, totals.busy)})`;
    const openSandwich = (): void => {
      this.#state.view = 'sandwich';
    };
    const sandwichButton = element(
      'button',
      { type: 'button', class: 'button', click: openSandwich },
      'Callers and callees',
    );
    this.root.replaceChildren(
      close,
      element('h2', {}, profile.functionName(frame)),
      ...(profile.frames.inferredName(frame) === undefined ? [] : [element('p', {}, INFERRED_NOTE)]),
      element('p', { class: 'location' }, profile.location(frame)),
      element(
        'dl',
        {},
        ...term('Self time', time(totals.self[frame])),
        ...term('Total time', time(totals.total[frame])),
        ...term(`Self ${totals.counted}s`, formatCount(totals.selfSamples[frame])),
      ),
      ...(view === 'sandwich' ? [] : [sandwichButton]),
      ...this.#hideButton(),
      ...this.#source(profile.frames.snippet(frame), profile.frames.line(frame)),
      ...this.#list('Callers', callers(profile, totals, frame), frame),
      ...this.#list('Callees', callees(profile, totals, frame), frame),
    );
  }

  #hideButton(): HTMLElement[] {
    const { selectedPackage: name } = this.#state;
    if (name === undefined) return [];
    const title = 'Leaves its functions out of all stacks. Their time counts for what called them (h).';
    return [
      element(
        'button',
        { type: 'button', class: 'button', title, click: () => this.#state.hideSelectedPackage() },
        `Hide package ${name}`,
      ),
    ];
  }

  /** The source around the function, whose own line is highlighted. */
  #source(snippet: Snippet | undefined, line: number): HTMLElement[] {
    if (snippet === undefined) return [];
    const lines = snippet.lines.map((text, index) => {
      const number = snippet.first + index;
      return element(
        'code',
        { class: number === line ? 'line definition' : 'line', 'data-line': String(number) },
        `${text}\n`,
      );
    });
    return [element('h3', {}, 'Source'), element('pre', { class: 'source', tabindex: '0' }, ...lines)];
  }

  #list(title: string, tree: CallTreeNode, frame: number): HTMLElement[] {
    const { profile } = this.#state;
    const node = tree.children.get(frame);
    const others = [...(node?.children.values() ?? [])].sort((a, b) => b.time - a.time);
    if (node === undefined || others.length === 0) return [];
    const items = others
      .slice(0, MAX_ITEMS)
      .map((other) =>
        element(
          'li',
          {},
          element(
            'button',
            { type: 'button', title: profile.location(other.frame), click: () => this.#state.selectFrame(other.frame) },
            profile.functionName(other.frame),
          ),
          element('span', {}, formatPercent(other.time, node.time)),
        ),
      );
    const rest = others.length - MAX_ITEMS;
    if (rest > 0) items.push(element('li', {}, `and ${formatCount(rest)} more`));
    return [element('h3', {}, title), element('ul', {}, ...items)];
  }
}
