// The names of pages, and when the page got another one.

import { now, scope } from './scope.ts';

/**
 * Numbers, long hexadecimal numbers and addresses of e-mail. They may say who the user is, and each would be a page of
 * its own.
 */
const IDS = /\/(\d+|[\da-f-]{16,}|[^/]*(@|%40)[^/]*)(?=\/|$)/gi;

export const pathOf = ({ pathname }: Location) => pathname.replace(IDS, '/:id');

export interface Route {
  /** From when on the page has this name. Times of entries are rounded, too. */
  start: number;
  page: string;
}

/** The routes of this page, in the order of time. The first begins before the page. */
export function watchRoutes(nameOf: (location: Location) => string): Route[] {
  const routes: Route[] = [];
  const look = () => {
    let page = '';
    try {
      page = String(nameOf(scope.location));
    } catch {
      // The application's function has failed for this address.
    }
    const last = routes.at(-1);
    if (last?.page !== page) routes.push({ start: last ? Math.floor(now() * 10) / 10 : -Infinity, page });
  };
  look();
  if (scope.navigation) scope.navigation.addEventListener('currententrychange', look);
  else if (scope.history) {
    scope.addEventListener?.('popstate', look);
    for (const name of ['pushState', 'replaceState'] as const) {
      const original = history[name];
      history[name] = function (...parameters) {
        original.apply(this, parameters);
        look();
      };
    }
  }
  return routes;
}
