'use strict';

// Passes marks and measures to the addon while this thread is recorded: by `selfprof run --marks`, or by
// profileThreads(), which another thread may have called.

const { collect } = require('./entries.cjs');
const native = require('./native.cjs');

/** How many names are remembered. A program may make up a new name for each mark. */
const MAX_NAMES = 1024;

/**
 * The addon's numbers of names.
 *
 * @type {Map<string, number>}
 */
const ids = new Map();

/** @type {ReturnType<typeof collect> | undefined} */
let collection;

/**
 * Nothing is buffered here, because a thread may end without running JavaScript again.
 *
 * @type {import('./entries.cjs').CollectSink}
 */
function record(entryType, name, startTime, duration) {
  let id = ids.get(name);
  if (id === undefined) {
    if (ids.size === MAX_NAMES) forgetNames();
    id = native.nameEntry(name);
    ids.set(name, id);
  }
  native.recordEntry(entryType === 'measure', id, startTime, duration);
}

function forgetNames() {
  ids.clear();
  native.forgetEntryNames();
}

/** Starts or stops recording, after a change of whether entries are wanted. */
function update() {
  if (native.entriesAreWanted()) {
    collection ??= collect(record);
  } else if (collection !== undefined) {
    collection.stop();
    collection = undefined;
    forgetNames();
  }
}

module.exports = { record, update };
