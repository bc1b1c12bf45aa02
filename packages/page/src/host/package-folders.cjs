'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { readManifest } = require('../client/find-jsdom.cjs');

/**
 * Where a package is, and those that it requires: in its own folder, in `node_modules` of the folders around it, and
 * wherever links there lead, as with package managers that keep each package in a folder of its own.
 *
 * @param {string} folder without links
 * @returns {string[]} folders, each with a separator at its end
 */
function packageFolders(folder) {
  const folders = [folder + path.sep];
  for (const around of foldersAround(folder)) folders.push(path.join(around, 'node_modules') + path.sep);
  const packages = new Set([folder]);
  for (const dependent of packages)
    for (const name of dependenciesOf(dependent)) {
      const required = locate(dependent, name);
      if (required === undefined || packages.has(required)) continue;
      packages.add(required);
      if (!folders.some((known) => required.startsWith(known))) folders.push(required + path.sep);
    }
  return folders;
}

/** Those where Node looks for `node_modules`. @param {string} folder */
function* foldersAround(folder) {
  let around = folder;
  while (around !== path.dirname(around)) {
    around = path.dirname(around);
    if (path.basename(around) !== 'node_modules') yield around;
  }
}

/** @param {string} folder of a package @returns {string[]} names */
function dependenciesOf(folder) {
  try {
    const { dependencies, optionalDependencies, peerDependencies } = readManifest(path.join(folder, 'package.json'));
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  } catch {
    return [];
  }
}

/** @param {string} dependent folder of a package @param {string} name of one that it requires */
function locate(dependent, name) {
  for (const around of [dependent, ...foldersAround(dependent)]) {
    try {
      return fs.realpathSync(path.join(around, 'node_modules', name));
    } catch {
      // It may be in a folder farther out, or not installed.
    }
  }
  return undefined;
}

module.exports = { packageFolders };
