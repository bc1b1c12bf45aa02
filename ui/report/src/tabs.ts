// Tabs and their panels. https://www.w3.org/WAI/ARIA/apg/patterns/tabs/

import { element } from '@selfprof/views/dom.ts';

import type { State, View } from './state.ts';

export interface Tab {
  view: View;
  title: string;
  panel: HTMLElement;
}

export class Tabs {
  readonly root = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' });
  readonly #state: State;
  readonly #tabs: (Tab & { button: HTMLElement })[];

  constructor(state: State, tabs: Tab[]) {
    this.#state = state;
    this.#tabs = tabs.map((tab, index) => ({ ...tab, button: this.#button(tab, index) }));
    for (const { view, panel, button } of this.#tabs) {
      panel.id = `view-${view}`;
      panel.setAttribute('role', 'tabpanel');
      panel.setAttribute('aria-labelledby', button.id);
      this.root.append(button);
    }
    this.root.addEventListener('keydown', (event) => this.#onKeyDown(event));
  }

  #button({ view, title }: Tab, index: number): HTMLElement {
    const show = (): void => {
      this.#state.view = view;
    };
    return element(
      'button',
      {
        type: 'button',
        id: `tab-${view}`,
        role: 'tab',
        'aria-controls': `view-${view}`,
        title: `${title} (${index + 1})`,
        click: show,
      },
      title,
    );
  }

  get views(): readonly View[] {
    return this.#tabs.map(({ view }) => view);
  }

  get count(): number {
    return this.#tabs.length;
  }

  /** The view of the tab with a number, from 1. */
  viewAt(number: number): View | undefined {
    return this.#tabs[number - 1]?.view;
  }

  /** Shows the panel of the current view. */
  update(): void {
    for (const { view, panel, button } of this.#tabs) {
      const isShown = view === this.#state.view;
      panel.hidden = !isShown;
      button.setAttribute('aria-selected', String(isShown));
      button.tabIndex = isShown ? 0 : -1;
      if (isShown) this.#scrollTo(button);
    }
  }

  /** Unlike `scrollIntoView`, this does not move the point from which Tab continues. */
  #scrollTo(button: HTMLElement): void {
    const list = this.root.getBoundingClientRect();
    const tab = button.getBoundingClientRect();
    if (tab.left < list.left) this.root.scrollLeft -= list.left - tab.left;
    else if (tab.right > list.right) this.root.scrollLeft += tab.right - list.right;
  }

  #onKeyDown(event: KeyboardEvent): void {
    const current = this.#tabs.findIndex(({ view }) => view === this.#state.view);
    const targets: Record<string, number> = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: -1 };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const tab = this.#tabs.at(target % this.#tabs.length);
    if (tab === undefined) return;
    this.#state.view = tab.view;
    tab.button.focus();
  }
}
