// What all views have in common.

import type { Api } from './api.ts';
import type { Query } from './query.ts';

/** What a view tells the page. */
export interface Actions {
  /** Selects a function by name and location; an empty text selects none. */
  select(identity: string): void;
  /** Shows who calls a function, and what it calls. */
  open(identity: string): void;
  /** Shows something else. The change can be undone by the browser's Back button. */
  change(changes: Partial<Query>): void;
}

/** The result of loading a view: a summary of what was counted, or `'nothing'` if no profile matches. */
export type Shown = { summary: string } | 'nothing';

export interface View {
  readonly root: HTMLElement;
  /** Asks the collector, and shows the answer. */
  load(api: Api, query: Query, signal: AbortSignal): Promise<Shown>;
  /** Shows another search or another selected function of what was loaded. */
  update(query: Query): void;
  applyTheme(): void;
  hideTooltips(): void;
  /** Goes back to before the last zoom; false if there was none. */
  zoomOut(): boolean;
}
