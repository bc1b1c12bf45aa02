'use strict';

// Hands marks and measures to the addon while somebody records those of this thread: the journal of `selfprof run --marks`,
// or a profiling of all threads, which another thread may have begun.

const { collect } = require('./entries.cjs');
const native = require('./native.cjs');

/** How many names of marks and measures are remembered; a program may make up a new one each time. */
const MOST_NAMES = 1024;

/** The numbers that stand for names in the addon. */
const ids = new Map();

let collection;

/** None waits here, since a thread may end in ways in which no JavaScript runs. */
function record(entryType, name, startTime, duration) {
  let id = ids.get(name);
  if (id === undefined) {
    if (ids.size === MOST_NAMES) forgetNames();
    id = native.nameEntry(name);
    ids.set(name, id);
  }
  native.recordEntry(entryType === 'measure', id, startTime, duration);
}

function forgetNames() {
  ids.clear();
  native.forgetEntryNames();
}

/** Begins or ends, if it has changed whether entries are wanted. */
function attend() {
  const isWanted = native.entriesAreWanted();
  if (isWanted === (collection !== undefined)) return;
  if (isWanted) {
    collection = collect(record);
  } else {
    collection.stop();
    collection = undefined;
    forgetNames();
  }
}

module.exports = { attend };
