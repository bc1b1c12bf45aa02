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

/** Keeps the thread busy, so that samples are taken, until the promise is settled; gives it back. */
export async function spinUntil(promise) {
  let isSettled = false;
  const settle = () => (isSettled = true);
  promise.then(settle, settle);
  while (!isSettled) {
    spin(5);
    await new Promise(setImmediate);
  }
  return promise;
}
