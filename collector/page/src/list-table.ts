// A table that scrolls, with a head that explains its columns.

import { element } from '@selfprof/views/dom.ts';

export interface Column {
  title: string;
  explanation: string;
  /** The CSS classes of its cells. */
  name?: string;
}

export function headOf(columns: readonly Column[]): HTMLElement[] {
  return columns.map(({ title, explanation, name }) =>
    element('th', { scope: 'col', class: name, title: explanation }, title),
  );
}

/** The CSS classes are those of the region that scrolls and of the table. */
export function scrollingTable(
  { label, region, table }: { label: string; region?: string; table?: string },
  head: readonly HTMLElement[],
  body: HTMLElement,
): HTMLElement {
  const classes = region === undefined ? 'scroll' : `scroll ${region}`;
  return element(
    'div',
    { class: classes, role: 'region', tabindex: '0', 'aria-label': label },
    element('table', { class: table }, element('thead', {}, element('tr', {}, ...head)), body),
  );
}
