'use strict';

// The preload of `selfprof run`: records this thread into a journal until the thread ends, and passes itself on to worker
// threads and child processes. Node runs it in the main thread and in every worker, before the program.

const { isMainThread } = require('node:worker_threads');

const { recordThread, reportFailure } = require('./src/run/record.cjs');
const { takeRequest } = require('./src/run/request.cjs');

const request = takeRequest(__filename);
if (request !== undefined) {
  try {
    if (request.settings.children) require('./src/run/child-processes.cjs').follow(request);
    require('./src/run/workers.cjs').follow(__filename);
    recordThread(request, isMainThread);
  } catch (error) {
    // The program runs in any case.
    reportFailure(request, isMainThread, error);
  }
}
