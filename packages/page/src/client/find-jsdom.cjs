'use strict';

// Finds jsdom, a peer dependency of this package.

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const { fileURLToPath } = require('node:url');

const { engines } = require('../../package.json');

/** @typedef {{ folder: string, version: string }} Found jsdom */

/**
 * The versions of jsdom that pages can be hosted on. Realms are separated by replacing modules inside jsdom (see
 * page/jsdom/jsdom-hooks.cjs), so other versions are refused.
 */
const KNOWN = { major: 31, minor: 0 };
const INSTALL = 'npm install --save-dev jsdom@31.0.1';

/** @param {string} file `package.json` */
function readManifest(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

/** Checks that jsdom runs on this Node: `engines` of this package says on which. @throws {Error} */
function checkNode(version = process.versions.node) {
  const [major, minor, patch] = version.split('.').map(Number);
  const isSupported = engines.node.split(' || ').some((range) => {
    const [first, leastMinor = 0, leastPatch = 0] = range.replace(/^\D+/, '').split('.').map(Number);
    if (range.startsWith('>=')) return major >= first;
    return major === first && (minor > leastMinor || (minor === leastMinor && patch >= leastPatch));
  });
  if (isSupported) return;
  throw new Error(
    `@selfprof/page: jsdom needs Node 22.22.2 or later, 24.15 or later, or 26; this is Node ${version}\n\n` +
      'hint: the package selfprof works on this Node',
  );
}

/**
 * Where to look, in this order: jsdom's own folder, or a file from which it is resolved.
 *
 * @param {string | URL | undefined} wanted
 * @returns {Generator<{ folder: string } | { from: string }>}
 */
function* candidates(wanted) {
  if (wanted !== undefined) {
    const given = path.resolve(String(wanted).startsWith('file:') ? fileURLToPath(wanted) : String(wanted));
    yield { folder: given };
    // A folder and a file, whichever it is.
    yield { from: path.join(given, 'index.js') };
    yield { from: given };
    return;
  }
  if (process.argv[1] !== undefined) yield { from: path.resolve(process.argv[1]) };
  yield { from: path.join(process.cwd(), 'index.js') };
  yield { from: __filename };
}

/** @param {{ folder: string } | { from: string }} candidate */
function libraryAt(candidate) {
  try {
    const file =
      'folder' in candidate
        ? path.join(candidate.folder, 'package.json')
        : createRequire(candidate.from).resolve('jsdom/package.json');
    const manifest = readManifest(file);
    if (manifest.name !== 'jsdom') return undefined;
    return { folder: fs.realpathSync(path.dirname(file)), version: String(manifest.version) };
  } catch {
    return undefined;
  }
}

/**
 * Finds jsdom.
 *
 * @param {string | URL} [wanted] jsdom's folder, or a file or folder from which it is resolved; by default it is
 *   resolved from the program that Node runs, then from the working directory, then from this package
 * @returns {Found}
 * @throws {Error} when it is not found, has another version, or cannot run on this Node
 */
function findLibrary(wanted) {
  checkNode();
  for (const candidate of candidates(wanted)) {
    const found = libraryAt(candidate);
    if (found === undefined) continue;
    const [major, minor] = found.version.split('.').map(Number);
    if (major === KNOWN.major && minor === KNOWN.minor) return found;
    throw new Error(`@selfprof/page: jsdom ${found.version} in ${found.folder} is not supported\n\nhint: ${INSTALL}`);
  }
  const where = wanted === undefined ? '' : ` at ${wanted}`;
  throw new Error(`@selfprof/page: jsdom was not found${where}\n\nhint: ${INSTALL}`);
}

module.exports = { checkNode, findLibrary, readManifest };
