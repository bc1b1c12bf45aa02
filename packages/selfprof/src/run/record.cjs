'use strict';

// Recording a thread, or saying why it cannot be recorded.

const fs = require('node:fs');
const path = require('node:path');
const { isMainThread, threadId, threadName } = require('node:worker_threads');

/** The thread's name. Node exposes the names of workers from 22.20 and 24.6 on. */
function nameOfThread() {
  if (isMainThread) return 'main-thread';
  return threadName && threadName !== 'WorkerThread' ? threadName : `worker-${threadId}`;
}

/**
 * The name of the thread's files, without their suffixes.
 *
 * @param {import('./request.cjs').Request} request
 */
function fileOf({ settings, processName }) {
  return path.join(settings.dir, `${processName}.${isMainThread ? 'main' : `worker-${threadId}`}`);
}

/**
 * The recorder of this thread's recording: the socket of `selfprof run`, or the folder of an agent.
 *
 * @type {string | undefined}
 */
let recorder;
let isOfAgent = false;

/**
 * Whether this thread has begun this recording already.
 *
 * @param {import('./request.cjs').Request} request
 */
function hasBegun({ settings }) {
  return recorder !== undefined && recorder === recorderOf(settings);
}

/** @param {import('./request.cjs').Settings} settings */
function recorderOf({ connection, dir }) {
  return connection ?? dir;
}

/**
 * Who records this thread: an agent, `selfprof run` or `attach`, or nobody.
 *
 * @returns {'agent' | 'command' | undefined}
 */
function recordedBy() {
  if (recorder === undefined) return undefined;
  return isOfAgent ? 'agent' : 'command';
}

/**
 * @typedef {object} RecordedThread
 * @property {boolean} isPreloaded whether the program has not begun yet
 * @property {() => void} [onEnd] called if the recording ends before the thread
 */

/**
 * Records this thread into a journal until the thread ends.
 *
 * @param {import('./request.cjs').Request} request
 * @param {RecordedThread} thread
 * @returns {boolean} false if the recording has ended already
 */
function recordThread(request, thread) {
  const { connection } = request.settings;
  // A process that outlives the recording passes the request on to its children all the same.
  if (connection !== undefined && !fs.existsSync(connection)) return false;
  if (hasBegun(request)) return true;
  const earlier = recorder;
  // First of all: the inspector may interrupt the preload of a worker, and call this again.
  recorder = recorderOf(request.settings);
  try {
    const isRecording = beginRecording(request, thread);
    isOfAgent = request.settings.period !== undefined;
    return isRecording;
  } catch (error) {
    recorder = earlier;
    throw error;
  }
}

/**
 * @param {import('./request.cjs').Request} request
 * @param {RecordedThread} thread
 */
function beginRecording(request, { isPreloaded, onEnd }) {
  const { connection, keep, period, interval, limit, maxEntries, mode, nodeFrames } = request.settings;
  const native = require('../native.cjs');
  const { ensureAgentForRecording, updateEntryRecording } = require('../agent.cjs');
  const agent = ensureAgentForRecording({ mode });
  if (period !== undefined) {
    const content = JSON.stringify({ pid: process.pid, command: request.command, node: process.version });
    native.beginLifeSign(path.join(request.settings.dir, `${request.processName}.alive`), content);
  }
  const options = {
    path: `${fileOf(request)}.journal`,
    connection,
    keep: keep ?? undefined,
    period,
    sampleInterval: interval,
    limit: limit ?? undefined,
    maxEntries: maxEntries ?? undefined,
    threadId,
    threadName: nameOfThread(),
    command: request.command,
    mode: agent.mode,
    timeOrigin: performance.timeOrigin,
    node: process.version,
    foldNodeFrames: nodeFrames === 'fold',
    // Node ends a worker whose heap is full, and with that its recording ends as always.
    watchHeapLimit: isMainThread && isPreloaded && !writesHeapSnapshots(),
  };
  const isRecording = native.record(options, () => {
    updateEntryRecording();
    onEnd?.();
  });
  updateEntryRecording();
  return isRecording;
}

/** Whether Node may have been asked for heap snapshots when the heap nears its limit. */
function writesHeapSnapshots() {
  const options = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
  return /--heapsnapshot[-_]near[-_]heap[-_]limit|--experimental[-_](default[-_])?config[-_]file/.test(options);
}

/**
 * Tells `selfprof run` why a thread is not recorded.
 *
 * @param {import('./request.cjs').Request} request
 * @param {unknown} error
 */
function reportFailure(request, error) {
  // Only the first paragraph: the hints are for programs that load the package themselves.
  const message = (error instanceof Error ? error.message : String(error)).split('\n\n')[0];
  const failure = { pid: process.pid, command: request.command, message };
  try {
    fs.writeFileSync(`${fileOf(request)}.failure`, JSON.stringify(failure));
  } catch {
    // The recording has ended, and with it its directory.
  }
}

module.exports = { hasBegun, recordedBy, recordThread, reportFailure };
