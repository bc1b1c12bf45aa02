'use strict';

// Loads the addon that was built for this Node. V8's symbols differ between majors, and a Node may load another major's
// addon without a word, so the addon says what it was built for.

const fs = require('node:fs');
const path = require('node:path');

const MAJORS = { 115: 'Node 20', 127: 'Node 22', 137: 'Node 24', 147: 'Node 26' };

const directory = path.join(__dirname, '..', 'native');
const prefix = `selfprof-${process.platform}-${process.arch}-`;

/** The `process.versions.modules` of the addons that are there for this platform. */
function available() {
  let names;
  try {
    names = fs.readdirSync(directory);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.startsWith(prefix) && name.endsWith('.node'))
    .map((name) => name.slice(prefix.length, -'.node'.length));
}

function missing(reason, cause) {
  const there = available()
    // The one for this Node is missing, or is not what its name says.
    .filter((modules) => modules !== process.versions.modules)
    .map((modules) => MAJORS[modules] ?? `modules ${modules}`);
  const list = there.length > 0 ? `It is there for ${there.join(', ')}.` : 'It is there for no Node at all.';
  const major = process.versions.node.split('.')[0];
  return new Error(
    `selfprof: ${reason} for Node ${process.versions.node} on ${process.platform}-${process.arch}. ${list}\n\n` +
      `hint: in a checkout of selfprof, \`cargo xtask build --node ${major}\` builds it`,
    cause && { cause },
  );
}

function load() {
  const file = path.join(directory, `${prefix}${process.versions.modules}.node`);
  if (!fs.existsSync(file)) throw missing('there is no addon');
  let native;
  try {
    native = require(file);
  } catch (cause) {
    throw missing(`the addon cannot be loaded (${cause.message}), so there is none`, cause);
  }
  if (String(native.builtFor()) !== process.versions.modules) {
    throw missing(`the addon was built for modules ${native.builtFor()}, so there is none`);
  }
  return native;
}

module.exports = load();
