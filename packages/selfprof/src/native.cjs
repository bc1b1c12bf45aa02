'use strict';

// Loads the addon for this Node. V8's symbols differ between majors, yet Node may load another major's addon without an
// error. So the addon says what it was built for.

const fs = require('node:fs');
const path = require('node:path');

const { NAME, NODE_MAJORS, installHint, nativeFolder } = require('./native-package.cjs');

const { modules } = process.versions;
const folder = nativeFolder();
const prefix = `selfprof-${process.platform}-${process.arch}-`;

/**
 * The `process.versions.modules` of the prebuilt addons.
 *
 * @param {string} directory
 */
function available(directory) {
  return fs
    .readdirSync(directory)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.node'))
    .map((name) => name.slice(prefix.length, -'.node'.length));
}

/**
 * @param {string} reason
 * @param {string} directory
 * @param {unknown} [cause]
 */
function loadError(reason, directory, cause) {
  const names = available(directory)
    // The one for this Node does not work, or there would be no error.
    .filter((other) => other !== modules)
    .map((other) => (other in NODE_MAJORS ? `Node ${NODE_MAJORS[other]}` : `modules ${other}`));
  const others =
    names.length > 0 ? `There are prebuilt addons for ${names.join(', ')}.` : 'No prebuilt addon was found.';
  const hint =
    modules in NODE_MAJORS
      ? `in a checkout of selfprof, \`cargo xtask build --node ${NODE_MAJORS[modules]}\` builds it`
      : `use Node ${Object.values(NODE_MAJORS).join(', ')}`;
  return new Error(`selfprof: ${reason}. ${others}\n\nhint: ${hint}`, { cause });
}

/** @returns {import('./native.js').Addon} */
function load() {
  const node = `Node ${process.versions.node} on ${process.platform}-${process.arch}`;
  if (folder === undefined) {
    throw new Error(
      `selfprof: the package ${NAME}, which contains the addon for ${node}, is not installed\n\n${installHint()}`,
    );
  }
  const file = path.join(folder, `${prefix}${modules}.node`);
  if (!fs.existsSync(file)) throw loadError(`there is no addon for ${node}`, folder);
  let addon;
  try {
    addon = require(file);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw loadError(`the addon for ${node} cannot be loaded (${message})`, folder, cause);
  }
  if (String(addon.builtFor()) !== modules) {
    throw loadError(`the addon for ${node} was built for modules ${addon.builtFor()}`, folder);
  }
  return addon;
}

module.exports = load();
