'use strict';

// Makes this thread's agent: the V8 sampler that all profilers of the thread share.

const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { isMainThread, threadId, threadName } = require('node:worker_threads');

const recorder = require('./entry-recorder.cjs');
const native = require('./native.cjs');
const { workScripts } = require('./with-marker.cjs');

/** Reads an environment variable that has one of a few values. */
function setting(name, values) {
  const value = process.env[name];
  if (value === undefined || value === '' || values.includes(value)) return value || undefined;
  throw new Error(`selfprof: ${name} is '${value}'\n\nhint: it is one of ${values.join(', ')}`);
}

/**
 * Whose frames are host code, shown as built-in functions are: Node's own scripts, unless they are wanted in full, and
 * this package's.
 */
function hostScripts(nodeFrames) {
  const own = [__dirname + path.sep, path.join(__dirname, '..', 'run.cjs')];
  return nodeFrames === 'full' ? own : ['node:', ...own];
}

/** The scripts that profilers are started and stopped by: a profile does not show them. */
const SAMPLER = [path.join(__dirname, 'profiler.cjs')];

let origin;

/**
 * The time origin of this thread's `performance` on the addon's clock, in milliseconds. The two clocks cannot be read at
 * once, so one is read between two readings of the other, and the closest of a few tries counts.
 */
function timeOrigin() {
  if (origin !== undefined) return origin;
  let closest = Infinity;
  for (let attempt = 0; attempt < 8; attempt++) {
    const before = performance.now();
    const now = native.now();
    const after = performance.now();
    if (after - before < closest) {
      closest = after - before;
      origin = now - (before + after) / 2;
    }
  }
  return origin;
}

/**
 * What others find this thread under: the name that it was given, which Node tells from 22.20 and 24.6 on, or one made of
 * its id.
 */
function ownName() {
  if (isMainThread) return 'main';
  return threadName && threadName !== 'WorkerThread' ? threadName : `worker-${threadId}`;
}

let begun = null;
/** Whether the agent is that of this copy of the package: test runners load it anew for each file, in the same thread. */
let isOurs = false;

/**
 * Makes the agent unless the thread has one; the first call decides. What the environment says goes before what the
 * program says, because whoever deploys a program knows more than who wrote it.
 *
 * @param {{ mode?: 'eager' | 'lazy', nodeFrames?: 'fold' | 'full' }} [wishes]
 * @returns {{ mode: 'eager' | 'lazy', nodeFrames: 'fold' | 'full' }} what it was made with
 */
function begin(wishes = {}) {
  if (begun === null) {
    const mode = setting('SELFPROF_PROFILING_MODE', ['eager', 'lazy']) ?? wishes.mode ?? 'eager';
    const nodeFrames = setting('SELFPROF_NODE_FRAMES', ['fold', 'full']) ?? wishes.nodeFrames ?? 'fold';
    isOurs = native.begin(mode, hostScripts(nodeFrames), timeOrigin(), threadId, ownName(), recorder.attend, SAMPLER, workScripts);
    begun = { mode, nodeFrames };
    attendToEntries();
  }
  return begun;
}

/** Sees to it that marks and measures are recorded if they are wanted, without waiting for the event loop. */
function attendToEntries() {
  if (isOurs) recorder.attend();
}

module.exports = { SAMPLER, attendToEntries, begin, timeOrigin };
