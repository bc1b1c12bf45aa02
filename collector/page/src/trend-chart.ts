// The times of one function over the period, below the table of functions.

import 'uplot/dist/uPlot.min.css';
import './trend-chart.css';

import { element } from '@selfprof/views/dom.ts';
import { formatCount, formatDuration } from '@selfprof/views/format.ts';
import { canvasTheme, themeColor } from '@selfprof/views/theme.ts';
import uPlot from 'uplot';

import type { SeriesAnswer } from './api.ts';
import { formatPoint, meansOf } from './trend-bars.ts';

const HEIGHT = 150;
const FONT = '11px system-ui, sans-serif';
/** The axis of times. */
const AXIS_WIDTH = 62;
const DAY = 86_400_000;
/** The distances of days on the axis. */
const DAYS = [1, 2, 3, 7, 14, 28, 56, 112, 365].map((days) => days * DAY);

function formatDay(time: number): string {
  return new Date(time).toLocaleString('en', { timeZone: 'UTC', month: 'short', day: 'numeric' });
}

export class TrendChart {
  readonly root = element('section', { class: 'trend-chart', hidden: true });
  readonly #title = element('h2');
  readonly #place = element('div', { class: 'plot' });
  #plot: uPlot | undefined;
  #content: { series: SeriesAnswer; self: number[]; total: number[] } | undefined;

  constructor(close: () => void) {
    this.root.append(
      this.#title,
      element(
        'button',
        { type: 'button', class: 'close', 'aria-label': 'Clear the selected function', click: close },
        '×',
      ),
      this.#place,
    );
    new ResizeObserver(() => this.#resize()).observe(this.#place);
  }

  show(name: string, series: SeriesAnswer, { selfTime, totalTime }: SeriesAnswer['functions'][number]): void {
    this.#content = { series, self: selfTime, total: totalTime };
    this.root.hidden = false;
    const step = series.step === 'hour' ? 'hour by hour' : 'day by day';
    this.#title.replaceChildren(element('strong', {}, name), ` per session, ${step} (UTC)`);
    this.root.setAttribute('aria-label', `${name} per session, ${step}`);
    this.#build();
  }

  hide(): void {
    this.root.hidden = true;
    this.#content = undefined;
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  applyTheme(): void {
    this.#build();
  }

  #resize(): void {
    const { clientWidth } = this.#place;
    if (this.#content === undefined || clientWidth === 0) return;
    if (this.#plot === undefined) this.#build();
    else if (this.#plot.width !== clientWidth) this.#plot.setSize({ width: clientWidth, height: HEIGHT });
  }

  #build(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
    const width = this.#place.clientWidth;
    if (this.#content === undefined || width === 0) return;
    const { series, self, total } = this.#content;
    const { points, step } = series;
    const theme = canvasTheme();
    const axis: uPlot.Axis = {
      stroke: theme.secondaryText,
      font: FONT,
      grid: { stroke: theme.grid, width: 1 },
      ticks: { stroke: theme.grid, width: 1 },
    };
    const line = (label: string, color: string, dash?: number[]): uPlot.Series => ({
      label,
      stroke: color,
      width: 2,
      dash,
      spanGaps: false,
      points: { show: points.length < 60, size: 5, fill: color },
      value: (_, value) => (value == null ? '–' : formatDuration(value)),
    });
    const options: uPlot.Options = {
      width,
      height: HEIGHT,
      padding: [8, 26, 0, 0],
      ms: 1,
      tzDate: (time) => uPlot.tzDate(new Date(time), 'Etc/UTC'),
      scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } },
      axes: [
        step === 'day' ? { ...axis, incrs: DAYS, values: (_, splits) => splits.map(formatDay) } : axis,
        { ...axis, size: AXIS_WIDTH, values: (_, splits) => splits.map((value) => formatDuration(value)) },
      ],
      cursor: { drag: { x: false, y: false, setScale: false }, y: false },
      legend: { live: true },
      series: [
        { label: 'UTC', value: (_, time) => (time == null ? '–' : formatPoint(time, step)) },
        line('Total', themeColor('--secondary-text'), [5, 4]),
        line('Self', themeColor('--accent')),
        {
          label: 'Sessions',
          show: true,
          scale: 'sessions',
          paths: () => null,
          points: { show: false },
          value: (_, value) => (value == null ? '–' : formatCount(value)),
        },
      ],
    };
    const data: uPlot.AlignedData = [
      points.map(({ time }) => time),
      meansOf(total, points),
      meansOf(self, points),
      points.map(({ sessions }) => sessions),
    ];
    this.#plot = new uPlot(options, data, this.#place);
    // The last values, until the mouse is at others.
    this.#plot.setLegend({ idx: points.length - 1 });
  }
}
