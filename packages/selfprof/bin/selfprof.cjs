#!/usr/bin/env node
'use strict';

// `npx selfprof`: runs the command-line program, which is in the package for this platform.

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const { constants } = require('node:os');
const path = require('node:path');

const { program } = require('../src/native-package.cjs');

/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'];

/** What keys of a terminal send, to all processes of its foreground group. */
const FROM_TERMINAL = ['SIGINT', 'SIGQUIT'];

/** Whether this process and the program belong to the foreground group of a terminal: proc(5), `pgrp` and `tpgid`. */
function isInForeground() {
  const stat = fs.readFileSync('/proc/self/stat', 'utf8');
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group === foreground;
}

/** @param {unknown} error */
function fail(error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

/** @param {string} file */
function run(file) {
  // Where the program finds run.cjs and the report.
  const env = { SELFPROF_NPM: path.dirname(__dirname), ...process.env };
  const child = spawn(file, process.argv.slice(2), { stdio: 'inherit', env });
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      // The program got this signal from the terminal, too.
      if (FROM_TERMINAL.includes(signal) && isInForeground()) return;
      child.kill(signal);
    });
  }
  child.on('error', fail);
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    // Dies of the same signal, so that a shell sees what happened. The exit code is for signals that do not kill Node.
    process.exitCode = 128 + constants.signals[signal];
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

try {
  run(program());
} catch (error) {
  fail(error);
}
