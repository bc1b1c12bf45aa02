// What holds for the trace of a page that loads bundles, whoever reads it.

import assert from 'node:assert/strict';

import { assertWellFormed, framesOf } from '../../well-formed.mjs';

/**
 * Fails unless the trace is one that the page may be given, and its frames lie in what the page loaded.
 *
 * @param {object} trace
 * @param {Record<string, string>} sources texts by URL
 */
export function assertTraceOf(trace, sources) {
  assertWellFormed(trace);
  for (const resource of trace.resources) {
    // Tests evaluate scripts of their own.
    assert.ok(resource === 'evaluate' || resource in sources, `${resource} is a resource of the page`);
  }
  const lines = new Map(Object.entries(sources).map(([url, text]) => [url, text.split('\n')]));
  let found = 0;
  for (const { name, resourceId, line, column } of trace.frames) {
    const text = lines.get(trace.resources[resourceId])?.[line - 1];
    if (text === undefined) continue;
    assert.ok(column <= text.length + 1, `${name} is defined in column ${column} of a line of ${text.length}`);
    // Where a declared function's parameters begin.
    const declared = new RegExp(`\\b(?:function|get|set|static|async)\\*?\\s+${escape(name)}$`).test(text.slice(0, column - 1));
    if (!declared) continue;
    assert.equal(text[column - 1], '(', `${name} at ${line}:${column}`);
    found += 1;
  }
  assert.ok(found > 0, 'functions are where their names stand in the source');
}

function escape(text) {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}

/** The URLs of frames with samples, with how many samples each was on the stack of. */
export function samplesByResource(trace) {
  const counts = new Map();
  for (const { stackId } of trace.samples) {
    const urls = new Set(stackId === undefined ? [] : framesOf(trace, stackId).map(({ resourceId }) => trace.resources[resourceId]));
    for (const url of urls) counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  return counts;
}

/** The names of the frames of a sample, outermost first, those without a resource in brackets. */
export function namesOf(trace, { stackId }) {
  const frames = stackId === undefined ? [] : framesOf(trace, stackId).reverse();
  return frames.map(({ name, resourceId }) => (resourceId === undefined ? `[${name}]` : name));
}
