'use strict';

// Recording a thread, or saying why it cannot be recorded.

const fs = require('node:fs');
const path = require('node:path');
const { threadId, threadName } = require('node:worker_threads');

/**
 * The thread's name. Node exposes the names of workers from 22.20 and 24.6 on.
 *
 * @param {boolean} isMain
 */
function nameOf(isMain) {
  if (isMain) return 'main-thread';
  return threadName && threadName !== 'WorkerThread' ? threadName : `worker-${threadId}`;
}

/**
 * Records this thread into a journal until the thread ends. Never throws: the program runs in any case.
 *
 * @param {import('./request.cjs').Request} request
 * @param {boolean} isMain whether this is the main thread
 */
function recordThread({ settings, processName, command }, isMain) {
  const file = `${processName}.${isMain ? 'main' : `worker-${threadId}`}`;
  try {
    const { dir, interval, limit, maxEntries, mode, nodeFrames } = settings;
    const native = require('../native.cjs');
    const { ensureAgent, updateEntryRecording } = require('../agent.cjs');
    const agent = ensureAgent({ mode, nodeFrames });
    native.record({
      path: path.join(dir, `${file}.journal`),
      sampleInterval: interval,
      limit: limit ?? undefined,
      maxEntries: maxEntries ?? undefined,
      threadId,
      threadName: nameOf(isMain),
      command,
      mode: agent.mode,
      timeOrigin: performance.timeOrigin,
      node: process.version,
    });
    updateEntryRecording();
  } catch (error) {
    reportFailure(path.join(settings.dir, `${file}.failure`), command, error);
  }
}

/**
 * Tells `selfprof run` why a thread is not recorded.
 *
 * @param {string} file
 * @param {string} command
 * @param {unknown} error
 */
function reportFailure(file, command, error) {
  // Only the first paragraph: the hints are for programs that load the package themselves.
  const message = (error instanceof Error ? error.message : String(error)).split('\n\n')[0];
  const failure = { pid: process.pid, threadId, command, message };
  try {
    // Without the directory, the recording has ended, and nobody waits for this process.
    fs.writeFileSync(file, JSON.stringify(failure));
  } catch {}
}

module.exports = { recordThread };
