// The clock by which the host divides its work into slices of time. It is read when its modules are loaded, so this one is imported before them.

const { now } = performance;
let clock;
performance.now = () => clock?.() ?? now.call(performance);

/** Has the host read another clock until a test ends. @param {() => number} reading in milliseconds */
export function setClock(t, reading) {
  clock = reading;
  t.after(() => {
    clock = undefined;
  });
}
