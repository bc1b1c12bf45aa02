// The global object of a page or of a worker. In a worker, much of it is missing.

import type { ProfilerClass } from '../index.d.ts';

interface Scope extends Partial<Omit<Window, 'location' | 'navigator' | 'performance'>> {
  location: Location;
  navigator: Navigator & { globalPrivacyControl?: boolean };
  document?: Document & { prerendering?: boolean };
  navigation?: EventTarget;
  performance: Performance;
  Profiler?: ProfilerClass;
  ProfilerPolyfill?: ProfilerClass;
}

export const scope = globalThis as unknown as Scope;

export const now = () => performance.now();

/** A random text. */
export const randomId = () =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join('');

/** Does something when the page has nothing else to do, at least after five seconds. */
export function whenIdle(act: () => void): void {
  if (scope.requestIdleCallback) scope.requestIdleCallback(act, { timeout: 5_000 });
  else setTimeout(act);
}

/** What the storage of this tab has under a name. It may be forbidden or missing. */
export function load(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

/** Keeps a value for the next pages of this tab. */
export function save(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // It is forbidden or full.
  }
}
