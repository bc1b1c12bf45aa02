// The functions of slow spans beside those of the others.

import { element } from '@selfprof/views/dom.ts';
import { formatDuration, shortLocation } from '@selfprof/views/format.ts';

import type { SlowSpansAnswer } from './api.ts';
import { displayName, formatChange, keyOf } from './change-table.ts';
import { type Column, headOf, scrollingTable } from './list-table.ts';
import { replaceRows, selectableRow } from './table-row.ts';

export type SpanFunction = SlowSpansAnswer['functions'][number];

const COLUMNS: Column[] = [
  { title: 'Function', explanation: 'Name of the function', name: 'name' },
  { title: 'More in a slow one', explanation: 'Difference of the two mean self times', name: 'number' },
  { title: 'Slow tenth', explanation: 'Mean self time in a span of the slow tenth', name: 'number' },
  { title: 'The others', explanation: 'Mean self time in another span', name: 'number' },
  { title: 'Location', explanation: 'File of the function', name: 'location' },
];

export function moreIn({ slow, rest }: SpanFunction): number {
  return slow.selfTime - rest.selfTime;
}

export class SpanFunctions {
  readonly root: HTMLElement;
  readonly #body = element('tbody');
  readonly #onSelect: (key: string) => void;

  constructor(onSelect: (key: string) => void) {
    this.#onSelect = onSelect;
    const names = { label: 'Functions in slow spans and in the others', table: 'span-functions' };
    this.root = scrollingTable(names, headOf(COLUMNS), this.#body);
  }

  show(functions: readonly SpanFunction[], selected: string): void {
    replaceRows(
      this.#body,
      functions.map((one) => this.#row(one, keyOf(one) === selected)),
    );
  }

  #row(one: SpanFunction, isSelected: boolean): HTMLElement {
    const { slow, rest, resource } = one;
    const cell = (name: string, text: string, title?: string): HTMLElement =>
      element('td', { class: name, title }, text);
    const name = displayName(one);
    const toggle = (): void => this.#onSelect(isSelected ? '' : keyOf(one));
    return selectableRow(
      { isSelected, toggle },
      cell('name', name, name),
      cell('number', formatChange(moreIn(one))),
      cell('number', formatDuration(slow.selfTime)),
      cell('number', formatDuration(rest.selfTime)),
      cell('location', resource === null ? '(native)' : shortLocation(resource), resource ?? undefined),
    );
  }
}
