// A trace in typed arrays, with what all views ask of it.

import type { EmbeddedTrace, Snippet } from './embedded.ts';

/** A stretch of time, in milliseconds since the trace's time origin. */
export interface Range {
  start: number;
  end: number;
}

export interface Entry {
  name: string;
  isMeasure: boolean;
  start: number;
  duration: number;
}

/** What was spent in functions during a range, by frame. */
export interface Sums {
  self: Float64Array;
  total: Float64Array;
  selfSamples: Uint32Array;
  /** By stack: what was spent in it and in what it called. */
  stacks: Float64Array;
  /** The time at which anything ran, and how many samples say so. */
  busy: number;
  busySamples: number;
  samples: number;
}

export const NO_MARKER = -1;

export class Profile {
  readonly name: string;
  readonly interval: number | null;
  readonly notes: string[];
  readonly markers: string[];
  readonly entries: Entry[];
  readonly extent: Range;

  readonly time: Float64Array;
  readonly weight: Float64Array;
  readonly stack: Int32Array;
  readonly marker: Int8Array;

  readonly stackFrame: Int32Array;
  readonly stackParent: Int32Array;
  readonly stackDepth: Int32Array;
  /** Whether a stack's frame is in none of its ancestors: a recursive function's time counts once. */
  readonly #isOutermost: Uint8Array;

  readonly #trace: EmbeddedTrace;

  constructor(trace: EmbeddedTrace) {
    this.#trace = trace;
    this.name = trace.name;
    this.interval = trace.interval;
    this.notes = trace.notes;
    this.markers = trace.markers;
    this.time = Float64Array.from(trace.samples.time);
    this.weight = Float64Array.from(trace.samples.weight);
    this.stack = Int32Array.from(trace.samples.stack);
    this.marker = Int8Array.from(trace.samples.marker);
    this.stackFrame = Int32Array.from(trace.stacks.frame);
    this.stackParent = Int32Array.from(trace.stacks.parent);
    this.stackDepth = new Int32Array(this.stackFrame.length);
    this.#isOutermost = new Uint8Array(this.stackFrame.length);
    this.#measureStacks();
    const { names, name, isMeasure, start, duration } = trace.entries;
    this.entries = name.map((id, index) => ({ name: names[id], isMeasure: isMeasure[index] === 1, start: start[index], duration: duration[index] }));
    const { length } = this.time;
    const first = length === 0 ? 0 : this.time[0] - this.weight[0];
    const last = length === 0 ? 1 : this.time[length - 1];
    this.extent = { start: first, end: last > first ? last : first + 1 };
  }

  #measureStacks(): void {
    for (let stack = 0; stack < this.stackFrame.length; stack++) {
      const parent = this.stackParent[stack];
      this.stackDepth[stack] = parent === -1 ? 0 : this.stackDepth[parent] + 1;
      let ancestor = parent;
      while (ancestor !== -1 && this.stackFrame[ancestor] !== this.stackFrame[stack]) ancestor = this.stackParent[ancestor];
      this.#isOutermost[stack] = ancestor === -1 ? 1 : 0;
    }
  }

  get frameCount(): number {
    return this.#trace.frames.name.length;
  }

  /** A frame's function, by name. */
  functionName(frame: number): string {
    return this.#trace.names[this.#trace.frames.name[frame]] || '(anonymous)';
  }

  /** The frame's script; none for host functions. */
  resource(frame: number): string | undefined {
    return this.#trace.resources[this.#trace.frames.resource[frame]];
  }

  /** Where the function is defined, in full. */
  place(frame: number): string {
    const resource = this.resource(frame);
    if (resource === undefined) return '(native)';
    const line = this.#trace.frames.line[frame];
    const column = this.#trace.frames.column[frame];
    return resource + (line > 0 ? `:${line}` : '') + (line > 0 && column > 0 ? `:${column}` : '');
  }

  line(frame: number): number {
    return this.#trace.frames.line[frame];
  }

  snippet(frame: number): Snippet | undefined {
    return this.#trace.snippets[frame];
  }

  /** What makes functions of two traces the same. */
  identity(frame: number): string {
    return `${this.functionName(frame)}\n${this.place(frame)}`;
  }

  /** The samples whose time lies in a range: from the first index up to the second. */
  samplesIn({ start, end }: Range): [number, number] {
    return [lowerBound(this.time, start), lowerBound(this.time, end, true)];
  }

  /** The function that ran at a time, or -1. */
  frameAt(time: number): number {
    const sample = lowerBound(this.time, time);
    if (sample >= this.time.length || this.time[sample] - this.weight[sample] > time) return -1;
    const stack = this.stack[sample];
    return stack === -1 ? -1 : this.stackFrame[stack];
  }

  /** Adds up a range. */
  sums(range: Range): Sums {
    const [from, to] = this.samplesIn(range);
    const frames = this.frameCount;
    const sums: Sums = {
      self: new Float64Array(frames),
      total: new Float64Array(frames),
      selfSamples: new Uint32Array(frames),
      stacks: new Float64Array(this.stackFrame.length),
      busy: 0,
      busySamples: 0,
      samples: to - from,
    };
    for (let sample = from; sample < to; sample++) {
      const stack = this.stack[sample];
      const weight = this.weight[sample];
      if (stack !== -1 || this.marker[sample] !== NO_MARKER) {
        sums.busy += weight;
        sums.busySamples += 1;
      }
      if (stack === -1) continue;
      const frame = this.stackFrame[stack];
      sums.stacks[stack] += weight;
      sums.self[frame] += weight;
      sums.selfSamples[frame] += 1;
    }
    // Parents come first, so a stack is complete when it adds to its parent.
    for (let stack = this.stackFrame.length - 1; stack >= 0; stack--) {
      const spent = sums.stacks[stack];
      if (spent === 0) continue;
      if (this.#isOutermost[stack] === 1) sums.total[this.stackFrame[stack]] += spent;
      const parent = this.stackParent[stack];
      if (parent !== -1) sums.stacks[parent] += spent;
    }
    return sums;
  }
}

/** The first index, not before `from`, whose value is at least `limit`, or above it. */
export function lowerBound(values: Float64Array, limit: number, isAbove = false, from = 0): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAbove ? values[middle] <= limit : values[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
