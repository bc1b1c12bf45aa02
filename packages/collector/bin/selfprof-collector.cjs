#!/usr/bin/env node
'use strict';

// `npx @selfprof/collector`: becomes the program, which is in the package for this platform. It replaces this process,
// so that signals reach the program itself and no Node.js stays in memory.

const fs = require('node:fs');
const path = require('node:path');

const NAME = `@selfprof/collector-${process.platform}-${process.arch}`;

function usesMusl() {
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header.glibcVersionRuntime === undefined;
}

function installHint() {
  const { platform, arch } = process;
  if (platform !== 'linux' || arch !== 'x64') return `the collector runs on Linux x64, not on ${platform}-${arch}`;
  if (usesMusl())
    return 'the collector needs glibc, but this system has musl; in Docker, use node:24-slim, not node:24-alpine';
  return 'install @selfprof/collector again, without --omit=optional';
}

/**
 * @param {string} what
 * @param {string} hint
 */
function fail(what, hint) {
  console.error(`error: ${what}\n\nhint: ${hint}`);
  process.exitCode = 1;
}

/** The path of the program; undefined if its package is not installed. */
function program() {
  try {
    return path.join(path.dirname(require.resolve(`${NAME}/package.json`)), 'bin', 'selfprof-collector');
  } catch {
    return undefined;
  }
}

const file = program();
if (file === undefined || !fs.existsSync(file)) {
  fail(`the package ${NAME}, which contains the program, is not installed`, installHint());
} else if (typeof process.execve !== 'function') {
  fail(`Node.js ${process.versions.node} cannot become another program`, `use Node.js 22.15 or newer, or run ${file}`);
} else {
  process.execve(file, [file, ...process.argv.slice(2)], process.env);
}
