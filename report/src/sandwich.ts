// One function between its callers, which grow upwards, and what it calls, which grows downwards.

import { ofTree } from './boxes.ts';
import type { Look } from './boxes-plugin.ts';
import { element, fill } from './elements.ts';
import { FlameView } from './flame-view.ts';
import type { State } from './state.ts';
import { callees, callers } from './tree.ts';
import { milliseconds, percent } from './words.ts';

export class Sandwich {
  readonly root = element('div', { class: 'sandwich' });
  readonly #state: State;
  readonly #hint = element('p', { class: 'hint' }, 'Choose a function in the table or in a flame graph: this view shows who calls it, and what it calls.');
  readonly #title = element('h2');
  readonly #callers: FlameView;
  readonly #callees: FlameView;
  readonly #graphs: HTMLElement;

  constructor(state: State, look: Look) {
    this.#state = state;
    const make = (label: string, growsUp: boolean): FlameView =>
      new FlameView({
        label,
        look,
        growsUp,
        tell: (box) => {
          const { profile, sums } = state;
          const time = box.end - box.start;
          return [profile.functionName(box.frame), profile.place(box.frame), `${milliseconds(time)}, ${percent(time, sums.busy)} of the busy time`];
        },
        onChoose: (frame) => {
          if (frame !== -1) state.choose(frame);
        },
      });
    this.#callers = make('Callers', true);
    this.#callees = make('Callees', false);
    this.#graphs = element('div', { class: 'halves' }, this.#callers.root, this.#title, this.#callees.root);
    this.root.append(this.#hint, this.#graphs);
  }

  update(): void {
    const { frame, profile, sums } = this.#state;
    this.#hint.hidden = frame !== -1;
    this.#graphs.hidden = frame === -1;
    if (frame === -1) return;
    fill(this.#title, `${profile.functionName(frame)} `, element('small', {}, `${milliseconds(sums.total[frame])} total, callers above, callees below`));
    this.#callers.show(ofTree(callers(profile, sums, frame)));
    this.#callees.show(ofTree(callees(profile, sums, frame)));
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
