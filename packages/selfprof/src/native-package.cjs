'use strict';

// Finds the package with the native parts for this platform: the addons and the command-line program. It is an optional
// dependency, and npm installs it on matching platforms.

const fs = require('node:fs');
const path = require('node:path');

const NAME = `@selfprof/native-${process.platform}-${process.arch}`;

/**
 * The Node majors that have a prebuilt addon, by `process.versions.modules`.
 *
 * @type {Record<string, number>}
 */
const NODE_MAJORS = { 115: 20, 127: 22, 137: 24, 147: 26 };

/** The package's folder; undefined when it is not installed. */
function nativeFolder() {
  try {
    return path.dirname(require.resolve(`${NAME}/package.json`));
  } catch {
    return undefined;
  }
}

function usesMusl() {
  if (process.platform !== 'linux' || process.report === undefined) return false;
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header.glibcVersionRuntime === undefined;
}

/** @param {{ platform: string, arch: string, isMusl: boolean }} [system] */
function installHint({ platform, arch, isMusl } = { ...process, isMusl: usesMusl() }) {
  if (platform !== 'linux' || arch !== 'x64') return `hint: selfprof runs on Linux x64, not on ${platform}-${arch}`;
  if (isMusl)
    return 'hint: selfprof needs glibc, but this system has musl; in Docker, use node:24-slim, not node:24-alpine';
  return 'hint: install selfprof again, without --omit=optional';
}

/**
 * The path of the command-line program.
 *
 * @throws when the package is not installed
 */
function program() {
  const folder = nativeFolder();
  const file = folder && path.join(folder, 'bin', 'selfprof');
  if (file !== undefined && fs.existsSync(file)) return file;
  const what = folder === undefined ? 'is not installed' : 'lacks bin/selfprof';
  throw new Error(`the package ${NAME}, which contains the program, ${what}\n\n${installHint()}`);
}

module.exports = { NAME, NODE_MAJORS, installHint, nativeFolder, program };
