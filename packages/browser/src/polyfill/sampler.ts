// Takes the samples of all profilers, when instrumented code counts events: entries and exits of functions, rounds of
// loops, slow natives.
//
// The clock is read after a number of events that is small at first and where time passes unexpectedly, and grows where
// it does not. If a sample is due, the kind of the event tells which function ran until then, so none is invented.

import { SOON_FACTOR, SOON, SURPRISE, TICKS } from './constants.ts';
import { defineGlobal, min, now, queueMicrotask } from './intrinsics.ts';
import { dueTime, ENTERED, IDLE, type Recording, RUNNING, type State, take, UNPLACED } from './recording.ts';
import { captureStack, restoreError } from './stack-text.ts';

/** Recordings that are not full. */
const recordings: Recording[] = [];

let nextDue = Infinity;
let isTicking = false;
/** Whether no event has come since the last job. */
let isIdle = true;
/** Whether an event has come since the microtask before. */
let hasEvents = false;
/** The time of the last event whose time is known. */
let lastTime = 0;
/** What the countdown began with. */
let countdown = 0;
/**
 * The first number: events until the next tick. V8 counts fastest outside of its heap, where it puts more than 64
 * bytes.
 */
const left = new Int32Array(32);
/** The shortest time that the clock has shown. */
let clockStep = Infinity;
/** Events in a millisecond. */
let rate = 100;
/** Events, and the time in which they came, since the rate was updated. */
let events = 0;
let busyTime = 0;

/** Takes the samples that are due at a time. */
function takeDue(time: number, state: State): void {
  if (time < nextDue) return;
  const stack = state < RUNNING ? '' : captureStack();
  for (let index = 0; index < recordings.length; index++) {
    if (time >= dueTime(recordings[index])) take(recordings[index], time, state, stack);
  }
  update();
}

function setChecks(onEnter?: Enter, onCheck?: Check): void {
  defineGlobal('SELFPROF_ENTER', onEnter);
  defineGlobal('SELFPROF_CHECK', onCheck);
}

/** Drops recordings that are full, and ends all checks with the last of them. */
function update(): void {
  let count = 0;
  nextDue = Infinity;
  for (let index = 0; index < recordings.length; index++) {
    const recording = recordings[index];
    const due = dueTime(recording);
    nextDue = min(nextDue, due);
    if (due < Infinity) recordings[count++] = recording;
  }
  recordings.length = count;
  if (!count) {
    isIdle = true;
    setChecks();
  }
}

function beginJob(time: number): void {
  isIdle = false;
  countdown = 0;
  lastTime = time;
  queueMicrotask(endJob);
}

function tick(state: State): void {
  // The engine may call accessors of the page when it makes the text of a stack.
  if (isTicking) return;
  isTicking = true;
  try {
    const time = now();
    hasEvents = true;
    if (isIdle) {
      takeDue(time, IDLE);
      if (recordings.length) beginJob(time);
    } else {
      const elapsed = time - lastTime;
      if (elapsed) clockStep = min(clockStep, elapsed);
      const usual = SURPRISE + clockStep / 2;
      events += countdown - left[0];
      // What takes longer, such as a garbage collection, says nothing of the events around it.
      busyTime += min(elapsed, usual);
      if (busyTime >= 1) {
        // It falls at once: code with few events must not wait for the countdown of code with many.
        rate = min(events / busyTime, 4 * rate + 1);
        events = busyTime = 0;
      }
      // Integers, for engines that keep other numbers in objects.
      countdown =
        elapsed > usual
          ? 0
          : min(2 * countdown + 1, rate / TICKS / (nextDue - time > SOON + clockStep ? 1 : SOON_FACTOR)) | 0;
      lastTime = time;
      if (time >= nextDue) {
        takeDue(time, state);
        // What the stack took is not the page's.
        lastTime = now();
      }
    }
  } catch {
    // The stack is at its end. This is the page's error, which it meets itself.
  }
  left[0] = countdown;
  isTicking = false;
}

/** Runs as a microtask after a job, and again as long as other microtasks run between. */
function endJob(): void {
  try {
    restoreError();
    const time = now();
    takeDue(time, UNPLACED);
    if (hasEvents && recordings.length) queueMicrotask(endJob);
    else isIdle = true;
    hasEvents = false;
    lastTime = time;
  } catch {
    isIdle = true;
  }
  left[0] = countdown = 0;
}

/** Begins to sample: the first sample is taken now. */
export function begin(recording: Recording): void {
  // What is due of others.
  tick(RUNNING);
  if (!recordings.length) setChecks(enter, check);
  recordings[recordings.length] = recording;
  update();
  if (isIdle) beginJob(recording.start);
  tick(RUNNING);
}

/** Ends with the samples that are due. */
export function end(recording: Recording): void {
  tick(RUNNING);
  recording.maxSamples = recording.taken;
  update();
}

// Both run very often. They are so small that engines put their code in place of each call.

const enter: Enter = () => {
  if (--left[0] < 0) tick(ENTERED);
};

const check: Check = () => {
  if (--left[0] < 0) tick(RUNNING);
};

// The function may have no other check until its job ends.
enter.resume = () => {
  enter();
  left[0] = countdown = 0;
};

// What a regular expression takes is that of about eight other events.
check.scan = () => {
  left[0] -= 7;
  check();
};

check.native = () => {
  tick(RUNNING);
};

setChecks();
