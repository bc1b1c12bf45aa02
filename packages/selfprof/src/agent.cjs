'use strict';

// The agent of this thread: the one V8 sampler that all profilers of the thread share.

const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { isMainThread, threadId, threadName } = require('node:worker_threads');

const recorder = require('./entry-recorder.cjs');
const { pauseForEndings } = require('./endings.cjs');
const native = require('./native.cjs');
const { workScripts } = require('./with-marker.cjs');

/**
 * @typedef {object} AgentSettings
 * @property {'eager' | 'lazy'} mode when V8 logs code: always, or while a profiler runs
 */

/**
 * Reads an environment variable that has one of a few values.
 *
 * @template {string} T
 * @param {string} name
 * @param {readonly T[]} values
 * @returns {T | undefined}
 */
function readVariable(name, values) {
  const value = process.env[name];
  if (value === undefined || value === '') return undefined;
  const known = values.find((candidate) => candidate === value);
  if (known !== undefined) return known;
  throw new Error(`selfprof: ${name} is '${value}'\n\nhint: use one of ${values.join(', ')}`);
}

/**
 * The prefixes of host scripts, whose frames are shown like those of built-in functions: this package's scripts, and
 * Node's unless they are to be shown in full.
 */
function hostScripts() {
  const nodeFrames = readVariable('SELFPROF_NODE_FRAMES', ['fold', 'full']);
  const ownScripts = [__dirname + path.sep, path.join(__dirname, '..', 'run.cjs')];
  return nodeFrames === 'full' ? ownScripts : ['node:', ...ownScripts];
}

/** The scripts that start and stop profilers and recordings: traces leave them out. */
const SAMPLER_SCRIPTS = [path.join(__dirname, 'profiler.cjs'), path.join(__dirname, 'run', 'record.cjs')];

/** @type {number | undefined} */
let origin;

/**
 * The time origin of this thread's `performance` on the addon's clock, in milliseconds. The two clocks cannot be read
 * at once, so one is read between two readings of the other, and the closest of a few attempts counts.
 */
function timeOrigin() {
  if (origin !== undefined) return origin;
  let closest = Infinity;
  let result = 0;
  for (let attempt = 0; attempt < 8; attempt++) {
    const before = performance.now();
    const now = native.now();
    const after = performance.now();
    if (after - before < closest) {
      closest = after - before;
      result = now - (before + after) / 2;
    }
  }
  origin = result;
  return result;
}

/** The thread's name in traces of all threads. Node exposes the names of workers from 22.20 and 24.6 on. */
function traceName() {
  if (isMainThread) return 'main';
  return threadName && threadName !== 'WorkerThread' ? threadName : `worker-${threadId}`;
}

/** @type {AgentSettings | undefined} */
let settings;
/** Whether the agent may have ended with a recording. */
let isTemporary = false;
/** Whether this copy of the package made the agent. Test runners load the package anew for each file, in one thread. */
let madeAgent = false;

/**
 * Makes the agent unless the thread has one; the first call decides. Environment variables override the options,
 * because the person who deploys a program may know more than its author.
 *
 * @param {Partial<AgentSettings>} [options]
 * @returns {AgentSettings} the settings of the agent
 */
function ensureAgent(options) {
  const agent = settings !== undefined && (!isTemporary || native.keepAgent()) ? settings : makeAgent(options, false);
  isTemporary = false;
  return agent;
}

/**
 * As `ensureAgent`, for a recording that a recorder asked for. Unless the program also uses the package, the agent ends
 * with the recording, and what profiling costs with it.
 *
 * @param {Partial<AgentSettings>} options
 */
function ensureAgentForRecording(options) {
  if (settings !== undefined && !isTemporary) return settings;
  isTemporary = true;
  return makeAgent(options, true);
}

/**
 * @param {Partial<AgentSettings> | undefined} options
 * @param {boolean} isForRecording whether it ends with the recording
 * @returns {AgentSettings}
 */
function makeAgent(options, isForRecording) {
  const mode = readVariable('SELFPROF_PROFILING_MODE', ['eager', 'lazy']) ?? options?.mode ?? 'eager';
  madeAgent = native.begin(
    mode,
    hostScripts(),
    timeOrigin(),
    threadId,
    traceName(),
    recorder.update,
    SAMPLER_SCRIPTS,
    workScripts,
    isForRecording,
  );
  if (madeAgent && isMainThread) pauseForEndings();
  if (!madeAgent && !isForRecording) native.keepAgent();
  settings = { mode };
  updateEntryRecording();
  return settings;
}

/** Starts or stops recording marks and measures if needed, without waiting for the event loop. */
function updateEntryRecording() {
  if (madeAgent) recorder.update();
}

module.exports = { SAMPLER_SCRIPTS, ensureAgent, ensureAgentForRecording, timeOrigin, updateEntryRecording };
