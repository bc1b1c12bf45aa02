'use strict';

// The process that sends what this one and its children record: `selfprof agent-exporter`. It is started detached, so
// that signals of a terminal do not reach it, and ends when no recorded process is left and everything is sent.

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { program } = require('../native-package.cjs');

/** How long to wait before an exporter that has ended is started again, in milliseconds. */
const RESTART_AFTER = 60_000;
/** The exit code of an exporter that does not understand its settings. */
const WRONG_USAGE = 2;

/**
 * Makes the folder of the journals, with the exporter's settings.
 *
 * @param {import('./settings.cjs').AgentSettings} settings
 * @returns {string} its path
 */
function makeFolder(settings) {
  const { out: output, period, spool, labels: _labels, interval: _interval, children: _children, ...others } = settings;
  const parent = spool ?? os.tmpdir();
  let folder;
  try {
    if (spool !== undefined) fs.mkdirSync(spool, { recursive: true, mode: 0o700 });
    folder = fs.mkdtempSync(path.join(parent, 'selfprof-agent-'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    const hint = 'hint: set TMPDIR or SELFPROF_AGENT_SPOOL to a folder that this user can write';
    throw new Error(`selfprof agent: cannot make a folder for recordings in ${parent}: ${reason}\n\n${hint}`, {
      cause,
    });
  }
  const text = JSON.stringify({ output, period, spool: spool !== undefined, ...others });
  fs.writeFileSync(path.join(folder, 'settings.json'), text, { mode: 0o600 });
  return folder;
}

/**
 * Starts the exporter, and again if it ends before this process does.
 *
 * @param {string} folder
 */
function startExporter(folder) {
  const child = spawn(program(), ['agent-exporter', '--folder', folder], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.unref();
  child.on('error', (error) => console.error(`selfprof agent: cannot start the exporter: ${error.message}`));
  child.on('exit', (code) => {
    // Its settings are wrong, and it has said so.
    if (code === WRONG_USAGE) return;
    setTimeout(() => {
      if (fs.existsSync(folder)) startExporter(folder);
    }, RESTART_AFTER).unref();
  });
}

module.exports = { makeFolder, startExporter };
