// The samples of a thread in typed arrays.

import { lowerBound } from './binary-search.ts';
import type { SampleData, ThreadData } from './profile-data.ts';
import type { TimeRange } from './time-range.ts';

/** A performance mark or measure. */
export interface Entry {
  name: string;
  isMeasure: boolean;
  start: number;
  duration: number;
}

export const NO_MARKER = -1;

/** The name of main threads, see crates/formats/src/thread.rs. */
const MAIN_THREAD = 'main-thread';

/** By sample, sorted by time. A sample stands for the interval of length `weight` that ends at its `time`. */
export interface Samples {
  time: Float64Array;
  weight: Float64Array;
  /** The stack, or -1. */
  stack: Int32Array;
  /** The marker, or `NO_MARKER`. */
  marker: Int8Array;
}

export class Thread implements Samples {
  /** The thread's name among all threads, e.g. `vite 4711 worker-1`. */
  readonly label: string;
  /** The thread's name in its process. */
  readonly name: string;
  readonly isMain: boolean;
  /** The process, or the file of an unknown process; empty if neither is known. */
  readonly group: string;
  /** The file and the command line, if known. */
  readonly origin: string;
  /** The median time between samples; null when there are too few samples. */
  readonly interval: number | null;
  /** Whether each sample stands for the time from one entry or exit of a function to the next. */
  readonly hasCalls: boolean;
  readonly entries: Entry[];
  readonly time: Float64Array;
  readonly weight: Float64Array;
  readonly stack: Int32Array;
  readonly marker: Int8Array;
  /** The time of the samples with a stack or a marker. */
  readonly busy: number;
  readonly #data: ThreadData;
  /** The times of the first parts of samples that were split in two. */
  readonly #split: Float64Array;
  #labels: Int32Array | undefined;

  constructor(data: ThreadData, samples: Samples = decode(data.samples)) {
    this.#data = data;
    this.name = data.name;
    this.hasCalls = data.hasCalls ?? false;
    this.isMain = data.name === MAIN_THREAD;
    this.group = data.process?.label ?? data.file ?? '';
    this.label = this.group === '' ? data.name : this.isMain ? this.group : `${this.group} ${data.name}`;
    this.origin = [data.file, data.process?.command].filter(Boolean).join(': ');
    this.interval = data.interval;
    const { names, name, isMeasure, start, duration } = data.entries;
    this.entries = name.map((id, index) => ({
      name: names[id],
      isMeasure: isMeasure[index] === 1,
      start: start[index],
      duration: duration[index],
    }));
    this.time = samples.time;
    this.weight = samples.weight;
    this.stack = samples.stack;
    this.marker = samples.marker;
    let busy = 0;
    for (let sample = 0; sample < this.time.length; sample++)
      if (this.stack[sample] !== -1 || this.marker[sample] !== NO_MARKER) busy += this.weight[sample];
    this.busy = busy;
    this.#split = Float64Array.from(data.samples.split, (sample) => this.time[sample]);
  }

  /** The same thread with other stacks. */
  withStacks(stack: Int32Array): Thread {
    const { time, weight, marker } = this;
    return new Thread(this.#data, { time, weight, stack, marker });
  }

  /** The same thread, where samples with other sets of labels are idle. */
  withLabelSets(isWanted: (set: number) => boolean): Thread {
    const { time, weight, labels } = this;
    const stack = this.stack.map((own, sample) => (isWanted(labels[sample]) ? own : -1));
    const marker = this.marker.map((own, sample) => (isWanted(labels[sample]) ? own : NO_MARKER));
    return new Thread(this.#data, { time, weight, stack, marker });
  }

  /** By sample: the set of its labels, or -1. */
  get labels(): Int32Array {
    if (this.#labels === undefined) {
      const { sample, set } = this.#data.labels ?? { sample: [], set: [] };
      this.#labels = new Int32Array(this.time.length).fill(-1);
      for (const [index, first] of sample.entries()) this.#labels.fill(set[index], first, sample[index + 1]);
    }
    return this.#labels;
  }

  /** From the start of the first sample to the last one; undefined without samples. */
  get extent(): TimeRange | undefined {
    const { length } = this.time;
    return length === 0 ? undefined : { start: this.time[0] - this.weight[0], end: this.time[length - 1] };
  }

  /** The samples whose time lies in a range: the first index, and the index after the last. */
  samplesIn({ start, end }: TimeRange): [number, number] {
    return [lowerBound(this.time, start), lowerBound(this.time, end, true)];
  }

  /** How many samples were recorded in a range. One that was split counts where its second part is. */
  countIn(range: TimeRange): number {
    const [from, to] = this.samplesIn(range);
    const { start, end } = range;
    return to - from - (lowerBound(this.#split, end, true) - lowerBound(this.#split, start));
  }

  /** The stack at a time, or -1. */
  stackAt(time: number): number {
    const sample = lowerBound(this.time, time);
    if (sample >= this.time.length || this.time[sample] - this.weight[sample] > time) return -1;
    return this.stack[sample];
  }
}

function decode(data: SampleData): Samples {
  const { length } = data.delta;
  const time = new Float64Array(length);
  const weight = new Float64Array(length);
  let micros = data.start;
  for (let sample = 0; sample < length; sample++) {
    const delta = data.delta[sample];
    micros += delta;
    time[sample] = micros / 1000;
    weight[sample] = delta / 1000;
  }
  for (const [index, sample] of data.weightOf.entries()) weight[sample] = data.weight[index] / 1000;
  return { time, weight, stack: Int32Array.from(data.stack), marker: Int8Array.from(data.marker) };
}
