// The dialog that explains keys and terms.

import { openDialog } from './dialog.ts';
import { element } from './dom.ts';

/** Keys or gestures, and what they do. */
export type Shortcut = [keys: string, action: string];

export function openHelpDialog(title: string, shortcuts: readonly Shortcut[], ...paragraphs: string[]): void {
  const rows = shortcuts.map(([keys, action]) =>
    element('tr', {}, element('th', { scope: 'row' }, keys), element('td', {}, action)),
  );
  openDialog(title, element('table', {}, ...rows), ...paragraphs.map((text) => element('p', {}, text)));
}
