// Keeps the thread busy. The clock decides when it is over, so that a slow machine takes its samples too.

/** Runs JavaScript for at least `ms` milliseconds. */
export function spin(ms) {
  for (const end = performance.now() + ms; performance.now() < end; );
}
