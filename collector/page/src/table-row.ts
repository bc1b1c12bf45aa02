// A row of a table that can be selected by mouse and by keys.

import { element } from '@selfprof/views/dom.ts';

export function selectableRow(
  { name, isSelected, toggle }: { name?: string; isSelected: boolean; toggle: () => void },
  ...cells: HTMLElement[]
): HTMLElement {
  return element(
    'tr',
    {
      class: name,
      tabindex: '0',
      'aria-selected': String(isSelected),
      click: toggle,
      keydown: (event: KeyboardEvent) => onKeyDown(event, toggle),
    },
    ...cells,
  );
}

function onKeyDown(event: KeyboardEvent, toggle: () => void): void {
  const row = event.currentTarget as HTMLElement;
  const steps: Record<string, Element | null> = {
    ArrowDown: row.nextElementSibling,
    ArrowUp: row.previousElementSibling,
  };
  if (event.key === 'Enter' || event.key === ' ') toggle();
  else if (event.key in steps) (steps[event.key] as HTMLElement | null)?.focus();
  else return;
  event.preventDefault();
}

/** Replaces the rows of a table. The selected one is visible, and has the focus if a row had it. */
export function replaceRows(body: HTMLElement, rows: readonly HTMLElement[]): void {
  const hadFocus = body.contains(document.activeElement);
  body.replaceChildren(...rows);
  const selected = body.querySelector<HTMLElement>('[aria-selected=true]');
  selected?.scrollIntoView({ block: 'nearest' });
  if (hadFocus) selected?.focus();
}
