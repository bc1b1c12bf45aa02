// What is known of the chosen function: its times, its place, its source, and who calls whom.

import { element, fill } from './elements.ts';
import type { Snippet } from './embedded.ts';
import type { State } from './state.ts';
import { type TreeNode, callees, callers } from './tree.ts';
import { count, milliseconds, percent } from './words.ts';

/** How many callers and callees are listed. */
const LISTED = 6;

export class Details {
  readonly root = element('aside', { class: 'details', 'aria-label': 'The chosen function' });
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  update(): void {
    const { frame, profile, sums } = this.#state;
    this.root.hidden = frame === -1;
    if (frame === -1) return;
    const close = element('button', { type: 'button', class: 'close', title: 'Close (Escape)', 'aria-label': 'Close', click: () => this.#state.choose(-1) }, '×');
    const term = (name: string, value: string): HTMLElement[] => [element('dt', {}, name), element('dd', {}, value)];
    const sandwich = element('button', { type: 'button', click: () => (this.#state.view = 'sandwich') }, 'Callers and callees');
    fill(
      this.root,
      close,
      element('h2', {}, profile.functionName(frame)),
      element('p', { class: 'place' }, profile.place(frame)),
      element(
        'dl',
        {},
        ...term('Self', `${milliseconds(sums.self[frame])} (${percent(sums.self[frame], sums.busy)})`),
        ...term('Total', `${milliseconds(sums.total[frame])} (${percent(sums.total[frame], sums.busy)})`),
        ...term('Own samples', count(sums.selfSamples[frame])),
      ),
      ...(this.#state.view === 'sandwich' ? [] : [sandwich]),
      ...this.#source(profile.snippet(frame), profile.line(frame)),
      ...this.#list('Called by', callers(profile, sums, frame), frame),
      ...this.#list('Calls', callees(profile, sums, frame), frame),
    );
  }

  #source(snippet: Snippet | undefined, line: number): HTMLElement[] {
    if (snippet === undefined) return [];
    const lines = snippet.lines.map((text, index) => {
      const number = snippet.first + index;
      return element('code', { class: number === line ? 'line here' : 'line', 'data-line': String(number) }, `${text}\n`);
    });
    return [element('h3', {}, 'Source'), element('pre', { class: 'source', tabindex: '0' }, ...lines)];
  }

  #list(title: string, tree: TreeNode, frame: number): HTMLElement[] {
    const { profile } = this.#state;
    const node = tree.children.get(frame);
    const others = [...(node?.children.values() ?? [])].sort((a, b) => b.value - a.value);
    if (node === undefined || others.length === 0) return [];
    const items = others.slice(0, LISTED).map((other) =>
      element(
        'li',
        {},
        element('button', { type: 'button', title: profile.place(other.frame), click: () => this.#state.choose(other.frame) }, profile.functionName(other.frame)),
        element('span', {}, percent(other.value, node.value)),
      ),
    );
    const rest = others.length - LISTED;
    return [element('h3', {}, title), element('ul', {}, ...items, ...(rest > 0 ? [element('li', {}, `and ${count(rest)} more`)] : []))];
  }
}
