// Keeps the thread busy. Self-contained, so that its source can be inserted into other programs.

/** Runs JavaScript for `ms` milliseconds. Time in which other threads had the processor does not count. */
export function spin(ms) {
  let last = performance.now();
  for (let left = ms; left > 0; ) {
    const now = performance.now();
    left -= Math.min(now - last, 0.5);
    last = now;
  }
}
