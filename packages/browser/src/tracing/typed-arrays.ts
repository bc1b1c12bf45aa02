// Typed arrays, taken before the page can replace them.

export const { Float64Array, Uint32Array } = globalThis;
