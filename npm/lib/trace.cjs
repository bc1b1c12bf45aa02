'use strict';

// Turns the addon's columns into the dictionaries of the specification. Members come in WebIDL's order, lexicographical,
// and those that do not apply are absent.

/**
 * What a program gets of the addon's product: a `ProfilerTrace`, or an ArrayBuffer with compressed JSON.
 *
 * @param {'object' | 'json-gzip'} format what the product was made for
 */
function fromProduct({ trace, lost }, format) {
  if (lost > 0) {
    process.emitWarning(`V8 could not keep about ${lost} samples, because the thread was blocked too long`, {
      type: 'ProfilerWarning',
    });
  }
  // A copy, because Node lets no memory of an addon be transferred to another thread.
  return format === 'json-gzip' ? trace.slice().buffer : toTrace(trace);
}

/** In the order of selfprof-trace's `Marker`; 0 stands for none. */
const MARKERS = [undefined, 'script', 'gc', 'parse', 'paint', 'style', 'layout', 'other'];

/** @returns {import('../index.js').ProfilerTrace} */
function toTrace(columns) {
  return {
    frames: toFrames(columns),
    resources: columns.resources,
    samples: toSamples(columns),
    stacks: toStacks(columns),
  };
}

function toFrames({ frames, names }) {
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

function toStacks({ stacks }) {
  const result = new Array(stacks.length / 2);
  for (let i = 0, at = 0; i < result.length; i++, at += 2) {
    const parent = stacks[at];
    const frameId = stacks[at + 1];
    result[i] = parent === 0 ? { frameId } : { frameId, parentId: parent - 1 };
  }
  return result;
}

function toSamples({ timestamps, stackIds, markers }) {
  const result = new Array(timestamps.length);
  for (let i = 0; i < result.length; i++) {
    const timestamp = timestamps[i];
    const stack = stackIds[i];
    const code = markers[i];
    // Four literals rather than one that grows: each gets a shape of its own, and 100,000 of them take a few
    // milliseconds.
    if (code === 0) result[i] = stack === 0 ? { timestamp } : { stackId: stack - 1, timestamp };
    else if (stack === 0) result[i] = { marker: MARKERS[code], timestamp };
    else result[i] = { marker: MARKERS[code], stackId: stack - 1, timestamp };
  }
  return result;
}

module.exports = { fromProduct, toTrace };
