// Keeps the thread busy. Needs nothing around it, so that its source can be put into another program.

/** Runs JavaScript for `ms` milliseconds, in which a wait for a processor that others have does not count. */
export function spin(ms) {
  let last = performance.now();
  for (let left = ms; left > 0; ) {
    const now = performance.now();
    left -= Math.min(now - last, 0.5);
    last = now;
  }
}
