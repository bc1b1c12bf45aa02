// The two sides of a comparison: drop-down lists of releases, or any conditions.

import { element } from '@selfprof/views/dom.ts';

import type { ColumnValue } from './api.ts';
import { condition, releaseIn } from './query.ts';

const OTHER = 'Other condition…';

/** The releases, the newest first: one is as old as its first profile. */
export function newestFirst(releases: readonly ColumnValue[]): string[] {
  return [...releases]
    .sort((a, b) => b.firstSeen - a.firstSeen || b.value.localeCompare(a.value, 'en', { numeric: true }))
    .map(({ value }) => value);
}

/** A side in words. */
export function nameOf(text: string): string {
  const release = releaseIn(text);
  return release === undefined ? text : release === '' ? 'no release' : release;
}

export class Side {
  readonly root: HTMLElement;
  readonly #onChange: (condition: string) => void;
  readonly #select = element('select', { change: () => this.#choose() });
  readonly #input = element('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: "release = '1.4' and device = 'phone'",
    change: () => this.#type(),
  });
  #condition = '';

  constructor(name: string, onChange: (condition: string) => void) {
    this.#onChange = onChange;
    this.#input.setAttribute('aria-label', `Condition of ${name.toLowerCase()}`);
    this.root = element('div', { class: 'side' }, element('label', {}, name, this.#select), this.#input);
  }

  show(text: string, releases: readonly string[]): void {
    this.#condition = text;
    const release = releaseIn(text);
    const shown = release === undefined || releases.includes(release) ? releases : [release, ...releases];
    this.#select.replaceChildren(
      ...shown.map((value) => element('option', { value: `=${value}` }, value === '' ? '(no release)' : value)),
      element('option', { value: '' }, OTHER),
    );
    this.#select.value = release === undefined ? '' : `=${release}`;
    this.#input.value = text;
    this.#input.hidden = release !== undefined;
  }

  #choose(): void {
    const { value } = this.#select;
    this.#input.hidden = value !== '';
    if (value !== '') this.#onChange(condition('release', value.slice(1)));
    else this.#input.focus();
  }

  #type(): void {
    const text = this.#input.value.trim();
    if (text !== '' && text !== this.#condition) this.#onChange(text);
  }
}
