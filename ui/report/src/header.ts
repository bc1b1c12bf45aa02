// The header: the trace and its figures, the search, and buttons.

import './header.css';

import { openDialog } from '@selfprof/views/dialog.ts';
import { element } from '@selfprof/views/dom.ts';
import { formatCount, formatDuration, formatPercent, formatSamples } from '@selfprof/views/format.ts';
import { searchInput } from '@selfprof/views/search-input.ts';
import { toggleTheme } from '@selfprof/views/theme.ts';

import { HELP_TITLE } from './help.ts';
import { ALL_THREADS, type State } from './state.ts';

export class Header {
  readonly root = element('header');
  readonly #state: State;
  readonly #summary = element('p', { class: 'summary' });
  readonly #threads = element('select', {
    'aria-label': 'Thread',
    change: () => this.#state.selectThread(Number(this.#threads.value)),
  });
  readonly #matchCount = element('span', { class: 'match-count', role: 'status' });
  readonly #search = searchInput();

  constructor(state: State, generator: string, openHelp: () => void, back?: HTMLElement) {
    this.#state = state;
    this.#search.addEventListener('input', () => {
      state.search = this.#search.value;
    });
    const toggle = (): void => {
      toggleTheme();
      state.themeChanged();
    };
    this.root.append(
      element(
        'div',
        { class: 'title' },
        back ?? element('span', { class: 'brand', title: generator }, 'selfprof'),
        this.#traceTitle(),
        this.#threads,
      ),
      this.#summary,
      element('div', { class: 'search' }, this.#search, this.#matchCount),
      element(
        'div',
        { class: 'icons' },
        iconButton('◐', 'Toggle light and dark theme', toggle),
        iconButton('?', HELP_TITLE, openHelp, ' (?)'),
      ),
    );
    state.onChange((change) => {
      const hasNewTotals = ['profile', 'grouping', 'thread', 'label', 'range'].includes(change);
      if (hasNewTotals) this.#updateSummary();
      if (hasNewTotals || change === 'search') this.#updateMatchCount();
      if (change === 'search' && this.#search.value !== state.search) this.#search.value = state.search;
      if (change === 'profile') this.#listThreads();
      if (change === 'thread') this.#threads.value = String(state.selectedThread);
    });
    this.#listThreads();
    this.#updateSummary();
  }

  /** The name of the trace; with several traces, a drop-down list. */
  #traceTitle(): HTMLElement {
    const { profiles, profile } = this.#state;
    if (profiles.length === 1) return element('h1', { title: profile.name }, profile.name);
    const options = profiles.map(({ name }, index) => element('option', { value: String(index) }, name));
    const select = element('select', { 'aria-label': 'Trace' }, ...options);
    select.addEventListener('change', () => this.#state.selectProfile(Number(select.value)));
    this.#state.onChange((change) => {
      if (change === 'profile') select.value = String(this.#state.profileIndex);
    });
    return select;
  }

  #listThreads(): void {
    const { profile, lanes, selectedThread } = this.#state;
    this.#threads.hidden = lanes.length === 0;
    const options = [ALL_THREADS, ...lanes].map((index) =>
      element('option', { value: String(index) }, index === ALL_THREADS ? 'All threads' : profile.threads[index].label),
    );
    this.#threads.replaceChildren(...options);
    this.#threads.value = String(selectedThread);
  }

  #updateSummary(): void {
    const { profile, threads, totals, range, hasSelectedRange } = this.#state;
    const duration = formatDuration(range.end - range.start);
    const figures = [
      `${duration}${hasSelectedRange ? ' selected' : ''}`,
      formatSamples(totals),
      `${formatDuration(totals.busy)} busy`,
    ];
    const [{ interval } = { interval: null }] = threads;
    if (threads.length > 1) figures.unshift(`${formatCount(threads.length)} threads`);
    else if (interval !== null && totals.counted === 'sample') figures.push(`${formatDuration(interval)} interval`);
    const clear = element(
      'button',
      { type: 'button', class: 'link', click: () => this.#state.selectRange(undefined) },
      'Clear range',
    );
    const { notes } = profile;
    const more = notes.length > 1 ? ` (+${notes.length - 1})` : '';
    const noteButton = element(
      'button',
      { type: 'button', class: 'link notes', 'aria-haspopup': 'dialog', click: () => this.#openNotes() },
      `⚠ ${notes[0]}${more}`,
    );
    this.#summary.replaceChildren(
      element('span', {}, figures.join(' · ')),
      ...(hasSelectedRange ? [clear] : []),
      ...(notes.length > 0 ? [noteButton] : []),
    );
  }

  #openNotes(): void {
    const { name, notes } = this.#state.profile;
    openDialog(`Notes on ${name}`, element('ul', {}, ...notes.map((note) => element('li', {}, note))));
  }

  /** Shows how many functions match the search, and their share of the busy time. */
  #updateMatchCount(): void {
    const { matches, totals } = this.#state;
    let functions = 0;
    let self = 0;
    for (const [frame, isMatch] of matches?.entries() ?? []) {
      if (isMatch === 0 || totals.total[frame] === 0) continue;
      functions += 1;
      self += totals.self[frame];
    }
    const share = formatPercent(self, totals.busy);
    this.#matchCount.textContent =
      matches === undefined ? '' : functions === 0 ? 'no matches' : `${formatCount(functions)} · ${share} self`;
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }
}

function iconButton(icon: string, label: string, click: () => void, shortcut = ''): HTMLElement {
  const title = label + shortcut;
  return element('button', { type: 'button', class: 'icon', title, 'aria-label': label, click }, icon);
}
