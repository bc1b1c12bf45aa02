// What the runtime uses of the browser, taken before the page can replace it. The runtime is the first script.
//
// Arrays are read and written by index: a page can replace `push` and iterators.

export const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, isExtensible, set } = Reflect;
export const { AbortSignal, clearTimeout, Error, Event, fetch, queueMicrotask, setTimeout, URL } = globalThis;
export const { floor, min } = Math;
export const { exec } = RegExp.prototype;
export const { lastIndexOf, slice } = String.prototype;

/** Milliseconds since the time origin of the page or worker. */
export const now: () => number = performance.now.bind(performance);

/** An object in which nothing is found that was not put there. */
export const dictionary = <T>() => ({ __proto__: null }) as unknown as Record<string, T | undefined>;

/**
 * Defines a property of the global object. V8 compiles code as if it were a constant, for as long as it has the value
 * that it was defined with. So it is defined anew instead of changed.
 */
export function defineGlobal(name: string, value: unknown): void {
  // Where it could not be defined again, it must not be deleted.
  if (isExtensible(globalThis)) deleteProperty(globalThis, name);
  defineProperty(globalThis, name, {
    value,
    writable: true,
    configurable: true,
    __proto__: null,
  } as PropertyDescriptor);
}
