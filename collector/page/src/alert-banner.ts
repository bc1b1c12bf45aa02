// Regressions that the collector has found, above the views.

import './alert-banner.css';

import { element } from '@selfprof/views/dom.ts';
import { shortLocation } from '@selfprof/views/format.ts';

import type { AlertAnswer, AlertsAnswer } from './api.ts';
import { displayName, formatChange, formatInterval, formatProbability } from './change-table.ts';
import { condition, linkOf, type Query } from './query.ts';

/** Older ones are history, in milliseconds. */
const MAX_AGE = 30 * 86_400_000;
/** The period in which the collector compares releases. */
const FROM = '-30d';

export class AlertBanner {
  readonly root = element('details', { class: 'alerts', hidden: true });
  readonly #change: (changes: Partial<Query>) => void;

  constructor(change: (changes: Partial<Query>) => void) {
    this.#change = change;
  }

  show({ alerts, waiting }: AlertsAnswer, query: Query): void {
    const recent = merged(alerts.filter(({ time }) => time > Date.now() - MAX_AGE));
    this.root.hidden = recent.length + waiting.length === 0;
    this.root.classList.toggle('is-waiting', recent.length === 0);
    const [first] = recent;
    const [unready] = waiting;
    const title = element('summary', {});
    if (first !== undefined) {
      const more = recent.length - 1;
      const rest = more === 0 ? '' : ` And ${more} more.`;
      title.append('⚠ ', element('strong', {}, displayName(first)), ` is slower in ${inReleases(first)}.${rest}`);
    } else if (unready !== undefined)
      title.append(`Release ${unready.release} is not compared with ${unready.base} yet.`);
    this.root.replaceChildren(
      title,
      element(
        'ul',
        {},
        ...recent.map((alert) => this.#alert(alert, query)),
        ...waiting.map(({ release, base, reason }) =>
          element(
            'li',
            {},
            `Release ${release} is not compared with ${base}: ${reason}. Upload its maps by `,
            element('code', {}, 'selfprof-collector maps upload'),
            '.',
          ),
        ),
      ),
    );
  }

  hide(): void {
    this.root.hidden = true;
  }

  #alert(alert: AlertAnswer, query: Query): HTMLElement {
    const { pages, resource } = alert;
    const file = resource === null ? '' : ` (${shortLocation(resource)})`;
    const found = new Date(alert.time).toLocaleDateString('en', { month: 'short', day: 'numeric' });
    const links = pages.map((page) => {
      const { difference, differenceInterval, probability } = page;
      const interval = differenceInterval === null ? '' : `, 95% interval ${formatInterval(differenceInterval)}`;
      const explanation = `${formatChange(difference)} per session${interval}, p ${formatProbability(probability)}`;
      return element('li', {}, this.#link(alert, page.page, query), ` ${explanation}`);
    });
    return element(
      'li',
      {},
      element('strong', {}, displayName(alert)),
      `${file} is slower in ${inReleases(alert)}, found on ${found}:`,
      element('ul', {}, ...links),
    );
  }

  /** To the comparison of a page. */
  #link({ base, new: after, name }: AlertAnswer, page: string, query: Query): HTMLElement {
    const changes: Partial<Query> = {
      view: 'compare',
      from: FROM,
      to: '',
      values: { page },
      where: '',
      base: condition('release', base),
      new: condition('release', after),
      search: name,
    };
    const click = (event: MouseEvent): void => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.root.open = false;
      this.#change(changes);
    };
    return element('a', { href: linkOf({ ...query, ...changes }), click }, page === '' ? '(no page)' : page);
  }
}

/** Several collectors, or several looks, may have found a function on different pages. */
function merged(alerts: readonly AlertAnswer[]): AlertAnswer[] {
  const known = new Map<string, AlertAnswer>();
  for (const alert of alerts) {
    const { base, new: after, name, resource, pages } = alert;
    const key = JSON.stringify([base, after, name, resource]);
    const before = known.get(key);
    if (before === undefined) known.set(key, alert);
    else known.set(key, { ...before, pages: [...before.pages, ...pages] });
  }
  return [...known.values()];
}

function inReleases({ base, new: after, pages }: AlertAnswer): string {
  const where = pages.length === 1 ? `on ${pages[0].page || '(no page)'}` : `on ${pages.length} pages`;
  return `${after} than in ${base} ${where}`;
}
