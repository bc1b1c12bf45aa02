// The hash of the page's URL says what the page shows, so that a link restores it. Anyone can write a link: what is not
// understood is ignored.

import { ALL_THREADS, type State, VIEWS, type View } from './state.ts';

/** Longer hashes are ignored. */
const MAX_LENGTH = 10_000;
const MAX_SEARCH_LENGTH = 500;
/** Browsers limit how often a page may change its URL. */
const DELAY_MS = 300;

/** The hash for what the page shows, without `#`; empty for what a page shows at first. */
export function linkOf(state: State): string {
  const parts = new URLSearchParams();
  const { view, range, selectedThread, selectedFrame, search } = state;
  if (view !== 'time') parts.set('tab', view);
  if (state.profileIndex !== 0) parts.set('trace', String(state.profileIndex));
  if (selectedThread !== ALL_THREADS) parts.set('thread', String(selectedThread));
  const { labelName, labelValue } = state;
  if (labelName !== undefined) parts.set('label', labelName);
  if (labelValue === null) parts.set('unlabelled', '1');
  else if (labelValue !== undefined) parts.set('value', labelValue);
  if (state.hasSelectedRange) {
    parts.set('from', String(round(range.start)));
    parts.set('to', String(round(range.end)));
  }
  if (selectedFrame !== -1) parts.set('function', state.profile.frames.identity(selectedFrame));
  if (search !== '') parts.set('search', search);
  if (state.isInverted) parts.set('invert', '1');
  if (state.isGrouped) parts.set('packages', '1');
  if (!state.isNodeFolded) parts.set('node', 'full');
  for (const name of state.hiddenPackages) parts.append('hide', name);
  return parts.toString();
}

/** Microseconds. */
function round(time: number): number {
  return Math.round(time * 1000) / 1000;
}

/** Shows what a hash says. `views` are the ones that the page has. */
export function followLink(state: State, hash: string, views: readonly View[]): void {
  if (hash.length > MAX_LENGTH) return;
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const numberOf = (name: string): number | undefined => {
    const text = parts.get(name) ?? '';
    return /^-?\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
  };
  const trace = numberOf('trace');
  if (trace !== undefined) state.selectProfile(trace);
  state.hiddenPackages = new Set(parts.getAll('hide'));
  state.isNodeFolded = parts.get('node') !== 'full';
  state.isGrouped = parts.get('packages') === '1';
  state.isInverted = parts.get('invert') === '1';
  state.selectThread(numberOf('thread') ?? ALL_THREADS);
  const value = parts.get('unlabelled') === '1' ? null : (parts.get('value') ?? undefined);
  state.selectLabel(parts.get('label') ?? undefined, value);
  const [start, end] = [numberOf('from'), numberOf('to')];
  state.selectRange(start === undefined || end === undefined ? undefined : { start, end });
  const name = parts.get('function');
  state.selectFrame(name === null ? -1 : state.frameOf(name));
  state.search = (parts.get('search') ?? '').slice(0, MAX_SEARCH_LENGTH);
  const view = VIEWS.find((one) => one === parts.get('tab')) ?? 'time';
  if (views.includes(view)) state.view = view;
}

/** Follows the link that the page was opened with, and then keeps the hash up to date. */
export function keepLink(state: State, views: readonly View[]): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written = location.hash;
  const write = (): void => {
    const hash = `#${linkOf(state)}`;
    if (hash === '#' && location.hash === '') return;
    try {
      history.replaceState(history.state, '', hash);
      written = location.hash;
    } catch {
      // The browser limits how often, or forbids it for this kind of URL. The page works without.
    }
  };
  followLink(state, location.hash, views);
  state.onChange((change) => {
    if (change === 'theme') return;
    clearTimeout(timer);
    timer = setTimeout(write, DELAY_MS);
  });
  addEventListener('hashchange', () => {
    if (location.hash !== written) followLink(state, location.hash, views);
  });
}
