// What only this runtime uses of the browser, taken before the page can replace it.

export const { Float64Array, Uint32Array } = globalThis;
export const { max } = Math;
