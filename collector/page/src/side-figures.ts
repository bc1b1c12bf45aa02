// The flame graphs of two sides, beside each other.

import { element } from '@selfprof/views/dom.ts';

import type { Selection } from './profiles.ts';
import { type Differences, SideFigure } from './side-figure.ts';

/** What one of the two shows. */
export interface ShownSide {
  caption: string;
  selection: Selection;
}

export class SideFigures {
  readonly root: HTMLElement;
  readonly #both: [SideFigure, SideFigure];

  /** `unit` is what times are means of. `onSelect` gets the key of a function. */
  constructor(labels: [string, string], unit: string, onSelect: (key: string) => void) {
    this.#both = [new SideFigure(labels[0], unit, onSelect), new SideFigure(labels[1], unit, onSelect)];
    this.root = element('div', { class: 'figures' }, ...this.#both.map(({ root }) => root));
  }

  show(sides: [ShownSide, ShownSide], differences: Differences): void {
    for (const [index, figure] of this.#both.entries()) {
      const { caption, selection } = sides[index];
      figure.show(caption, selection, differences);
    }
  }

  update(search: string, selected: string): void {
    for (const figure of this.#both) figure.update(search, selected);
  }

  applyTheme(): void {
    for (const { graph } of this.#both) graph.applyTheme();
  }

  hideTooltips(): void {
    for (const { graph } of this.#both) graph.hideTooltip();
  }

  zoomOut(): boolean {
    return this.#both.some(({ graph }) => graph.zoomOut());
  }
}
