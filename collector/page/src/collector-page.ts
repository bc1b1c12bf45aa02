// The page: header, filters, tabs, and a view or what is shown in its place.

import '@selfprof/views/theme.css';
import '@selfprof/views/controls.css';
import '@selfprof/views/tabs.css';
import '@selfprof/views/page-frame.css';
import './page.css';

import { element } from '@selfprof/views/dom.ts';
import { searchInput } from '@selfprof/views/search-input.ts';
import { toggleTheme } from '@selfprof/views/theme.ts';

import { AlertBanner } from './alert-banner.ts';
import { Api, ApiError } from './api.ts';
import { CoverageFigure } from './coverage-figure.ts';
import { CompareView } from './compare-view.ts';
import { FilterBar } from './filter-bar.ts';
import { CallersView, FlameGraphView, FunctionsView } from './function-views.ts';
import { HELP_TITLE, openHelp } from './help.ts';
import { ProfilesView } from './profiles-view.ts';
import {
  COLUMNS,
  DEFAULT_FROM,
  linkOf,
  parametersOf,
  periodOf,
  type Query,
  readQuery,
  VIEWS,
  type View as ViewName,
} from './query.ts';
import { failure, noApp, noMatch, noProfiles, tokenForm } from './states.ts';
import { SpansView } from './spans-view.ts';
import type { Actions, View } from './view.ts';

const TITLES: Record<ViewName, string> = {
  functions: 'Functions',
  flamegraph: 'Flame graph',
  callers: 'Callers and callees',
  spans: 'Spans',
  profiles: 'Profiles',
  compare: 'Compare releases',
};

const DESCRIPTIONS: Record<ViewName, string> = {
  functions: 'What is slow now: functions by self time, as means of a session.',
  flamegraph: 'Equal stacks of all sessions merged, heaviest first. Width is total time.',
  callers: 'The callers and callees of the selected function.',
  spans: 'How long measures, long tasks and slow interactions are, and what runs in the slow ones.',
  profiles: 'Single profiles. Each opens as a timeline.',
  compare: 'What got slower or faster from base to new, with confidence intervals.',
};

/** How long the page waits before it looks for the first profile again, in milliseconds. */
const LOOK_AGAIN = 3_000;
/** While someone types. */
const SEARCH_DELAY = 150;

export class CollectorPage {
  readonly #api = new Api();
  #query = readQuery(location.search);
  #apps: string[] = [];
  readonly #views: Record<ViewName, View>;
  readonly #filters = new FilterBar((changes) => this.#change(changes));
  readonly #alerts = new AlertBanner((changes) => this.#change(changes));
  readonly #coverage = new CoverageFigure();
  readonly #appSelect = element('select', { 'aria-label': 'Application', hidden: true });
  readonly #summary = element('p', { class: 'summary', role: 'status' });
  readonly #search = searchInput();
  readonly #tabs = element('div', { class: 'tabs' });
  readonly #description = element('p', { class: 'view-description' });
  readonly #nav = element('nav', { 'aria-label': 'Views' }, this.#tabs, this.#description);
  readonly #place = element('div', { class: 'views' });
  readonly #main = element('main', {}, this.#place);
  #loading = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(container: Element) {
    const actions: Actions = {
      select: (selected) => this.#replace({ selected: selected === this.#query.selected ? '' : selected }),
      open: (selected) => this.#change({ view: 'callers', selected }),
      change: (changes) => this.#change(changes),
    };
    this.#views = {
      functions: new FunctionsView(actions),
      flamegraph: new FlameGraphView(actions),
      callers: new CallersView(actions),
      spans: new SpansView(actions),
      profiles: new ProfilesView(actions),
      compare: new CompareView(actions),
    };
    this.#appSelect.addEventListener('change', () => {
      this.#change({ app: this.#appSelect.value, values: {}, base: '', new: '', selected: '' });
    });
    let typing: ReturnType<typeof setTimeout> | undefined;
    this.#search.addEventListener('input', () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.#replace({ search: this.#search.value }), SEARCH_DELAY);
    });
    container.replaceChildren(this.#header(), this.#alerts.root, this.#filters.root, this.#nav, this.#main);
    addEventListener('popstate', () => {
      this.#query = readQuery(location.search);
      this.#search.value = this.#query.search;
      void this.#load();
    });
    document.addEventListener('keydown', (event) => this.#onKeyDown(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#applyTheme());
    void this.#load();
  }

  #header(): HTMLElement {
    const icon = (text: string, label: string, click: () => void): HTMLElement =>
      element('button', { type: 'button', class: 'icon', title: label, 'aria-label': label, click }, text);
    const theme = (): void => {
      toggleTheme();
      this.#applyTheme();
    };
    return element(
      'header',
      {},
      element('h1', { class: 'brand' }, 'selfprof collector'),
      this.#appSelect,
      this.#summary,
      this.#coverage.root,
      this.#search,
      element(
        'div',
        { class: 'icons' },
        icon('↻', 'Ask again (r)', () => this.#askAgain()),
        icon('◐', 'Toggle light and dark theme', theme),
        icon('?', `${HELP_TITLE} (?)`, () => openHelp(VIEWS.length)),
      ),
    );
  }

  get #view(): View {
    return this.#views[this.#query.view];
  }

  /** Shows something else, as a new entry of the browser's history. */
  #change(changes: Partial<Query>): void {
    this.#query = { ...this.#query, ...changes };
    history.pushState(null, '', linkOf(this.#query));
    void this.#load();
  }

  /** Changes what the loaded view shows. */
  #replace(changes: Partial<Query>): void {
    this.#query = { ...this.#query, ...changes };
    this.#replaceLink();
    this.#view.update(this.#query);
  }

  #replaceLink(): void {
    try {
      history.replaceState(null, '', linkOf(this.#query));
    } catch {
      // The browser limits how often. The next change succeeds.
    }
    this.#showTabs();
  }

  #askAgain(): void {
    this.#api.forget();
    void this.#load();
  }

  #applyTheme(): void {
    for (const view of Object.values(this.#views)) view.applyTheme();
  }

  /** Asks for what the URL says, and shows it. A later call ends an earlier one. */
  async #load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    this.#showControls();
    this.#view.hideTooltips();
    this.#main.setAttribute('aria-busy', 'true');
    try {
      if (!(await this.#findApp(signal))) return;
      this.#showControls();
      void this.#offerValues(signal);
      void this.#showAlerts(signal);
      void this.#showCoverage(signal);
      const view = this.#view;
      // The view has a size before it draws.
      const isShown = this.#place.firstElementChild === view.root;
      if (!isShown) {
        this.#summary.textContent = '';
        this.#place.replaceChildren(
          view.root,
          element('p', { class: 'progress', role: 'status' }, 'Adding up samples…'),
        );
      }
      const shown = await view.load(this.#api, this.#query, signal);
      if (signal.aborted) return;
      if (shown === 'nothing') this.#showNoMatch();
      else this.#place.replaceChildren(view.root);
      this.#summary.textContent = shown === 'nothing' ? '' : shown.summary;
      performance.mark('selfprof-shown');
    } catch (error) {
      if (!signal.aborted) this.#showFailure(error);
    } finally {
      if (!signal.aborted) this.#main.removeAttribute('aria-busy');
    }
  }

  /** Whether there is an application to show. Otherwise, the page says what to do. */
  async #findApp(signal: AbortSignal): Promise<boolean> {
    this.#apps = await this.#api.apps(signal);
    const [first] = this.#apps;
    const { app } = this.#query;
    if (first === undefined) {
      const url = new URL('.', location.href).href.split('?')[0];
      if (this.#place.querySelector('.script') === null) this.#showState(noProfiles(url, this.#api.hasToken));
      this.#timer = setTimeout(() => this.#askAgain(), LOOK_AGAIN);
      return false;
    }
    if (app === '') {
      this.#query = { ...this.#query, app: first };
      this.#replaceLink();
    } else if (!this.#apps.includes(app)) {
      this.#showState(noApp(app, this.#apps, (other) => this.#change({ app: other })));
      return false;
    }
    return true;
  }

  async #showAlerts(signal: AbortSignal): Promise<void> {
    // The view says what failed.
    const answer = await this.#api.alerts(this.#query.app, signal).catch(() => undefined);
    if (signal.aborted) return;
    if (answer === undefined) this.#alerts.hide();
    else this.#alerts.show(answer, this.#query);
  }

  async #showCoverage(signal: AbortSignal): Promise<void> {
    // The view says what failed.
    const answer = await this.#api.coverage(periodOf(this.#query), signal).catch(() => undefined);
    if (signal.aborted) return;
    if (answer === undefined) this.#coverage.hide();
    else this.#coverage.show(answer);
  }

  async #offerValues(signal: AbortSignal): Promise<void> {
    const offers = COLUMNS.map(async (column) => {
      this.#filters.offer(column, await this.#api.values({ ...periodOf(this.#query), column }, signal));
    });
    // The view says what failed.
    await Promise.allSettled(offers);
  }

  #showState(state: HTMLElement): void {
    this.#summary.textContent = '';
    this.#place.replaceChildren(state);
  }

  #showNoMatch(): void {
    const { where } = parametersOf(this.#query);
    const clear = where === undefined ? undefined : () => this.#clearFilters();
    const widen = this.#query.from === '-90d' ? undefined : () => this.#change({ from: '-90d', to: '' });
    this.#showState(noMatch({ clear, widen }));
  }

  #clearFilters(): void {
    this.#change({ values: {}, where: '', base: '', new: '' });
  }

  #showFailure(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) {
      const form = tokenForm(this.#api.hasToken, (token) => {
        this.#api.setToken(token);
        this.#askAgain();
      });
      this.#showState(form);
      return;
    }
    this.#showState(
      failure(
        error,
        () => this.#askAgain(),
        // The period may be what is wrong.
        () => this.#change({ values: {}, where: '', base: '', new: '', from: DEFAULT_FROM, to: '' }),
      ),
    );
  }

  #showControls(): void {
    const { app, search } = this.#query;
    const hasApps = this.#apps.length > 0;
    const known = app === '' || this.#apps.includes(app) ? this.#apps : [app, ...this.#apps];
    this.#appSelect.replaceChildren(...known.map((name) => element('option', { value: name }, name)));
    this.#appSelect.value = app;
    for (const part of [this.#appSelect, this.#search, this.#filters.root, this.#nav]) part.hidden = !hasApps;
    if (document.activeElement !== this.#search) this.#search.value = search;
    document.title = app === '' ? 'selfprof collector' : `${TITLES[this.#query.view]} · ${app} – selfprof collector`;
    this.#filters.show(this.#query);
    this.#showTabs();
  }

  /** The tabs are links, so that a view can be opened in another window. */
  #showTabs(): void {
    const focused = this.#tabs.contains(document.activeElement);
    const links = VIEWS.map((view, index) => {
      const click = (event: MouseEvent): void => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.#change({ view });
      };
      const isCurrent = view === this.#query.view;
      return element(
        'a',
        {
          href: linkOf({ ...this.#query, view }),
          title: `${DESCRIPTIONS[view]} (${index + 1})`,
          'aria-current': isCurrent ? 'page' : undefined,
          click,
        },
        TITLES[view],
      );
    });
    this.#tabs.replaceChildren(...links);
    const current = links[VIEWS.indexOf(this.#query.view)];
    if (focused) current.focus();
    else if (current.offsetLeft + current.offsetWidth > this.#tabs.clientWidth)
      this.#tabs.scrollLeft = current.offsetLeft;
    this.#description.textContent = DESCRIPTIONS[this.#query.view];
  }

  #onKeyDown(event: KeyboardEvent): void {
    const { target } = event;
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog') !== null) return;
    if (isTyping) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    const view = VIEWS[Number(event.key) - 1];
    const actions: Record<string, () => void> = {
      '/': () => {
        this.#search.focus();
        this.#search.select();
      },
      f: () => this.#filters.focusCondition(),
      r: () => this.#askAgain(),
      '?': () => openHelp(VIEWS.length),
      Escape: () => this.#escape(),
    };
    const action = view === undefined ? actions[event.key] : () => this.#change({ view });
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  #escape(): void {
    if (!this.#view.zoomOut() && this.#query.selected !== '') this.#replace({ selected: '' });
  }
}
