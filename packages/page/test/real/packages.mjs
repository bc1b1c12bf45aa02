// JavaScript of real sites from npm. `cargo xtask test` downloads it, at the versions in xtask/src/packages.rs, and
// passes the folders in environment variables.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript' };

/** The folder `node_modules` with a package and its dependencies. */
export function modulesOf(variable) {
  const folder = process.env[variable];
  assert.ok(folder, `${variable} names no package; \`cargo xtask test --only pages\` sets it`);
  const at = folder.lastIndexOf(`${path.sep}node_modules${path.sep}`);
  return folder.slice(0, at + '/node_modules'.length);
}

/** A file of a package as text. */
export function packageText(modules, file) {
  return fs.readFileSync(path.join(modules, file), 'utf8');
}

/**
 * A route for all other paths: `/npm/react/umd/react.js` is that file of the package.
 *
 * @param {...string} modules folders to look in
 */
export function packageRoute(...modules) {
  return ({ url }) => {
    const { pathname } = new URL(url, 'http://any.test');
    const name = pathname.startsWith('/npm/') ? pathname.slice('/npm/'.length) : undefined;
    const file =
      name === undefined
        ? undefined
        : modules.map((folder) => path.join(folder, name)).find((place) => fs.existsSync(place));
    if (file === undefined) return undefined;
    return { body: fs.readFileSync(file), headers: { 'content-type': TYPES[path.extname(file)] ?? 'text/plain' } };
  };
}
