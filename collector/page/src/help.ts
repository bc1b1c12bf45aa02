// The dialog that explains keys, times and certainty.

import { openHelpDialog, type Shortcut } from '@selfprof/views/help-dialog.ts';

export const HELP_TITLE = 'Keyboard shortcuts and terms';

export function openHelp(viewCount: number): void {
  const shortcuts: Shortcut[] = [
    [`1 – ${viewCount}`, 'Switch view.'],
    ['/', 'Search functions by name or file.'],
    ['f', 'Go to the condition among the filters.'],
    ['r', 'Reload from the collector.'],
    [
      '↑ ↓ Enter',
      'In the table of functions: select one; show its callers and callees. In other tables: choose a row.',
    ],
    ['Click', 'On a flame graph: select the function, and zoom into the box. A double click or Esc zooms out.'],
    ['↑ ↓ ← → Enter', 'On a flame graph: go to the caller, a callee or the next box; select it and zoom into it.'],
    [
      '+ − 0, Shift\u00a0+\u00a0arrow',
      'On a flame graph: zoom in and out, reset the zoom, pan. The wheel and two fingers zoom, too.',
    ],
    ['Esc', 'Zoom out, then clear the selected function.'],
    ['Link', 'The address of the page restores the view, the filters, the search and the function.'],
  ];
  openHelpDialog(
    HELP_TITLE,
    shortcuts,
    'Times are means of a session: the time of all counted profiles, divided by the number of their sessions. Self time is ' +
      'time in a function’s own code; total time includes the functions it called. Profiles that stand for several, because ' +
      'only some visits are profiled, count for all of them.',
    'A function is called slower or faster when two equal selections would show so clear a change of any function in less ' +
      'than 5% of comparisons (p). Sessions are compared, not samples: the samples of one session are alike.',
  );
}
