'use strict';

// `selfprof/agent`: records this process continuously, with its workers and children, and has an exporter send what was
// recorded.

const fs = require('node:fs');
const path = require('node:path');
const { isMainThread } = require('node:worker_threads');

const { recordThread, recordedBy } = require('../run/record.cjs');
const { readRequest, setForWorkers, toValue } = require('../run/request.cjs');
const { makeFolder, startExporter } = require('./exporter.cjs');
const { readSettings } = require('./settings.cjs');
const { beginThread } = require('./thread.cjs');

/** The preload of workers and child processes. */
const PRELOAD = path.join(__dirname, '..', '..', 'run.cjs');

/** How many marks and measures a thread records. */
const MAX_ENTRIES = 2 ** 31;

/**
 * How long a process with the id 1 waits at its end until everything is sent, in milliseconds: nothing survives it in a
 * container.
 */
const LONGEST_END = 1000;

let hasStarted = false;

/**
 * Starts the agent of this process, unless it has started.
 *
 * @param {unknown} [options]
 * @returns {boolean} whether the process is recorded
 * @throws {TypeError} if an option is wrong
 */
function startAgent(options) {
  // Workers are recorded by their own preload.
  if (!isMainThread || hasStarted) return hasStarted;
  // The agent of a parent process records this one, which may have inherited `--import selfprof/agent`, too.
  if (recordedBy() === 'agent') return true;
  const settings = readSettings(options);
  if (recordedBy() !== undefined) {
    console.error('selfprof agent: not started, since this process is being recorded by selfprof run or attach');
    return false;
  }
  hasStarted = true;
  const folder = makeFolder(settings);
  const { interval, period, labels, children } = settings;
  const text = JSON.stringify({
    dir: folder,
    interval,
    period: period * 1000,
    limit: null,
    maxEntries: MAX_ENTRIES,
    mode: 'eager',
    nodeFrames: 'fold',
    children,
    labels: labels ?? 'free',
  });
  const value = toValue(text);
  const request = readRequest(PRELOAD, value);
  recordThread(request, { isPreloaded: isPreloaded() });
  beginThread(request);
  if (children) require('../run/child-processes.cjs').follow(request);
  require('../run/workers.cjs').follow(PRELOAD, () => {});
  setForWorkers(value);
  startExporter(folder);
  if (process.pid === 1) process.on('exit', () => waitForExporter(folder));
  return true;
}

/** Waits until the exporter has sent everything, and with that removed the folder. @param {string} folder */
function waitForExporter(folder) {
  const { endLifeSign, pauseRecordings, resumeRecordings } = require('../native.cjs');
  pauseRecordings();
  endLifeSign();
  const until = Date.now() + LONGEST_END;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (fs.existsSync(folder) && Date.now() < until) Atomics.wait(cell, 0, 0, 20);
  // The program may go on, if it has replaced `process.reallyExit()` for example.
  resumeRecordings();
}

/** Whether Node was asked to load `selfprof/agent` before the program. */
function isPreloaded() {
  const words = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
  return /(^|[\s"'=/\\])selfprof[/\\]agent(\.[cm]js)?(["'\s]|$)/.test(words);
}

module.exports = { isPreloaded, startAgent };
