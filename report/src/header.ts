// What is shown, what is looked for, and how it looks.

import { isDark } from './colors.ts';
import { element, fill } from './elements.ts';
import type { State } from './state.ts';
import { count, milliseconds, percent } from './words.ts';

export class Header {
  readonly root = element('header');
  readonly #state: State;
  readonly #summary = element('p', { class: 'summary' });
  readonly #found = element('span', { class: 'found', role: 'status' });
  readonly #search = element('input', { type: 'search', placeholder: 'Search functions and files', 'aria-label': 'Search functions', autocomplete: 'off', spellcheck: 'false' });

  constructor(state: State, generator: string) {
    this.#state = state;
    const names = state.profiles.map(({ name }, index) => element('option', { value: String(index) }, name));
    const choice = element('select', { 'aria-label': 'Trace' }, ...names);
    choice.addEventListener('change', () => state.show(Number(choice.value)));
    const title = state.profiles.length > 1 ? choice : element('h1', { title: state.profile.name }, state.profile.name);
    const theme = element('button', { type: 'button', class: 'icon', title: 'Light or dark', 'aria-label': 'Light or dark', click: () => this.#switchTheme() }, '◐');
    const help = element('button', { type: 'button', class: 'icon', title: 'Keys and fingers (?)', 'aria-label': 'Keys and fingers', click: () => this.help() }, '?');
    this.#search.addEventListener('input', () => (state.search = this.#search.value));
    this.root.append(element('div', { class: 'title' }, element('span', { class: 'brand', title: generator }, 'selfprof'), title), this.#summary, element('div', { class: 'search' }, this.#search, this.#found), element('div', { class: 'icons' }, theme, help));
    state.onChange((change) => {
      if (change === 'trace' || change === 'range') this.update();
      if (change === 'trace' || change === 'range' || change === 'search') this.#tellFound();
    });
    this.update();
  }

  update(): void {
    const { profile, sums, range, hasSelection } = this.#state;
    const length = range.end - range.start;
    const parts = [`${milliseconds(length)}${hasSelection ? ' selected' : ''}`, `${count(sums.samples)} samples`, `${milliseconds(sums.busy)} busy`];
    if (profile.interval !== null) parts.push(`every ${milliseconds(profile.interval)}`);
    const all = element('button', { type: 'button', class: 'link', click: () => this.#state.select(undefined) }, 'show all');
    const { notes } = profile;
    const more = notes.length > 1 ? ` (+${notes.length - 1})` : '';
    const noted = element('button', { type: 'button', class: 'link notes', 'aria-haspopup': 'dialog', click: () => this.#tellNotes() }, `⚠ ${notes[0]}${more}`);
    fill(this.#summary, element('span', {}, parts.join(' · ')), ...(hasSelection ? [all] : []), ...(notes.length > 0 ? [noted] : []));
  }

  #tellNotes(): void {
    const { name, notes } = this.#state.profile;
    openDialog(`Notes on ${name}`, element('ul', {}, ...notes.map((note) => element('li', {}, note))));
  }

  /** How much of what is shown is what is looked for. */
  #tellFound(): void {
    const { matches, sums } = this.#state;
    let functions = 0;
    let self = 0;
    for (const [frame, isMatch] of matches?.entries() ?? []) {
      if (isMatch === 0 || sums.total[frame] === 0) continue;
      functions += 1;
      self += sums.self[frame];
    }
    fill(this.#found, matches === undefined ? '' : functions === 0 ? 'none' : `${count(functions)}, self ${percent(self, sums.busy)}`);
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  #switchTheme(): void {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    this.#state.themeChanged();
  }

  help(): void {
    const keys: [string, string][] = [
      [`1 – ${this.#state.profiles.length > 1 ? 5 : 4}`, 'choose a view; ← → when a tab has the focus'],
      ['/', 'search functions by name or file'],
      ['← → + − 0', 'move and zoom a flame graph that has the focus; 0 shows all'],
      ['wheel, drag', 'zoom and move a flame graph; with fingers: pinch and drag'],
      ['drag the timeline', 'select a stretch of time: all views follow; two fingers hold both ends'],
      ['click a measure', 'select its time; a click elsewhere lets go of it, or chooses what ran then'],
      ['← → Shift ← →', 'move or widen the selection when the timeline has the focus'],
      ['↑ ↓', 'select one mark or measure after the other when the timeline has the focus'],
      ['↑ ↓ Enter', 'choose in the table, and show callers and callees'],
      ['Esc', 'let go of the chosen function, then of the selection'],
    ];
    const rows = keys.map(([key, meaning]) => element('tr', {}, element('th', { scope: 'row' }, key), element('td', {}, meaning)));
    const explanation = 'A sample stands for the time since the one before it. Self is a function’s own time, total includes what it called; what is shown of a call is what samples saw of it.';
    const colors = 'Each file has a colour, each function in it a shade; what has no file is grey. The chosen function is yellow.';
    openDialog('Keys and fingers', element('table', {}, ...rows), element('p', {}, explanation), element('p', {}, colors));
  }
}

function openDialog(title: string, ...content: HTMLElement[]): void {
  const close = element('form', { method: 'dialog' }, element('button', { class: 'button' }, 'Close'));
  const dialog = element('dialog', { 'aria-labelledby': 'dialog-title' }, element('h2', { id: 'dialog-title' }, title), ...content, close);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
