// A lane for each thread below the timeline: its name, and when it runs and waits. A click shows one thread alone, and
// dragging selects a time range.

import './thread-lanes.css';

import { busyShares } from '@selfprof/views/categories.ts';
import { LANE_COLOR, WAITING_COLOR } from '@selfprof/views/colors.ts';
import { element } from '@selfprof/views/dom.ts';
import { formatDuration, formatPercent } from '@selfprof/views/format.ts';
import { listenToRangeDrag } from '@selfprof/views/range-drag.ts';
import type { Thread } from '@selfprof/views/thread.ts';
import type { TimeRange } from '@selfprof/views/time-range.ts';

import { ALL_THREADS, type State } from './state.ts';
import { axisMargins } from './time-axis.ts';
import { drawShares } from './timeline-lanes.ts';

/** In CSS pixels, as in thread-lanes.css. */
const BUSY_HEIGHT = 14;
const IDLE_HEIGHT = 8;
/** A thread that was busy for a smaller part of the time gets a low lane. */
const IDLE_SHARE = 0.005;

export class ThreadLanes {
  readonly root = element('div', {
    class: 'thread-lanes',
    role: 'listbox',
    tabindex: '0',
    'aria-label': 'Threads. Up and down arrow keys show one thread alone, or all threads.',
  });
  readonly #state: State;
  /** The selected range on all lanes. */
  readonly #range = element('div', { class: 'lane-range', hidden: true });
  #width = 0;

  constructor(state: State) {
    this.#state = state;
    new ResizeObserver(() => this.#resize()).observe(this.root);
    this.root.addEventListener('keydown', (event) => this.#onKeyDown(event));
    listenToRangeDrag(this.root, () => this.#plotArea(), {
      preview: (from, to) => this.#showRange(this.#rangeOf(from, to)),
      select: (from, to) => state.selectRange(this.#rangeOf(from, to)),
      cancel: () => this.#showSelection(),
      click: (x, y) => this.#click(x, y),
    });
    state.onChange((change) => {
      if (change === 'profile' || change === 'label' || change === 'theme') this.#build();
      if (change === 'thread') this.#markSelected();
      if (change === 'range' || change === 'profile') this.#showSelection();
    });
    this.#build();
  }

  get #margins(): { left: number; right: number } {
    return axisMargins(this.root.clientWidth, this.#state.profile.threads.length);
  }

  #plotArea(): DOMRect {
    const { left: start, right: end } = this.#margins;
    const { left, top } = this.root.getBoundingClientRect();
    return new DOMRect(left + start, top, this.root.clientWidth - start - end, this.root.clientHeight);
  }

  #rangeOf(from: number, to: number): TimeRange {
    const { start, end } = this.#state.profile.extent;
    const perPixel = (end - start) / this.#plotArea().width;
    return { start: start + from * perPixel, end: start + to * perPixel };
  }

  #build(): void {
    const { profile, lanes } = this.#state;
    this.root.hidden = lanes.length === 0;
    if (lanes.length === 0) return;
    const duration = profile.extent.end - profile.extent.start;
    const grouped = new Set<string>();
    const rows = lanes.map((index) => {
      const thread = profile.threads[index];
      // The threads of a process follow its main thread.
      const isBelow = !thread.isMain && grouped.has(thread.group);
      grouped.add(thread.group);
      return this.#row(index, thread, isBelow, duration);
    });
    const busy = profile.threads.reduce((sum, thread) => sum + thread.busy, 0);
    const title = `All threads (${profile.threads.length})`;
    const all = this.#option(
      ALL_THREADS,
      'lane all',
      title,
      formatDuration(busy),
      `${title}: ${formatDuration(busy)} busy`,
    );
    const unlisted = profile.threads.length - lanes.length;
    const rest =
      unlisted === 0
        ? []
        : [
            element(
              'div',
              { class: 'lane-rest', role: 'presentation' },
              `${unlisted} more threads, less busy than these`,
            ),
          ];
    this.root.replaceChildren(all, ...rows, ...rest, this.#range);
    this.#width = 0;
    this.#resize();
    this.#markSelected();
  }

  #row(index: number, thread: Thread, isBelow: boolean, duration: number): HTMLElement {
    const share = formatPercent(thread.busy, duration);
    const classes = `lane${isBelow ? ' below' : ''}${thread.busy < IDLE_SHARE * duration ? ' idle' : ''}`;
    const waiting = this.#state.profile.waitingTime(thread);
    const ofWhich = waiting > 0 ? `, of which ${formatDuration(waiting)} waiting` : '';
    const busy = `${thread.label}: ${formatDuration(thread.busy)} busy, ${share}${ofWhich}`;
    const description = [busy, thread.origin].filter(Boolean);
    const row = this.#option(index, classes, isBelow ? thread.name : thread.label, share, description.join('\n'));
    row.append(element('canvas', { 'aria-hidden': 'true' }));
    return row;
  }

  #option(thread: number, classes: string, name: string, value: string, description: string): HTMLElement {
    return element(
      'div',
      {
        class: classes,
        role: 'option',
        id: `thread-${thread}`,
        'data-thread': String(thread),
        'aria-label': description,
        title: description,
      },
      element('span', { class: 'lane-name' }, element('span', {}, name), element('span', {}, value)),
    );
  }

  /** Draws all lanes if the width has changed. */
  #resize(): void {
    const width = this.root.clientWidth;
    if (width === 0 || width === this.#width) return;
    this.#width = width;
    const { left, right } = this.#margins;
    this.root.classList.toggle('narrow', left < 40);
    this.root.style.setProperty('--axis-left', `${left}px`);
    for (const canvas of this.root.querySelectorAll('canvas')) this.#draw(canvas, Math.max(1, width - left - right));
    this.#showSelection();
  }

  #draw(canvas: HTMLCanvasElement, width: number): void {
    const { profile } = this.#state;
    const row = canvas.closest<HTMLElement>('.lane');
    const ctx = canvas.getContext('2d');
    if (row === null || ctx === null) return;
    const height = row.classList.contains('idle') ? IDLE_HEIGHT : BUSY_HEIGHT;
    canvas.width = Math.round(width * devicePixelRatio);
    canvas.height = Math.round(height * devicePixelRatio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const { running, waiting } = busyShares(profile, profile.threads[Number(row.dataset.thread)], width);
    const area = { left: 0, top: 0, width: canvas.width, height: canvas.height };
    ctx.fillStyle = WAITING_COLOR;
    // Half as high, so that the colors do not carry this alone.
    drawShares(ctx, waiting, { ...area, top: canvas.height / 2, height: canvas.height / 2 });
    ctx.fillStyle = LANE_COLOR;
    drawShares(ctx, running, area);
  }

  #markSelected(): void {
    const id = `thread-${this.#state.selectedThread}`;
    for (const row of this.root.querySelectorAll('.lane')) {
      row.setAttribute('aria-selected', String(row.id === id));
      if (row.id === id) this.root.setAttribute('aria-activedescendant', id);
    }
  }

  #showSelection(): void {
    this.#showRange(this.#state.hasSelectedRange ? this.#state.range : undefined);
  }

  #showRange(range: TimeRange | undefined): void {
    this.#range.hidden = range === undefined;
    if (range === undefined) return;
    const { start, end } = this.#state.profile.extent;
    const { left } = this.#margins;
    const { width } = this.#plotArea();
    const toX = (time: number): number => Math.min(1, Math.max(0, (time - start) / (end - start))) * width;
    this.#range.style.left = `${left + toX(range.start)}px`;
    this.#range.style.width = `${toX(range.end) - toX(range.start)}px`;
    this.#range.style.height = `${this.root.scrollHeight}px`;
  }

  /** Shows the thread at a point, relative to the upper left corner of the plot. */
  #click(x: number, y: number): void {
    const { left, top } = this.#plotArea();
    const lane = document
      .elementsFromPoint(left + x, top + y)
      .find((one): one is HTMLElement => one instanceof HTMLElement && one.dataset.thread !== undefined);
    if (lane !== undefined) this.#state.selectThread(Number(lane.dataset.thread));
  }

  #onKeyDown(event: KeyboardEvent): void {
    const all = [ALL_THREADS, ...this.#state.lanes];
    const at = all.indexOf(this.#state.selectedThread);
    const targets: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.#state.selectThread(all[Math.max(0, Math.min(all.length - 1, target))]);
    this.root.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }
}
