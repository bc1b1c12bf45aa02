// Numbers and locations as text.

export function formatDuration(milliseconds: number): string {
  const size = Math.abs(milliseconds);
  if (size >= 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (size >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  if (size >= 100) return `${milliseconds.toFixed(0)} ms`;
  if (size >= 1) return `${milliseconds.toFixed(1)} ms`;
  if (size === 0) return '0 ms';
  return `${(milliseconds * 1000).toFixed(0)} µs`;
}

export function formatPercent(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)}%` : '–';
}

export function formatCount(value: number): string {
  return value.toLocaleString('en');
}

/** The number of samples, or of what else is counted. */
export function formatSamples({ samples, counted }: { samples: number; counted: string }): string {
  return `${formatCount(samples)} ${counted}${samples === 1 ? '' : 's'}`;
}

/** The last two segments of a location's path. */
export function shortLocation(location: string): string {
  return (
    location
      .replace(/^[a-z]+:\/\/[^/]*/i, '')
      .split('/')
      .slice(-2)
      .join('/') || location
  );
}

/** 1st, 2nd, 3rd, 4th. */
export function ordinal(value: number): string {
  const suffixes: Record<string, string> = { one: 'st', two: 'nd', few: 'rd' };
  return `${formatCount(value)}${suffixes[new Intl.PluralRules('en', { type: 'ordinal' }).select(value)] ?? 'th'}`;
}
