// A trace: its functions, its stacks and its threads, with the queries that all views share.

import { FrameTable } from './frame-table.ts';
import type { ProfileData } from './profile-data.ts';
import { NO_MARKER, Thread } from './thread.ts';
import type { TimeRange } from './time-range.ts';

/** Times and samples in a time range. Arrays are indexed by frame unless they say otherwise. */
export interface Totals {
  self: Float64Array;
  total: Float64Array;
  selfSamples: Uint32Array;
  /** By stack: the total time of the stack and its descendants. */
  stacks: Float64Array;
  /** By stack: the time of the stack itself. */
  stackSelf: Float64Array;
  /** Time and number of the samples with a stack or a marker. */
  busy: number;
  busySamples: number;
  samples: number;
  /** What `samples` are called: those of traced calls are intervals. */
  counted: 'sample' | 'interval';
}

/** The stacks of a trace. A stack's parent precedes it, and is -1 for the outermost frame. */
export interface StackTable {
  frame: Int32Array;
  parent: Int32Array;
}

export class Profile {
  readonly name: string;
  readonly notes: string[];
  readonly markers: string[];
  /** The names and values of each set of labels. */
  readonly labelSets: [string, string][][];
  readonly frames: FrameTable;
  readonly threads: Thread[];
  readonly extent: TimeRange;

  /** By stack. */
  readonly stackFrame: Int32Array;
  readonly stackParent: Int32Array;
  readonly stackDepth: Int32Array;
  /** Whether no ancestor of a stack has the same frame, so that the time of recursive calls counts once. */
  readonly #isOutermost: Uint8Array;
  /** By frame: 1 if it stands for waiting. */
  readonly #waitingFrames: Uint8Array;

  constructor(
    { name, notes, markers, labelSets = [] }: Pick<ProfileData, 'name' | 'notes' | 'markers' | 'labelSets'>,
    frames: FrameTable,
    stacks: StackTable,
    threads: Thread[],
  ) {
    this.name = name;
    this.notes = notes;
    this.markers = markers;
    this.labelSets = labelSets;
    this.frames = frames;
    this.threads = threads;
    this.stackFrame = stacks.frame;
    this.stackParent = stacks.parent;
    this.stackDepth = new Int32Array(this.stackFrame.length);
    for (let stack = 0; stack < this.stackFrame.length; stack++) {
      const parent = this.stackParent[stack];
      this.stackDepth[stack] = parent === -1 ? 0 : this.stackDepth[parent] + 1;
    }
    this.#isOutermost = outermostStacks(stacks, frames.count);
    this.#waitingFrames = Uint8Array.from({ length: frames.count }, (_, frame) => Number(frames.isWaiting(frame)));
    let start = Infinity;
    let end = -Infinity;
    for (const { extent } of threads) {
      if (extent === undefined) continue;
      start = Math.min(start, extent.start);
      end = Math.max(end, extent.end);
    }
    if (start > end) this.extent = { start: 0, end: 1 };
    else this.extent = { start, end: end > start ? end : start + 1 };
  }

  static of(data: ProfileData): Profile {
    const stacks = { frame: Int32Array.from(data.stacks.frame), parent: Int32Array.from(data.stacks.parent) };
    const threads = data.threads.map((thread) => new Thread(thread));
    return new Profile(data, new FrameTable(data), stacks, threads);
  }

  /** The same samples, where the functions of Node.js that call each other are the one that the program has called. */
  withFoldedNode(): Profile {
    const { foldedStacks } = this.frames.data;
    if (foldedStacks === undefined) return this;
    const stacks = { frame: this.stackFrame, parent: this.stackParent };
    const folded = (stack: number): number => (stack === -1 ? -1 : foldedStacks[stack]);
    const threads = this.threads.map((thread) => thread.withStacks(thread.stack.map(folded)));
    return new Profile(this, this.frames, stacks, threads);
  }

  /** Whether `withFoldedNode` changes anything. */
  get hasNodeFrames(): boolean {
    return this.frames.data.foldedStacks !== undefined;
  }

  get frameCount(): number {
    return this.frames.count;
  }

  functionName(frame: number): string {
    return this.frames.functionName(frame);
  }

  location(frame: number): string {
    return this.frames.location(frame);
  }

  /** Whether the thread waits in samples with this stack, or -1 for none. */
  isWaiting(stack: number): boolean {
    return stack !== -1 && this.#waitingFrames[this.stackFrame[stack]] === 1;
  }

  /** The waiting time of a thread. */
  waitingTime({ stack, weight }: Thread): number {
    let time = 0;
    for (let sample = 0; sample < stack.length; sample++) if (this.isWaiting(stack[sample])) time += weight[sample];
    return time;
  }

  /** The frame on top of the stack at a time, or -1. Of several threads, the first that runs JavaScript counts. */
  frameAt(time: number, threads: readonly Thread[] = this.threads): number {
    for (const thread of threads) {
      const stack = thread.stackAt(time);
      if (stack !== -1) return this.stackFrame[stack];
    }
    return -1;
  }

  /** The sums of some threads. */
  totals(range: TimeRange, threads: readonly Thread[] = this.threads): Totals {
    const frames = this.frameCount;
    const totals: Totals = {
      self: new Float64Array(frames),
      total: new Float64Array(frames),
      selfSamples: new Uint32Array(frames),
      stacks: new Float64Array(this.stackFrame.length),
      stackSelf: new Float64Array(this.stackFrame.length),
      busy: 0,
      busySamples: 0,
      samples: 0,
      counted: threads.length > 0 && threads.every(({ hasCalls }) => hasCalls) ? 'interval' : 'sample',
    };
    for (const thread of threads) this.#addSelf(totals, thread, range);
    totals.stacks.set(totals.stackSelf);
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

  /** Adds the samples of a thread. */
  #addSelf(totals: Totals, thread: Thread, range: TimeRange): void {
    const [from, to] = thread.samplesIn(range);
    totals.samples += thread.countIn(range);
    for (let sample = from; sample < to; sample++) {
      const stack = thread.stack[sample];
      const weight = thread.weight[sample];
      if (stack !== -1 || thread.marker[sample] !== NO_MARKER) {
        totals.busy += weight;
        totals.busySamples += 1;
      }
      if (stack === -1) continue;
      const frame = this.stackFrame[stack];
      totals.stackSelf[stack] += weight;
      totals.self[frame] += weight;
      totals.selfSamples[frame] += 1;
    }
  }
}

/** By stack: 1 if no ancestor has the same frame. Visits each stack once, however deep the stacks are. */
function outermostStacks({ frame, parent }: StackTable, frameCount: number): Uint8Array {
  const { length } = frame;
  const isOutermost = new Uint8Array(length);
  // The children of a stack are a linked list. The last element is the root of all stacks.
  const firstChild = new Int32Array(length + 1).fill(-1);
  const nextSibling = new Int32Array(length);
  for (let stack = length - 1; stack >= 0; stack--) {
    const outer = parent[stack] === -1 ? length : parent[stack];
    nextSibling[stack] = firstChild[outer];
    firstChild[outer] = stack;
  }
  /** By frame: how often it is on the path to the current stack. */
  const onPath = new Int32Array(frameCount);
  let stack = firstChild[length];
  while (stack !== -1) {
    isOutermost[stack] = onPath[frame[stack]] === 0 ? 1 : 0;
    if (firstChild[stack] !== -1) {
      onPath[frame[stack]] += 1;
      stack = firstChild[stack];
      continue;
    }
    while (stack !== -1 && nextSibling[stack] === -1) {
      stack = parent[stack];
      if (stack !== -1) onPath[frame[stack]] -= 1;
    }
    if (stack !== -1) stack = nextSibling[stack];
  }
  return isOutermost;
}
