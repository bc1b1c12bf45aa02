'use strict';

// What `selfprof run` and `selfprof attach` ask of the processes that they record. It arrives in environment variables,
// which are removed, so that the program sees its environment as it would be without selfprof. Workers get the request
// as environment data.

const path = require('node:path');
const { getEnvironmentData, isMainThread, setEnvironmentData } = require('node:worker_threads');

/** The environment variable with the settings. Child processes get it, too. */
const VARIABLE = 'SELFPROF_RUN';
/** The key of the environment data. */
const KEY = 'selfprof.run';
/** The longest command line in a journal. */
const MAX_COMMAND_LENGTH = 1000;

/**
 * @typedef {object} Settings
 * @property {string} dir the directory of the journals
 * @property {string} [connection] the socket of `selfprof run`
 * @property {number | null} [keep] how many milliseconds to keep at least
 * @property {number} [period] the length of the periods that get a journal each, in milliseconds
 * @property {number} interval the sample interval, in milliseconds
 * @property {number | null} limit how many samples to record at most
 * @property {number | null} maxEntries how many marks and measures to record at most; null to record none
 * @property {'eager' | 'lazy'} mode
 * @property {'fold' | 'full'} nodeFrames whether calls within Node's own scripts are folded, or kept for whoever reads
 *   the recording
 * @property {boolean} [children] whether to record child processes
 * @property {boolean | 'free'} [labels] for an agent: whether samples get labels; `free` if that costs nothing
 *
 * @typedef {object} Request
 * @property {string} text the settings as JSON, for child processes
 * @property {string} preload the path of the preload
 * @property {string} processName a name for the files of this process
 * @property {string} command the command line of this process, for people to read
 * @property {Settings} settings
 */

/**
 * The option for `NODE_OPTIONS`. The CLI writes the same.
 *
 * @param {string} preload
 */
function nodeOption(preload) {
  return `--require="${preload.replace(/[\\"]/g, '\\$&')}"`;
}

/**
 * The value of `NODE_OPTIONS` without our option; undefined if nothing else is in it.
 *
 * @param {string | undefined} value
 * @param {string} option
 */
function withoutOption(value, option) {
  if (value === undefined || !value.includes(option)) return value;
  const rest = value.replace(`${option} `, '').replace(option, '');
  return rest === '' ? undefined : rest;
}

/**
 * A value of `NODE_OPTIONS` with our option.
 *
 * @param {string} preload
 * @param {string | undefined} value
 */
function withOption(preload, value) {
  const option = nodeOption(preload);
  const others = value === undefined ? undefined : withoutOption(String(value), option);
  return others === undefined || others === '' ? option : `${option} ${others}`;
}

/** Removes our option from the environment. */
function removeOption(/** @type {string} */ preload) {
  const others = withoutOption(process.env.NODE_OPTIONS, nodeOption(preload));
  if (others === undefined) delete process.env.NODE_OPTIONS;
  else if (others !== process.env.NODE_OPTIONS) process.env.NODE_OPTIONS = others;
}

/**
 * The request for this thread, if there is one.
 *
 * @param {string} preload the path of the preload
 * @returns {Request | undefined}
 */
function takeRequest(preload) {
  removeOption(preload);
  if (isMainThread) setForWorkers(readVariable());
  // Options of the command line, and of workers that have options of their own. Two words, as `--require` may be
  // written.
  const flag = process.execArgv.indexOf(preload);
  if (flag > 0) process.execArgv.splice(flag - 1, 2);
  const value = getEnvironmentData(KEY);
  return Array.isArray(value) ? readRequest(preload, value) : undefined;
}

/**
 * @param {string} preload the path of the preload
 * @param {unknown[]} value what {@link toValue} returned
 * @returns {Request}
 */
function readRequest(preload, value) {
  const [text, processName, command] = /** @type {string[]} */ (value);
  /** @type {Settings} */
  const settings = JSON.parse(text);
  return { text, preload, processName, command, settings };
}

/**
 * A request with a name for this process and its command line.
 *
 * @param {string} text the settings as JSON
 */
function toValue(text) {
  // The system may use the id of an ended process again.
  return [text, `${process.pid}.${process.hrtime.bigint().toString(36)}`, commandLine()];
}

/**
 * Passes the request on to workers that start later, or no longer.
 *
 * @param {unknown[] | undefined} value
 */
function setForWorkers(value) {
  setEnvironmentData(KEY, /** @type {any} */ (value));
}

/** The command line of this process: its script and arguments, or else the options of Node. */
function commandLine() {
  const { argv0, argv, execArgv } = process;
  const words = [path.basename(argv0), ...(argv.length > 1 ? argv.slice(1) : execArgv)];
  // As in a shell, a word with spaces has quotes.
  const text = words.map((word) => (/[\s"]/.test(word) ? JSON.stringify(word) : word)).join(' ');
  return text.length > MAX_COMMAND_LENGTH ? `${text.slice(0, MAX_COMMAND_LENGTH)}…` : text;
}

/** The settings, a name for the process, and its command line. Removes the variable. */
function readVariable() {
  const text = process.env[VARIABLE];
  delete process.env[VARIABLE];
  return text === undefined ? undefined : toValue(text);
}

/**
 * Environment variables that ask a child process for a recording.
 *
 * @param {Request} request
 * @param {string | undefined} nodeOptions its other options of Node
 */
function childVariables({ text, preload }, nodeOptions) {
  return { [VARIABLE]: text, NODE_OPTIONS: withOption(preload, nodeOptions) };
}

module.exports = { childVariables, readRequest, setForWorkers, takeRequest, toValue, withOption };
