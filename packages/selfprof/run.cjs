'use strict';

// The preload of `selfprof run`: records this thread into a journal until the thread ends, and passes itself on to
// worker threads and child processes. Node runs it in the main thread and in every worker, before the program.

const { hasBegun, recordThread, reportFailure } = require('./src/run/record.cjs');
const { setForWorkers, takeRequest } = require('./src/run/request.cjs');

const request = takeRequest(__filename);
// `selfprof attach` may have interrupted this.
if (request !== undefined && !hasBegun(request)) {
  try {
    /** @type {(() => void)[]} */
    const undo = [];
    if (request.settings.children) undo.push(require('./src/run/child-processes.cjs').follow(request));
    undo.push(require('./src/run/workers.cjs').follow(__filename), () => setForWorkers(undefined));
    const onEnd = () => {
      for (const undoOne of undo) undoOne();
    };
    recordThread(request, { isPreloaded: true, onEnd });
    if (request.settings.labels !== undefined) require('./src/continuous/thread.cjs').beginThread(request);
  } catch (error) {
    // The program runs in any case.
    reportFailure(request, error);
  }
}
