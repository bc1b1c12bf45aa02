'use strict';

// `selfprof attach`: begins to record a thread that runs already. The inspector calls `attach` in it.

const fs = require('node:fs');
const path = require('node:path');

const { hasBegun, recordThread, reportFailure } = require('./record.cjs');
const { readRequest, setForWorkers, toValue } = require('./request.cjs');

/** The preload of workers and child processes that start later. */
const PRELOAD = path.join(__dirname, '..', '..', 'run.cjs');

/** Undoes what the last recording changed in this thread. */
let undoLast = () => {};

/**
 * Records this thread until it ends or the recorder closes the connection, and then leaves the thread as it was.
 *
 * @param {string} text the settings as JSON
 * @param {unknown[]} [value] the request that the main thread answered with
 * @returns {string} JSON: the request for other threads as `value`, or an `error`
 */
function attach(text, value) {
  try {
    return JSON.stringify({ value: record(value ?? toValue(text)) });
  } catch (error) {
    // Only the first paragraph: the hints are for programs that load the package themselves.
    const [message] = (error instanceof Error ? error.message : String(error)).split('\n\n');
    return JSON.stringify({ error: message });
  }
}

/** @param {unknown[]} value */
function record(value) {
  const request = readRequest(PRELOAD, value);
  // The call may come late, from a thread that was blocked.
  if (!fs.existsSync(request.settings.connection ?? '')) throw new Error('the recording has ended');
  // A worker that has just started may have loaded the preload.
  if (hasBegun(request)) return value;
  /** @type {(() => void)[]} */
  const changes = [];
  const undo = () => {
    for (const undoOne of changes.splice(0)) undoOne();
  };
  const thread = { isPreloaded: false, onEnd: undo };
  if (!recordThread(request, thread)) throw new Error('the recording has ended');
  undoLast();
  undoLast = undo;
  if (request.settings.children) changes.push(require('./child-processes.cjs').follow(request));
  const onFailure = (/** @type {unknown} */ error) => reportFailure(request, `a worker: ${error}`);
  changes.push(require('./workers.cjs').follow(PRELOAD, onFailure), () => setForWorkers(undefined));
  setForWorkers(value);
  return value;
}

module.exports = { attach };
