// The dialog that explains keys, gestures, times and colors.

import { openHelpDialog, type Shortcut } from '@selfprof/views/help-dialog.ts';

export const HELP_TITLE = 'Keyboard shortcuts and gestures';

export function openHelp(viewCount: number): void {
  const shortcuts: Shortcut[] = [
    [`1 – ${viewCount}`, 'Switch view. On the tabs, ← and → do the same.'],
    ['i, p, n', 'Invert the call stacks of the left-heavy flame graph; group packages; fold functions of Node.js.'],
    ['h', 'Hide the package of the selected function. Its time counts for what called it.'],
    ['/', 'Search functions by name or location.'],
    ['Click', 'On a flame graph: select the function, and zoom into the box. A double click or Esc zooms out.'],
    ['Wheel, drag', 'On a flame graph: zoom, pan. On a touch screen: pinch, drag.'],
    ['↑ ↓ ← → Enter', 'On a flame graph: go to the caller, a callee or the next box; select it and zoom into it.'],
    ['+ − 0, Shift\u00a0+\u00a0arrow', 'On a flame graph: zoom in and out, reset the zoom, pan.'],
    ['Page up, page down', 'On a flame graph of several threads: go to another thread.'],
    ['Click a lane', 'Show one thread alone. ↑ and ↓ on the lanes do the same.'],
    [
      'Click a value',
      'Of a label: show only its samples. A second click or Esc shows all; ↑ and ↓ on the values do the same.',
    ],
    ['Drag the timeline', 'Select a time range for all views. On a touch screen, two fingers hold both ends.'],
    [
      'Click the timeline',
      'On a measure or mark: select its time. Elsewhere: clear the range, or select the function.',
    ],
    ['← →, Shift\u00a0+\u00a0←\u00a0→', 'On the timeline: move the selected range, or change its end.'],
    ['↑ ↓', 'On the timeline: select the previous or next mark or measure.'],
    ['↑ ↓ Enter', 'In the function table: select a function, show its callers and callees.'],
    ['Link', 'The address of the page restores the tab, thread, label, range, function, search and switches.'],
    [
      'Esc',
      'Zoom out, then clear the selected function, then the selected time range, then the selected value of a label.',
    ],
  ];
  openHelpDialog(
    HELP_TITLE,
    shortcuts,
    'Each sample accounts for the time since the previous sample. Self time is time in a function’s own code; total time ' +
      'includes the functions it called. Calls shorter than the sample interval may be missing. In a trace of calls, each interval is the time from one entry or exit to the next.',
    'A star after a name means that the function is anonymous, and that its name is inferred from its source, such as from ' +
      'what it is assigned to.',
    'Each file has a color, and each function a shade of it. Native functions are gray, and the selected function is yellow.',
  );
}
