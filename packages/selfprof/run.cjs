'use strict';

// The preload of `selfprof run`: records this thread into a journal until the thread ends. Node runs it in the main thread
// and in every worker, before the program.

const path = require('node:path');
const { getEnvironmentData, isMainThread, setEnvironmentData, threadId } = require('node:worker_threads');

const KEY = 'selfprof.run';

// The program sees its process as it would be without selfprof, and child processes are not recorded. Workers still get this
// preload, because Node hands them its own copy of the options.
if (isMainThread) {
  setEnvironmentData(KEY, process.env.SELFPROF_RUN);
  delete process.env.SELFPROF_RUN;
}
const flag = process.execArgv.indexOf(__filename);
if (flag > 0) process.execArgv.splice(flag - 1, 2);

const options = getEnvironmentData(KEY);
if (typeof options === 'string') {
  const { dir, interval, limit, maxEntries, mode, nodeFrames } = JSON.parse(options);
  const native = require('./src/native.cjs');
  const { ensureAgent, updateEntryRecording } = require('./src/agent.cjs');
  const agent = ensureAgent({ mode, nodeFrames });
  native.record({
    path: path.join(dir, isMainThread ? 'main.journal' : `worker-${threadId}.journal`),
    sampleInterval: interval,
    limit: limit ?? undefined,
    maxEntries: maxEntries ?? undefined,
    threadId,
    mode: agent.mode,
    timeOrigin: performance.timeOrigin,
    node: process.version,
  });
  updateEntryRecording();
}
