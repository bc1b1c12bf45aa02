'use strict';

// `Profiler.capabilities()`, and the values that options may have.

const { ensureAgent } = require('./agent.cjs');
const native = require('./native.cjs');

/**
 * What may happen when a buffer is full; the first is the specification's.
 *
 * @type {import('../index.js').ProfilerBufferPolicy[]}
 */
const BUFFER_POLICIES = ['stop', 'circular', 'chunks'];

/**
 * What `stop()` may return; the first is the specification's.
 *
 * @type {import('../index.js').ProfilerTraceFormat[]}
 */
const FORMATS = ['object', 'json-gzip'];

/** From Node 26 on, V8 tells of functions that it inlined before anything listened. */
const FIRST_WITH_EARLIER_INLINING = 147;

/** @returns {import('../index.js').ProfilerCapabilities} a new object for each call */
function capabilities() {
  const { baseInterval, timeResolution } = native.offers();
  return {
    bufferPolicies: [...BUFFER_POLICIES],
    // Memory is the limit: any number of sessions share one run of V8's sampler.
    concurrentSessions: Infinity,
    // All code of a process has one owner, so a fine clock and all markers give nothing away.
    crossOriginIsolated: true,
    entryTypes: ['mark', 'measure'],
    formats: [...FORMATS],
    functionsInlinedEarlier: Number(process.versions.modules) >= FIRST_WITH_EARLIER_INLINING,
    markers: ['script', 'gc', 'parse', 'paint', 'style', 'layout', 'other'],
    mode: ensureAgent().mode,
    modes: ['eager', 'lazy'],
    sampleIntervals: { min: baseInterval, quantum: baseInterval },
    threads: true,
    timeResolution,
  };
}

module.exports = { BUFFER_POLICIES, FORMATS, capabilities };
