'use strict';

// The program of a worker's thread. It loads those parts of jsdom that workers have, and no document.

const { thread } = require('../thread/thread.cjs');

const { evaluate } = require('../automation/evaluate-script.cjs');
const { reportException, reportRejection } = require('../jsdom/exceptions.cjs');
const { onWorkerGone } = require('../apis/started-workers.cjs');
const { openScope } = require('./worker-scope.cjs');
const { runWorker } = require('./worker-scripts.cjs');
require('../jsdom/event-times.cjs');
require('../jsdom/promise-jobs.cjs');

/** @type {Jsdom.Window} */
let global;

/** @type {import('../page-thread.cjs').DomProgram} */
module.exports = {
  receive(message) {
    if (message.type === 'evaluate') evaluate(message);
    else if (message.type === 'worker gone') onWorkerGone(message);
  },

  open({ document, content, port }) {
    const { worker, start } = openScope(document, port);
    global = worker.window;
    runWorker(worker, document, content).then((hasRun) => {
      if (hasRun) thread.enter(start);
    });
  },

  setVisible() {},
  unload() {},
  close() {},
  report: (error) => reportException(global, error),
  reject: (reason, promise) => reportRejection(global, reason, promise),
};
