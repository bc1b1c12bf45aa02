'use strict';

const path = require('node:path');

/**
 * Where a package is and those that it requires, as package managers install them: in its own folder, and in `node_modules` of the folders around it.
 *
 * @param {string} folder
 */
function packagesOf(folder) {
  const folders = [folder + path.sep];
  for (let around = path.dirname(folder); around !== path.dirname(around); around = path.dirname(around)) {
    if (path.basename(around) !== 'node_modules') folders.push(path.join(around, 'node_modules') + path.sep);
  }
  return folders;
}

module.exports = { packagesOf };
