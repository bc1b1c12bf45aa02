// A trace in typed arrays, with the queries that all views share.

import { lowerBound } from './binary-search.ts';
import type { ProfileData, Snippet } from './profile-data.ts';
import type { TimeRange } from './time-range.ts';

/** A performance mark or measure. */
export interface Entry {
  name: string;
  isMeasure: boolean;
  start: number;
  duration: number;
}

/** Times and samples in a time range. Arrays are indexed by frame unless they say otherwise. */
export interface Totals {
  self: Float64Array;
  total: Float64Array;
  selfSamples: Uint32Array;
  /** By stack: the total time of the stack and its descendants. */
  stacks: Float64Array;
  /** Time and number of the samples with a stack or a marker. */
  busy: number;
  busySamples: number;
  samples: number;
}

export const NO_MARKER = -1;

/** The name of the frame that stands for the garbage collector, see crates/trace/src/collector.rs. */
const GARBAGE_COLLECTOR = '(garbage collector)';
/** What the star after a name means. */
export const INFERRED_NOTE = '* inferred from the source';

export class Profile {
  readonly name: string;
  readonly interval: number | null;
  readonly notes: string[];
  readonly markers: string[];
  readonly entries: Entry[];
  readonly extent: TimeRange;

  /** By sample. */
  readonly time: Float64Array;
  readonly weight: Float64Array;
  readonly stack: Int32Array;
  readonly marker: Int8Array;

  /** By stack. */
  readonly stackFrame: Int32Array;
  readonly stackParent: Int32Array;
  readonly stackDepth: Int32Array;
  /** Whether no ancestor of a stack has the same frame, so that the time of recursive calls counts once. */
  readonly #isOutermost: Uint8Array;

  readonly #data: ProfileData;

  constructor(data: ProfileData) {
    this.#data = data;
    this.name = data.name;
    this.interval = data.interval;
    this.notes = data.notes;
    this.markers = data.markers;
    this.time = Float64Array.from(data.samples.time);
    this.weight = Float64Array.from(data.samples.weight);
    this.stack = Int32Array.from(data.samples.stack);
    this.marker = Int8Array.from(data.samples.marker);
    this.stackFrame = Int32Array.from(data.stacks.frame);
    this.stackParent = Int32Array.from(data.stacks.parent);
    this.stackDepth = new Int32Array(this.stackFrame.length);
    this.#isOutermost = new Uint8Array(this.stackFrame.length);
    this.#computeDepths();
    const { names, name, isMeasure, start, duration } = data.entries;
    this.entries = name.map((id, index) => ({
      name: names[id],
      isMeasure: isMeasure[index] === 1,
      start: start[index],
      duration: duration[index],
    }));
    const { length } = this.time;
    const first = length === 0 ? 0 : this.time[0] - this.weight[0];
    const last = length === 0 ? 1 : this.time[length - 1];
    this.extent = { start: first, end: last > first ? last : first + 1 };
  }

  #computeDepths(): void {
    for (let stack = 0; stack < this.stackFrame.length; stack++) {
      const parent = this.stackParent[stack];
      this.stackDepth[stack] = parent === -1 ? 0 : this.stackDepth[parent] + 1;
      let ancestor = parent;
      while (ancestor !== -1 && this.stackFrame[ancestor] !== this.stackFrame[stack])
        ancestor = this.stackParent[ancestor];
      this.#isOutermost[stack] = ancestor === -1 ? 1 : 0;
    }
  }

  get frameCount(): number {
    return this.#data.frames.name.length;
  }

  /** The function's name, or its inferred name with a star. */
  functionName(frame: number): string {
    const name = this.#data.names[this.#data.frames.name[frame]];
    if (name !== '') return name;
    const inferred = this.inferredName(frame);
    return inferred === undefined ? '(anonymous)' : `${inferred}*`;
  }

  /** The name of an anonymous function, inferred from its source. */
  inferredName(frame: number): string | undefined {
    return this.#data.inferredNames[frame];
  }

  /** The URL of the frame's script; undefined for native functions. */
  resource(frame: number): string | undefined {
    return this.#data.resources[this.#data.frames.resource[frame]];
  }

  /** Where the function is defined: URL, line and column; empty for the garbage collector. */
  location(frame: number): string {
    const resource = this.resource(frame);
    if (resource === undefined) return this.functionName(frame) === GARBAGE_COLLECTOR ? '' : '(native)';
    const line = this.#data.frames.line[frame];
    const column = this.#data.frames.column[frame];
    return resource + (line > 0 ? `:${line}` : '') + (line > 0 && column > 0 ? `:${column}` : '');
  }

  line(frame: number): number {
    return this.#data.frames.line[frame];
  }

  snippet(frame: number): Snippet | undefined {
    return this.#data.snippets[frame];
  }

  /** Standard name and location. Frames of two traces with the same identity are the same function. */
  identity(frame: number): string {
    return `${this.#data.names[this.#data.frames.name[frame]]}\n${this.location(frame)}`;
  }

  /** The samples whose time lies in a range: the first index, and the index after the last. */
  samplesIn({ start, end }: TimeRange): [number, number] {
    return [lowerBound(this.time, start), lowerBound(this.time, end, true)];
  }

  /** The frame on top of the stack at a time, or -1. */
  frameAt(time: number): number {
    const sample = lowerBound(this.time, time);
    if (sample >= this.time.length || this.time[sample] - this.weight[sample] > time) return -1;
    const stack = this.stack[sample];
    return stack === -1 ? -1 : this.stackFrame[stack];
  }

  totals(range: TimeRange): Totals {
    const [from, to] = this.samplesIn(range);
    const frames = this.frameCount;
    const totals: Totals = {
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
        totals.busy += weight;
        totals.busySamples += 1;
      }
      if (stack === -1) continue;
      const frame = this.stackFrame[stack];
      totals.stacks[stack] += weight;
      totals.self[frame] += weight;
      totals.selfSamples[frame] += 1;
    }
    // Parents precede their children, so going backwards a stack is complete before it is added to its parent.
    for (let stack = this.stackFrame.length - 1; stack >= 0; stack--) {
      const time = totals.stacks[stack];
      if (time === 0) continue;
      if (this.#isOutermost[stack] === 1) totals.total[this.stackFrame[stack]] += time;
      const parent = this.stackParent[stack];
      if (parent !== -1) totals.stacks[parent] += time;
    }
    return totals;
  }
}
