// Checks on traces of pages that load bundles.

import assert from 'node:assert/strict';

import { assertWellFormed, framesOf } from '../../../selfprof/test/well-formed.mjs';

/**
 * Fails unless the trace is well-formed and its frames are defined at the named places of the page's sources.
 *
 * @param {object} trace
 * @param {Record<string, string>} sources texts by URL
 */
export function assertTraceOf(trace, sources) {
  assertWellFormed(trace);
  for (const resource of trace.resources) {
    // Scripts that the test itself evaluated.
    assert.ok(resource === 'evaluate' || resource in sources, `${resource} is a resource of the page`);
  }
  const lines = new Map(Object.entries(sources).map(([url, text]) => [url, text.split('\n')]));
  let found = 0;
  for (const { name, resourceId, line, column } of trace.frames) {
    const text = lines.get(trace.resources[resourceId])?.[line - 1];
    if (text === undefined) continue;
    assert.ok(column <= text.length + 1, `${name} is defined in column ${column} of a line of ${text.length}`);
    // The location of a declared function is where its parameters begin.
    const declared = new RegExp(`\\b(?:function|get|set|static|async)\\*?\\s+${escapeForRegExp(name)}$`).test(
      text.slice(0, column - 1),
    );
    if (!declared) continue;
    assert.equal(text[column - 1], '(', `${name} at ${line}:${column}`);
    found += 1;
  }
  assert.ok(found > 0, 'functions are where their names stand in the source');
}

function escapeForRegExp(text) {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}

/** How many samples have a frame of a resource on their stack, by the resource's URL. */
export function samplesByResource(trace) {
  const counts = new Map();
  for (const { stackId } of trace.samples) {
    const urls = new Set(
      stackId === undefined ? [] : framesOf(trace, stackId).map(({ resourceId }) => trace.resources[resourceId]),
    );
    for (const url of urls) counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  return counts;
}

/** The names of a sample's frames, outermost first. Names without a resource are in brackets. */
export function namesOf(trace, { stackId }) {
  const frames = stackId === undefined ? [] : framesOf(trace, stackId).reverse();
  return frames.map(({ name, resourceId }) => (resourceId === undefined ? `[${name}]` : name));
}
