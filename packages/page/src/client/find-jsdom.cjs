'use strict';

// Finds jsdom, a peer dependency of this package.

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const { fileURLToPath } = require('node:url');

/** @typedef {{ folder: string, version: string }} Found jsdom */

/**
 * The versions of jsdom that pages can be hosted on. Realms are separated by replacing modules inside jsdom (see page/jsdom/jsdom-hooks.cjs),
 * so other versions are refused.
 */
const KNOWN = { major: 31, minor: 0 };
const INSTALL = 'npm install --save-dev jsdom@31.0.1';

/** The versions of Node that jsdom 31 runs on: of some majors from a minor and patch on, and all majors from one on. */
const NODE_VERSIONS = {
  /** @type {Map<number, [minor: number, patch: number]>} */
  from: new Map([
    [22, [22, 2]],
    [24, [15, 0]],
  ]),
  firstUnrestrictedMajor: 26,
};

/** The largest `package.json` that is read, in bytes. */
const MAX_MANIFEST = 1 << 20;

/** @param {string} file `package.json` */
function readManifest(file) {
  const { size } = fs.statSync(file);
  // Whatever is no file, such as a pipe that nobody writes to, has none.
  if (size === 0 || size > MAX_MANIFEST) throw new Error(`${file} has ${size} bytes`);
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

function checkNode(version = process.versions.node) {
  const [major, minor, patch] = version.split('.').map((part) => parseInt(part, 10));
  if (major >= NODE_VERSIONS.firstUnrestrictedMajor) return;
  const first = NODE_VERSIONS.from.get(major);
  if (first !== undefined && (minor > first[0] || (minor === first[0] && patch >= first[1]))) return;
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
 * @param {string | URL} [wanted] jsdom's folder, or a file or folder from which it is resolved; by default it is resolved from the program
 *   that Node runs, then from the working directory, then from this package
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
    throw new Error(
      `@selfprof/page: jsdom ${found.version} in ${found.folder} is not supported\n\n` + `hint: ${INSTALL}`,
    );
  }
  const where = wanted === undefined ? '' : ` at ${wanted}`;
  throw new Error(`@selfprof/page: jsdom was not found${where}\n\nhint: ${INSTALL}`);
}

module.exports = { NODE_VERSIONS, checkNode, findLibrary, readManifest };
