/** What the structured clone algorithm refuses, each anew. */
export function unclonable() {
  return [Symbol('s'), () => {}, { nested: { symbol: Symbol('s') } }, [() => {}], new WeakMap(), Promise.resolve()];
}
