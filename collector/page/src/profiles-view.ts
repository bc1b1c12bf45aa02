// Single profiles: the newest, the longest, or typical ones. Each opens in the timeline of the report.

import './profiles-view.css';

import { element } from '@selfprof/views/dom.ts';
import { formatCount, formatDuration } from '@selfprof/views/format.ts';

import type { Api, ProfileAnswer } from './api.ts';
import { type Column, headOf, scrollingTable } from './list-table.ts';
import { ORDERS, type Order, parametersOf, type Query } from './query.ts';
import type { Actions, Shown, View } from './view.ts';

const TITLES: Record<Order, string> = { newest: 'Newest', longest: 'Longest', median: 'Median' };

const COLUMNS: Column[] = [
  { title: 'Received', explanation: 'When the collector received it (UTC). Opens the profile.', name: 'time' },
  {
    title: 'Busy',
    explanation: 'Time in which something ran, in the samples that the filters select',
    name: 'number busy',
  },
  { title: 'Recorded', explanation: 'How long the profiler ran', name: 'number recorded' },
  { title: 'Samples', explanation: 'How many samples it has', name: 'number samples' },
  { title: 'Page', explanation: 'Page', name: 'page' },
  { title: 'Release', explanation: 'Release', name: 'release' },
  { title: 'Browser', explanation: 'Browser, and class of device', name: 'browser' },
  { title: 'Session', explanation: 'A hash of the session', name: 'session' },
];

const DAY = 86_400_000;

/** Where a profile is shown. The period contains its time, whatever the page’s period is. */
export function profileLink(app: string, { id, time }: ProfileAnswer): string {
  const day = (offset: number): string => new Date(Date.parse(time) + offset).toISOString().slice(0, 10);
  return `profiles/${encodeURIComponent(id)}?${new URLSearchParams({ app, from: day(0), to: day(DAY) })}`;
}

export function formatTime(time: string): string {
  return new Date(time).toLocaleString('en', {
    timeZone: 'UTC',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
}

export class ProfilesView implements View {
  readonly root = element('div', { class: 'profile-list' });
  readonly #orders = element('div', { class: 'orders', role: 'group', 'aria-label': 'Order' });
  readonly #about = element('p');
  readonly #body = element('tbody');
  readonly #change: Actions['change'];
  #profiles: ProfileAnswer[] = [];
  #query: Query | undefined;

  constructor({ change }: Actions) {
    this.#change = change;
    this.root.append(
      element('div', { class: 'toolbar' }, this.#orders, this.#about),
      scrollingTable({ label: 'Profiles' }, headOf(COLUMNS), this.#body),
    );
  }

  async load(api: Api, query: Query, signal: AbortSignal): Promise<Shown> {
    this.#profiles = await api.profiles(parametersOf(query), query.order, signal);
    this.#query = query;
    const { length } = this.#profiles;
    if (length === 0) return 'nothing';
    this.#orders.replaceChildren(
      ...ORDERS.map((order) =>
        element(
          'button',
          {
            type: 'button',
            class: 'button',
            'aria-pressed': String(order === query.order),
            click: () => this.#change({ order }),
          },
          TITLES[order],
        ),
      ),
    );
    this.#about.textContent = this.#describe(query.order);
    this.update(query);
    return { summary: `${formatCount(length)} profile${length === 1 ? '' : 's'} listed` };
  }

  #describe(order: Order): string {
    const { length } = this.#profiles;
    const count = length === 1 ? 'profile' : `${formatCount(length)} profiles`;
    const descriptions: Record<Order, string> = {
      newest: `The last ${count} that came in.`,
      longest: `The ${count} with the most busy time.`,
      median: `The ${count} whose busy time is nearest to the median, ${formatDuration(this.#profiles[0].busyTime)}.`,
    };
    return descriptions[order];
  }

  update({ search, order, app }: Query): void {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const most = Math.max(...this.#profiles.map(({ busyTime }) => busyTime));
    const rows = this.#profiles.flatMap((profile) => {
      const { page, release, browser, device, session } = profile;
      const text = [page, release, browser, device, session].join(' ').toLowerCase();
      if (!words.every((word) => text.includes(word))) return [];
      return [row(this.#query?.app ?? app, profile, most, order === 'median' && profile === this.#profiles[0])];
    });
    this.#body.replaceChildren(...rows);
  }

  applyTheme(): void {}

  hideTooltips(): void {}

  zoomOut(): boolean {
    return false;
  }
}

function row(app: string, profile: ProfileAnswer, most: number, isMedian: boolean): HTMLElement {
  const { time, busyTime, duration, samples, page, release, browser, device, session } = profile;
  const link = element('a', { href: profileLink(app, profile) }, formatTime(time));
  const cell = (name: string, text: string, title?: string): HTMLElement => element('td', { class: name, title }, text);
  const busy = cell('number busy', formatDuration(busyTime));
  busy.style.setProperty('--share', `${most > 0 ? (100 * busyTime) / most : 0}%`);
  const open = (event: MouseEvent): void => {
    if (event.target instanceof HTMLAnchorElement) return;
    if (event.ctrlKey || event.metaKey) window.open(link.href, '_blank', 'noopener');
    else link.click();
  };
  return element(
    'tr',
    { click: open, class: isMedian ? 'is-median' : undefined },
    element('td', { class: 'time' }, link, ...(isMedian ? [element('small', {}, ' median')] : [])),
    busy,
    cell('number recorded', formatDuration(duration)),
    cell('number samples', formatCount(samples)),
    cell('page', page || '–', page),
    cell('release', release || '–', release),
    cell('browser', [browser, device].filter(Boolean).join(', ') || '–'),
    cell('session', session.slice(0, 8), session),
  );
}
