// The switches beside the tabs: how stacks are shown.

import './switches.css';

import { element } from '@selfprof/views/dom.ts';

import type { State, View } from './state.ts';

/** The views that do not depend on a switch do not show it. */
const GROUPED_VIEWS: readonly View[] = ['time', 'heavy', 'functions', 'packages', 'sandwich'];

export class Switches {
  readonly root = element('div', { class: 'switches' });
  readonly #state: State;
  readonly #invert: Switch;
  readonly #group: Switch;
  readonly #foldNode: Switch;
  readonly #showHidden: HTMLElement;

  constructor(state: State) {
    this.#state = state;
    const invert = (isOn: boolean): void => {
      state.isInverted = isOn;
    };
    const group = (isOn: boolean): void => {
      state.isGrouped = isOn;
    };
    this.#invert = newSwitch('Invert call stack', 'Functions by self time, with their callers below (i)', invert);
    this.#group = newSwitch('Group packages', 'Each package in node_modules, and Node.js, as one box (p)', group);
    const foldNode = (isOn: boolean): void => {
      state.isNodeFolded = isOn;
    };
    this.#foldNode = newSwitch(
      'Fold Node.js',
      'Of functions in Node.js, show the one that the program called (n)',
      foldNode,
    );
    const showAll = (): void => {
      state.hiddenPackages = new Set();
    };
    this.#showHidden = element('button', { type: 'button', class: 'button', click: showAll });
    this.root.append(this.#showHidden, this.#invert.label, this.#foldNode.label, this.#group.label);
    state.onChange(() => this.#update());
    this.#update();
  }

  #update(): void {
    const { view, isInverted, isGrouped, isNodeFolded, hasNodeFrames, hiddenPackages } = this.#state;
    this.#invert.label.hidden = view !== 'heavy';
    this.#invert.input.checked = isInverted;
    this.#group.label.hidden = !GROUPED_VIEWS.includes(view);
    this.#group.input.checked = isGrouped;
    this.#foldNode.label.hidden = !hasNodeFrames || !GROUPED_VIEWS.includes(view);
    this.#foldNode.input.checked = isNodeFolded;
    const { size } = hiddenPackages;
    this.#showHidden.hidden = size === 0 || !GROUPED_VIEWS.includes(view);
    this.#showHidden.textContent = `Show ${size} hidden ${size === 1 ? 'package' : 'packages'}`;
    this.#showHidden.title = [...hiddenPackages].join(', ');
  }
}

interface Switch {
  label: HTMLElement;
  input: HTMLInputElement;
}

function newSwitch(name: string, title: string, onChange: (isOn: boolean) => void): Switch {
  const input = element('input', { type: 'checkbox', change: () => onChange(input.checked) });
  return { label: element('label', { class: 'switch', title }, input, name), input };
}
