// The time axis that the timeline and the flame graph in time order share: where it begins and ends, in pixels.

/** Narrower pages have no room for names left of the lanes. */
const NARROW = 600;
/** Names of threads need more room than names of categories. */
const LEFT = 118;
const LEFT_WITH_THREADS = 190;
const LEFT_IF_NARROW = 8;
const RIGHT = 16;

export function axisMargins(width: number, threadCount: number): { left: number; right: number } {
  if (width < NARROW) return { left: LEFT_IF_NARROW, right: LEFT_IF_NARROW };
  return { left: threadCount > 1 ? LEFT_WITH_THREADS : LEFT, right: RIGHT };
}
