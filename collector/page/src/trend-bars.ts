// Times over a period in a table row: a bar for each hour or day, as high as the mean of its sessions.

import { formatDuration } from '@selfprof/views/format.ts';

import type { SeriesAnswer } from './api.ts';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 100;
const HEIGHT = 16;
/** A mean that is nearly 0 is seen, too. */
const MIN_HEIGHT = 1;

/** The mean of a session at each point; null where there is no session. */
export function meansOf(times: readonly number[], points: SeriesAnswer['points']): (number | null)[] {
  return points.map(({ sessions }, index) => (sessions === 0 ? null : times[index] / sessions));
}

/** An hour or a day in words. Both are those of UTC. */
export function formatPoint(time: number, step: SeriesAnswer['step']): string {
  const hour: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  return new Date(time).toLocaleString('en', {
    timeZone: 'UTC',
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    ...(step === 'hour' ? hour : {}),
  });
}

export function trendBars(means: readonly (number | null)[], { points, step }: SeriesAnswer): SVGElement {
  const most = means.reduce<number>((max, mean) => Math.max(max, mean ?? 0), 0);
  const width = WIDTH / Math.max(1, means.length);
  const gap = Math.min(1, width / 5);
  const bars = means.flatMap((mean, index) => {
    if (mean === null || most === 0) return [];
    const height = Math.max(MIN_HEIGHT, (mean / most) * HEIGHT);
    return [
      `M${(index * width).toFixed(2)} ${HEIGHT}v-${height.toFixed(2)}h${(width - gap).toFixed(2)}v${height.toFixed(2)}z`,
    ];
  });
  const svg = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', bars.join(''));
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('class', 'trend-bars');
  const text = describe(means, most, points, step);
  svg.setAttribute('aria-label', text);
  const title = document.createElementNS(SVG, 'title');
  title.textContent = text;
  svg.append(title, path);
  return svg;
}

function describe(
  means: readonly (number | null)[],
  most: number,
  points: SeriesAnswer['points'],
  step: SeriesAnswer['step'],
): string {
  const last = means.findLastIndex((mean) => mean !== null);
  if (last === -1) return 'No sessions';
  const at = (index: number): string =>
    `${formatDuration(means[index] ?? 0)} on ${formatPoint(points[index].time, step)}`;
  return `Self time per session by ${step}: last ${at(last)}, highest ${at(means.indexOf(most))}`;
}
