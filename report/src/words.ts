// Numbers as people read them.

export function milliseconds(value: number): string {
  const size = Math.abs(value);
  if (size >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  if (size >= 1000) return `${(value / 1000).toFixed(2)} s`;
  if (size >= 100) return `${value.toFixed(0)} ms`;
  if (size >= 1) return `${value.toFixed(1)} ms`;
  if (size === 0) return '0 ms';
  return `${(value * 1000).toFixed(0)} µs`;
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : '–';
}

export function count(value: number): string {
  return value.toLocaleString('en');
}

/** The end of a place, which says most: the last two parts of a path. */
export function shortPlace(place: string): string {
  return place.replace(/^[a-z]+:\/\/[^/]*/i, '').split('/').slice(-2).join('/') || place;
}
