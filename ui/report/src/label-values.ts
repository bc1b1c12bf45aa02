// The values of a label below the lanes. A click shows only the samples with a value in all views.

import './label-values.css';

import { element } from '@selfprof/views/dom.ts';
import { formatDuration, formatPercent } from '@selfprof/views/format.ts';
import type { LabelTotal, LabelValue } from '@selfprof/views/sample-labels.ts';

import type { State } from './state.ts';

/** Values are listed up to this number, those with the most time. */
const MAX_LISTED = 200;

export class LabelValues {
  readonly root = element('div', { class: 'label-values' });
  readonly #state: State;
  readonly #names = element('select', {
    'aria-label': 'Label',
    change: () => this.#state.selectLabel(this.#names.value === '' ? undefined : this.#names.value.slice(1)),
  });
  readonly #list = element('div', { class: 'values', role: 'listbox', tabindex: '0' });
  /** The values in the order of the options; the first stands for all samples. */
  #values: (LabelValue | undefined)[] = [];

  constructor(state: State) {
    this.#state = state;
    this.root.append(this.#names, this.#list);
    this.#list.addEventListener('click', (event) => this.#onClick(event));
    this.#list.addEventListener('keydown', (event) => this.#onKeyDown(event));
    state.onChange((change) => {
      if (change === 'profile') this.#listNames();
      if (['profile', 'label', 'thread', 'range'].includes(change)) this.#listValues();
    });
    this.#listNames();
    this.#listValues();
  }

  #listNames(): void {
    const { labelNames } = this.#state;
    this.root.hidden = labelNames.length === 0;
    // A name may be empty.
    const options = labelNames.map((name) => element('option', { value: `=${name}` }, name));
    this.#names.replaceChildren(element('option', { value: '' }, 'Labels…'), ...options);
  }

  #listValues(): void {
    const { labelName, labelValue, labelTotals } = this.#state;
    this.#names.value = labelName === undefined ? '' : `=${labelName}`;
    this.#list.hidden = labelName === undefined;
    if (labelName === undefined) return;
    const busy = labelTotals.reduce((sum, { time }) => sum + time, 0);
    const listed = labelTotals.slice(0, MAX_LISTED);
    // The selected value stays, even if it has no time in the selected range.
    if (labelValue !== undefined && !listed.some(({ value }) => value === labelValue))
      listed.push(labelTotals.find(({ value }) => value === labelValue) ?? { value: labelValue, time: 0 });
    this.#values = [undefined, ...listed.map(({ value }) => value)];
    const rows = [{ value: undefined, time: busy }, ...listed].map((total, index) => this.#row(total, index, busy));
    const unlisted = labelTotals.length - Math.min(labelTotals.length, listed.length);
    const rest = element(
      'div',
      { class: 'lane-rest', role: 'presentation' },
      `${unlisted} more values, with less time`,
    );
    this.#list.setAttribute('aria-label', `Values of ${labelName}. Up and down arrow keys show the samples of one.`);
    this.#list.replaceChildren(...rows, ...(unlisted > 0 ? [rest] : []));
    const selected = this.#values.indexOf(labelValue);
    this.#list.setAttribute('aria-activedescendant', `label-value-${selected}`);
    rows[selected]?.scrollIntoView({ block: 'nearest' });
  }

  #row(
    { value, time }: Omit<LabelTotal, 'value'> & { value: LabelValue | undefined },
    index: number,
    busy: number,
  ): HTMLElement {
    const name = value === undefined ? 'All' : value === null ? '(none)' : value === '' ? '(empty)' : value;
    const isSelected = value === this.#state.labelValue;
    return element(
      'div',
      { class: 'value', role: 'option', id: `label-value-${index}`, 'aria-selected': String(isSelected), title: name },
      element('span', {}, name),
      element('span', {}, formatDuration(time)),
      element('span', {}, formatPercent(time, busy)),
    );
  }

  #onClick({ target }: MouseEvent): void {
    const row = target instanceof Element ? target.closest('.value') : null;
    if (row === null) return;
    const { labelName, labelValue } = this.#state;
    const value = this.#values[[...this.#list.children].indexOf(row)];
    this.#state.selectLabel(labelName, value === labelValue ? undefined : value);
  }

  #onKeyDown(event: KeyboardEvent): void {
    const at = this.#values.indexOf(this.#state.labelValue);
    const last = this.#values.length - 1;
    const targets: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.#state.selectLabel(this.#state.labelName, this.#values[Math.max(0, Math.min(last, target))]);
  }
}
