// The flame graphs around one function: its callers above it, growing upwards, and its callees below it. speedscope
// calls this a sandwich.

import './sandwich.css';

import { callees, callers } from './call-tree.ts';
import { element } from './dom.ts';
import { FlameGraph } from './flame-graph.ts';
import type { Box } from './box-walk.ts';
import type { FrameStyle } from './flame-graph-plugin.ts';
import { treeLayout } from './flame-layout.ts';
import { formatDuration, formatPercent } from './format.ts';
import type { Profile, Totals } from './profile.ts';

/** The number of functions that are offered when none is selected. */
const SUGGESTIONS = 6;

export interface SandwichContent {
  profile: Profile;
  totals: Totals;
  /** The function, or -1. */
  frame: number;
}

export class Sandwich {
  readonly root = element('div', { class: 'sandwich' });
  readonly #hint = element('div', { class: 'hint' });
  readonly #onSelect: (frame: number) => void;
  readonly #title = element('h2');
  readonly #callers: FlameGraph;
  readonly #callees: FlameGraph;
  readonly #graphs: HTMLElement;
  #content: SandwichContent | undefined;

  constructor(style: FrameStyle, onSelect: (frame: number) => void) {
    this.#onSelect = onSelect;
    const graph = (label: string, growsUp: boolean): FlameGraph =>
      new FlameGraph({
        label,
        style,
        growsUp,
        describe: (box) => this.#describe(box),
        onSelect: (frame) => {
          if (frame !== -1) onSelect(frame);
        },
      });
    this.#callers = graph('Callers', true);
    this.#callees = graph('Callees', false);
    this.#graphs = element('div', { class: 'graphs' }, this.#callers.root, this.#title, this.#callees.root);
    this.root.append(this.#hint, this.#graphs);
  }

  #describe({ frame, start, end }: Box): [string, ...string[]] {
    if (this.#content === undefined) return [''];
    const { profile, totals } = this.#content;
    const time = end - start;
    return [
      profile.functionName(frame),
      profile.location(frame),
      `${formatDuration(time)}, ${formatPercent(time, totals.busy)} of busy time`,
    ];
  }

  show(content: SandwichContent): void {
    this.#content = content;
    const { profile, totals, frame } = content;
    this.#hint.hidden = frame !== -1;
    this.#graphs.hidden = frame === -1;
    if (frame === -1) {
      this.#showHint(content);
      return;
    }
    const total = formatDuration(totals.total[frame]);
    this.#title.replaceChildren(
      `${profile.functionName(frame)} `,
      element('small', {}, `${total} total time. Callers above, callees below.`),
    );
    this.#callers.show(treeLayout(callers(profile, totals, frame)));
    this.#callees.show(treeLayout(callees(profile, totals, frame)));
  }

  /** Says how a function is selected, and offers the ones with the most self time. */
  #showHint({ profile, totals }: SandwichContent): void {
    const frames = Array.from(totals.self.keys())
      .filter((frame) => totals.self[frame] > 0)
      .sort((a, b) => totals.self[b] - totals.self[a])
      .slice(0, SUGGESTIONS);
    const items = frames.map((frame) =>
      element(
        'li',
        {},
        element(
          'button',
          { type: 'button', class: 'button', title: profile.location(frame), click: () => this.#onSelect(frame) },
          profile.functionName(frame),
        ),
        element('small', {}, `${formatDuration(totals.self[frame])} self time`),
      ),
    );
    this.#hint.replaceChildren(
      element('p', {}, 'This view shows who calls a function, and what it calls. No function is selected.'),
      element('p', {}, 'Click a box in a flame graph or a row in the Functions tab, or begin with one of these:'),
      element('ul', {}, ...items),
    );
  }

  hideTooltips(): void {
    this.#callers.hideTooltip();
    this.#callees.hideTooltip();
  }

  redraw(): void {
    this.#callers.redraw();
    this.#callees.redraw();
  }

  applyTheme(): void {
    this.#callers.applyTheme();
    this.#callees.applyTheme();
  }
}
