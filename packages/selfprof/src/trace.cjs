'use strict';

// Turns the addon's columns into the dictionaries of the specification. Members are in WebIDL's lexicographical order,
// and members that do not apply are absent.

/**
 * @typedef {import('./native.js').CollectedEntries} CollectedEntries
 * @typedef {import('./native.js').TraceColumns} TraceColumns
 * @typedef {import('./native.js').TraceOutput} TraceOutput
 * @typedef {import('../index.js').ProfilerTrace} ProfilerTrace
 */

/**
 * What `stop()` returns to a program.
 *
 * @param {TraceOutput} output of the addon
 * @param {import('../index.js').ProfilerTraceFormat} format the format of the output
 * @param {CollectedEntries} [collected] the marks and measures, if they are wanted; JSON contains them already
 * @returns {ProfilerTrace | ArrayBuffer}
 */
function fromOutput({ trace, lastChunkEnd, lost }, format, collected) {
  if (lost > 0) {
    process.emitWarning(`V8 could not keep about ${lost} samples, because the thread was blocked too long`, {
      type: 'ProfilerWarning',
    });
  }
  if (format === 'object') return toTrace(/** @type {TraceColumns} */ (trace), collected, lastChunkEnd);
  // A copy, because Node does not transfer an addon's memory to another thread.
  return /** @type {Uint8Array<ArrayBuffer>} */ (trace).slice().buffer;
}

/**
 * In the order of selfprof-trace's `Marker`; 0 stands for none.
 *
 * @type {(import('../index.js').ProfilerMarker | undefined)[]}
 */
const MARKERS = [undefined, 'script', 'gc', 'parse', 'paint', 'style', 'layout', 'other'];

/**
 * @param {TraceColumns} columns
 * @param {CollectedEntries} [collected] the marks and measures, if they are wanted and the columns do not have them
 * @param {number} [lastChunkEnd] the time of the last sample that went into a chunk; entries that had ended by then
 *   went there too
 * @returns {ProfilerTrace}
 */
function toTrace(columns, collected, lastChunkEnd = -Infinity) {
  return {
    ...toEntries(collected ?? columns.entries, columns.timestamps, lastChunkEnd),
    frames: toFrames(columns),
    resources: columns.resources,
    samples: toSamples(columns),
    stacks: toStacks(columns),
  };
}

/**
 * The members of the extension `includeEntries`.
 *
 * @param {CollectedEntries | undefined} collected
 * @param {Float64Array} timestamps of the samples
 * @param {number} lastChunkEnd
 * @returns {Pick<ProfilerTrace, 'droppedEntriesCount' | 'entries'>}
 */
function toEntries(collected, timestamps, lastChunkEnd) {
  if (collected === undefined) return {};
  const { names, heads, times, until, dropped, isCircular } = collected;
  const from = isCircular && timestamps.length > 0 ? timestamps[0] : -Infinity;
  /** @type {import('../index.js').ProfilerEntry[]} */
  const entries = [];
  for (let i = 0; i < heads.length; i++) {
    const startTime = times[2 * i];
    const duration = times[2 * i + 1];
    const end = startTime + duration;
    // A measure may end before it begins, and a script may name times in the future.
    const last = Math.max(startTime, end);
    if (Math.min(startTime, end) > until || last < from || last <= lastChunkEnd) continue;
    entries.push({ duration, entryType: heads[i] & 1 ? 'measure' : 'mark', name: names[heads[i] >>> 1], startTime });
  }
  entries.sort((a, b) => a.startTime - b.startTime);
  return dropped > 0 ? { droppedEntriesCount: dropped, entries } : { entries };
}

/** @param {TraceColumns} columns */
function toFrames({ frames, names }) {
  /** @type {import('../index.js').ProfilerFrame[]} */
  const result = new Array(frames.length / 4);
  for (let i = 0, at = 0; i < result.length; i++, at += 4) {
    const name = names[frames[at]];
    const resource = frames[at + 1];
    const line = frames[at + 2];
    const column = frames[at + 3];
    if (resource === 0) result[i] = { name };
    else if (line === 0) result[i] = { name, resourceId: resource - 1 };
    else if (column === 0) result[i] = { line, name, resourceId: resource - 1 };
    else result[i] = { column, line, name, resourceId: resource - 1 };
  }
  return result;
}

/** @param {TraceColumns} columns */
function toStacks({ stacks }) {
  /** @type {import('../index.js').ProfilerStack[]} */
  const result = new Array(stacks.length / 2);
  for (let i = 0, at = 0; i < result.length; i++, at += 2) {
    const parent = stacks[at];
    const frameId = stacks[at + 1];
    result[i] = parent === 0 ? { frameId } : { frameId, parentId: parent - 1 };
  }
  return result;
}

/** @param {TraceColumns} columns */
function toSamples({ timestamps, stackIds, markers }) {
  /** @type {import('../index.js').ProfilerSample[]} */
  const result = new Array(timestamps.length);
  for (let i = 0; i < result.length; i++) {
    const timestamp = timestamps[i];
    const stack = stackIds[i];
    const marker = MARKERS[markers[i]];
    // Four literals have four shapes, which makes this fast: 100,000 samples take a few milliseconds.
    if (marker === undefined) result[i] = stack === 0 ? { timestamp } : { stackId: stack - 1, timestamp };
    else if (stack === 0) result[i] = { marker, timestamp };
    else result[i] = { marker, stackId: stack - 1, timestamp };
  }
  return result;
}

module.exports = { fromOutput, toTrace };
