// The events of one profiler.

import { min } from '../polyfill/intrinsics.ts';
import { Float64Array, Uint32Array } from './typed-arrays.ts';

/** A function is called. */
export const ENTER = 0;
/** It returns or throws. */
export const EXIT = 1;
/** It waits, at `await` or `yield`. */
export const SUSPEND = 2;
/** It goes on, or is thrown into or returned from. */
export const RESUME = 3;

/** The events of the first block; each further block has twice as many, up to MAX_BLOCK. */
const MIN_BLOCK = 1_024;
const MAX_BLOCK = 65_536;

export interface Block {
  /** Four times the number of a function, and the kind of event. */
  events: Uint32Array;
  /** In milliseconds. */
  times: Float64Array;
}

export interface Recording {
  start: number;
  /** When it stopped, or when the first event was lost. */
  end: number | undefined;
  /** Whether events were lost. */
  isTruncated: boolean;
  maxEvents: number;
  /** Events that are recorded. */
  count: number;
  blocks: Block[];
  /** The last one, and what is used of it. */
  block: Block;
  used: number;
  onFull: () => void;
}

const newBlock = (size: number): Block => ({ events: new Uint32Array(size), times: new Float64Array(size) });

export function newRecording(start: number, maxEvents: number, onFull: () => void): Recording {
  const block = newBlock(min(MIN_BLOCK, maxEvents));
  return { start, end: undefined, isTruncated: false, maxEvents, count: 0, blocks: [block], block, used: 0, onFull };
}

/** Whether one more event fits. */
export function makeRoom(recording: Recording): boolean {
  const { block, used, count, maxEvents, blocks } = recording;
  if (used < block.times.length) return true;
  if (count >= maxEvents) return false;
  try {
    recording.block = newBlock(min(2 * used, MAX_BLOCK, maxEvents - count));
  } catch {
    // There is no memory.
    return false;
  }
  blocks[blocks.length] = recording.block;
  recording.used = 0;
  return true;
}
