// The flame graphs around one function: its callers above it, growing upwards, and its callees below it. speedscope calls
// this a sandwich.

import './sandwich.css';

import { callees, callers } from './call-tree.ts';
import { element } from './dom.ts';
import { FlameGraph } from './flame-graph.ts';
import type { Box, FrameStyle } from './flame-graph-plugin.ts';
import { treeLayout } from './flame-layout.ts';
import { formatDuration, formatPercent } from './format.ts';
import type { Profile, Totals } from './profile.ts';

export interface SandwichContent {
  profile: Profile;
  totals: Totals;
  /** The function, or -1. */
  frame: number;
}

export class Sandwich {
  readonly root = element('div', { class: 'sandwich' });
  readonly #hint = element(
    'p',
    { class: 'hint' },
    'Select a function in the table or in a flame graph to see its callers and callees.',
  );
  readonly #title = element('h2');
  readonly #callers: FlameGraph;
  readonly #callees: FlameGraph;
  readonly #graphs: HTMLElement;
  #content: SandwichContent | undefined;

  constructor(style: FrameStyle, onSelect: (frame: number) => void) {
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
    if (frame === -1) return;
    const total = formatDuration(totals.total[frame]);
    this.#title.replaceChildren(
      `${profile.functionName(frame)} `,
      element('small', {}, `${total} total time. Callers above, callees below.`),
    );
    this.#callers.show(treeLayout(callers(profile, totals, frame)));
    this.#callees.show(treeLayout(callees(profile, totals, frame)));
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
