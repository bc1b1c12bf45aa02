// The clock by which the host divides its work into slices of time. It is read when its modules are loaded, so this one
// is imported before them.

import { setTimeout as delay } from 'node:timers/promises';

const { now } = performance;
let clock;
performance.now = () => clock?.() ?? now.call(performance);

/** Has the host read another clock until a test ends. @param {() => number} reading in milliseconds */
export async function setClock(t, reading) {
  // A slice that began by the clock before is over then.
  await delay(20);
  clock = reading;
  t.after(() => {
    clock = undefined;
  });
}
