'use strict';

// Finds jsdom, which brings the DOM. It is an optional peer dependency: who opens no page need not install it.

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const { fileURLToPath } = require('node:url');

/**
 * The versions of jsdom that this host knows from the inside. A page's realms are kept apart below jsdom's public face
 * (see dom/substitutes.cjs), so another version is refused rather than half trusted.
 */
const KNOWN = { major: 31, minor: 0 };
const INSTALL = 'npm install --save-dev jsdom@31.0.1';

/** The Nodes that jsdom 31 runs on: the first minor and patch of each major, and every later major. */
const NODES = { 22: [22, 2], 24: [15, 0] };
const FIRST_NODE_WITHOUT_LIMIT = 26;

function checkNode(version = process.versions.node) {
  const [major, minor, patch] = version.split('.').map((part) => parseInt(part, 10));
  if (major >= FIRST_NODE_WITHOUT_LIMIT) return;
  const first = NODES[major];
  if (first !== undefined && (minor > first[0] || (minor === first[0] && patch >= first[1]))) return;
  throw new Error(
    `selfprof/page: pages need Node 22.22.2 or newer, 24.15 or newer, or 26, for jsdom does; this is Node ${version}\n\n` +
      'hint: the rest of selfprof works on this Node',
  );
}

/** Where to look, nearest to the user's program first. */
function* places(wish) {
  if (wish !== undefined) {
    const place = path.resolve(String(wish).startsWith('file:') ? fileURLToPath(wish) : String(wish));
    // The package's own folder, or any file or folder from which it can be required.
    yield { folder: place };
    yield { from: place };
    yield { from: path.join(place, 'index.js') };
    return;
  }
  if (process.argv[1] !== undefined) yield { from: path.resolve(process.argv[1]) };
  yield { from: path.join(process.cwd(), 'index.js') };
  yield { from: __filename };
}

function manifestAt({ folder, from }) {
  try {
    const file = folder === undefined ? createRequire(from).resolve('jsdom/package.json') : path.join(folder, 'package.json');
    const manifest = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (manifest.name !== 'jsdom') return undefined;
    return { folder: fs.realpathSync(path.dirname(file)), version: String(manifest.version) };
  } catch {
    return undefined;
  }
}

/**
 * Finds jsdom.
 *
 * @param {string | URL} [wish] jsdom's folder, or a file or folder from which it resolves; by default the program that
 *   Node runs, the working directory and this package are tried in this order
 * @returns {{ folder: string, version: string }}
 * @throws {Error} when it is not there, is not a known version, or cannot run on this Node
 */
function findLibrary(wish) {
  checkNode();
  for (const place of places(wish)) {
    const found = manifestAt(place);
    if (found === undefined) continue;
    const [major, minor] = found.version.split('.').map(Number);
    if (major === KNOWN.major && minor === KNOWN.minor) return found;
    throw new Error(
      `selfprof/page: jsdom ${found.version} in ${found.folder} is not a version that pages can be hosted on\n\n` +
        `hint: ${INSTALL}`,
    );
  }
  const where = wish === undefined ? '' : ` at ${wish}`;
  throw new Error(`selfprof/page: jsdom was not found${where}; pages need it, the rest of selfprof does not\n\nhint: ${INSTALL}`);
}

module.exports = { checkNode, findLibrary };
