// What the runtime uses of the browser, taken before the page can replace it. The runtime is the first script.
//
// Arrays are read and written by index: a page can replace `push` and iterators.

export const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, set } = Reflect;
export const { AbortSignal, clearTimeout, Error, Event, EventTarget, fetch, queueMicrotask, setTimeout, URL } =
  globalThis;
export const { ceil, floor, min } = Math;
export const { exec } = RegExp.prototype;
export const { lastIndexOf, slice } = String.prototype;

/** Milliseconds since the time origin of the page or worker. */
export const now: () => number = performance.now.bind(performance);

/** An object in which nothing is found that was not put there. */
export const dictionary = <T>() => ({ __proto__: null }) as unknown as Record<string, T | undefined>;
