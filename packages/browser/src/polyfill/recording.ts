// The samples of one profiler. All are `interval` apart, so that only what they show is kept.

import { apply, dictionary, floor, lastIndexOf, min, slice } from './intrinsics.ts';

/** Nothing ran. */
export const IDLE = 0;
/** JavaScript ran, and nobody knows which. */
export const UNPLACED = 1;
/** The innermost function of the stack ran. */
export const RUNNING = 2;
/** The innermost function of the stack was entered just now: its caller ran. */
export const ENTERED = 3;

export type State = typeof IDLE | typeof UNPLACED | typeof RUNNING | typeof ENTERED;

/** A line of a stack, below that of its caller. */
export interface CallNode {
  text: string;
  caller?: CallNode;
  callees?: Record<string, CallNode | undefined>;
  /** Its stack in the trace. */
  stackId?: number;
}

/** Samples one after the other that show the same. */
export interface Run {
  count: number;
  state: State;
  node: CallNode | undefined;
}

export interface Recording {
  /** When the first sample was taken. */
  start: number;
  interval: number;
  /** Samples that were taken so far. */
  taken: number;
  maxSamples: number;
  runs: Run[];
  root: CallNode;
  /** The stack that was added last, which is often the next one. */
  stack?: string;
  leaf?: CallNode;
}

export const newRecording = (start: number, interval: number, maxSamples: number): Recording => ({
  start,
  interval,
  taken: 0,
  maxSamples,
  runs: [],
  root: { text: '' },
});

/** When the next sample is due. */
export function dueTime({ start, interval, taken, maxSamples }: Recording): number {
  return taken < maxSamples ? start + taken * interval : Infinity;
}

/** Takes all samples that are due until a time, which must not be before the first that is due. */
export function take(recording: Recording, time: number, state: State, stack: string): void {
  const { start, interval, taken, maxSamples, runs } = recording;
  const due = min(floor((time - start) / interval) + 1, maxSamples);
  const node = state < RUNNING ? undefined : leafOf(recording, stack);
  recording.taken = due;
  const last = runs.length ? runs[runs.length - 1] : undefined;
  if (last && last.state === state && last.node === node) last.count += due - taken;
  else runs[runs.length] = { count: due - taken, state, node };
}

function leafOf(recording: Recording, stack: string): CallNode | undefined {
  if (stack !== recording.stack) {
    let node = recording.root;
    for (let end = stack.length; end > 0; ) {
      const start = apply(lastIndexOf, stack, ['\n', end - 1]) + 1;
      const text = apply(slice, stack, [start, end]);
      if (text) {
        node.callees ??= dictionary();
        node = node.callees[text] ??= { text, caller: node };
      }
      end = start - 1;
    }
    recording.stack = stack;
    recording.leaf = node;
  }
  return recording.leaf;
}
