// Records entries and exits of functions for all profilers. Instrumented code calls SELFPROF_ENTRY and SELFPROF_EXIT
// while one is recording.
//
// Near the end of the stack, SELFPROF_EXIT may fail where SELFPROF_ENTRY did not, because engines compile them at
// different times. What is still open when an outer function ends has lost its exit, which is then recorded, so that
// entries and exits always nest.

import { now } from '../polyfill/intrinsics.ts';
import { ENTER, EXIT, makeRoom, RESUME, type Recording, SUSPEND } from './call-recording.ts';

/** Recordings that are not full. */
const recordings: Recording[] = [];

/** The numbers of functions that were entered and not left, outermost first, up to `depth`. */
const open: number[] = [];
let depth = 0;
/**
 * What entries return is this and the depth. It grows with each period of recording, so that those of earlier periods
 * are known.
 */
let base = 0;

/** Ends recordings to which an event does not fit. */
function dropFull(time: number): void {
  let count = 0;
  for (let index = 0; index < recordings.length; index++) {
    const recording = recordings[index];
    if (makeRoom(recording)) recordings[count++] = recording;
    else {
      recording.end = time;
      recording.isTruncated = true;
      recording.onFull();
    }
  }
  recordings.length = count;
  SELFPROF_ACTIVE = count > 0;
}

function hasRoom(): boolean {
  for (let index = 0; index < recordings.length; index++) {
    const { used, block } = recordings[index];
    if (used >= block.times.length) return false;
  }
  return true;
}

/** Needs room. Calls nothing, so that an event is recorded for all profilers or for none. */
function add(event: number, time: number): void {
  for (let index = 0; index < recordings.length; index++) {
    const recording = recordings[index];
    const { block, used } = recording;
    block.events[used] = event;
    block.times[used] = time;
    recording.used = used + 1;
    recording.count++;
  }
}

/**
 * Records the end of the innermost function, if it was entered. At the end of the stack it may throw, and has then done
 * nothing.
 */
function leave(event: number, time: number): void {
  if (!hasRoom()) dropFull(time);
  add(event, time);
  if (depth > 0) depth--;
}

/** Begins to record. */
export function begin(recording: Recording): void {
  if (recordings.length === 0) {
    base += open.length + 1;
    open.length = depth = 0;
  }
  recordings[recordings.length] = recording;
  SELFPROF_ACTIVE = true;
}

/** Ends recording, unless it has ended. */
export function end(recording: Recording, time: number): void {
  let count = 0;
  for (let index = 0; index < recordings.length; index++)
    if (recordings[index] !== recording) recordings[count++] = recordings[index];
  if (count === recordings.length) return;
  recordings.length = count;
  recording.end = time;
  SELFPROF_ACTIVE = count > 0;
}

SELFPROF_ENTRY = (id, isResumed) => {
  if (!hasRoom()) dropFull(now());
  // The time that recording takes is the caller's.
  add(4 * id + (isResumed ? RESUME : ENTER), now());
  open[depth++] = id;
  return base + depth;
};

SELFPROF_EXIT = (id, activation, isSuspended) => {
  const time = now();
  // Zero if the function was entered before recording began.
  const own = +activation > base ? +activation - base : 0;
  while (depth > own) leave(4 * open[depth - 1] + EXIT, time);
  leave(4 * id + (isSuspended ? SUSPEND : EXIT), time);
  return -1;
};

SELFPROF_FIRST = (value) => value;
