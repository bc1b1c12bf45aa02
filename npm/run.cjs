'use strict';

// The preload of `selfprof run`: records this thread into a journal until it ends. Node runs it in the main thread and in
// every worker, before the program.

const path = require('node:path');
const { getEnvironmentData, isMainThread, setEnvironmentData, threadId } = require('node:worker_threads');

const KEY = 'selfprof.run';

// The program is to see the process that it would have been without us, and its child processes are not ours. Workers
// still get this preload: Node hands its own copy of the options to them.
if (isMainThread) {
  setEnvironmentData(KEY, process.env.SELFPROF_RUN);
  delete process.env.SELFPROF_RUN;
}
const flag = process.execArgv.indexOf(__filename);
if (flag > 0) process.execArgv.splice(flag - 1, 2);

const wishes = getEnvironmentData(KEY);
if (wishes !== undefined) {
  const { dir, interval, limit, maxEntries, mode, nodeFrames } = JSON.parse(wishes);
  const native = require('./lib/native.cjs');
  const { attendToEntries, begin } = require('./lib/agent.cjs');
  const begun = begin({ mode, nodeFrames });
  native.record({
    path: path.join(dir, isMainThread ? 'main.journal' : `worker-${threadId}.journal`),
    sampleInterval: interval,
    limit: limit ?? undefined,
    maxEntries: maxEntries ?? undefined,
    threadId,
    mode: begun.mode,
    timeOrigin: performance.timeOrigin,
    node: process.version,
  });
  attendToEntries();
}
