'use strict';

// What this thread's agent offers: the values that options may have, and `Profiler.capabilities()`, which tells a program
// of them before it starts anything.

const { begin } = require('./agent.cjs');
const native = require('./native.cjs');

/** What may happen when a buffer is full; the first is the specification's. */
const BUFFER_POLICIES = ['stop', 'circular', 'chunks'];

/** What `stop()` may give; the first is the specification's. */
const FORMATS = ['object', 'json-gzip'];

/** @returns {import('../index.js').ProfilerCapabilities} an object of the caller's own */
function capabilities() {
  const { baseInterval, timeResolution } = native.offers();
  return {
    bufferPolicies: [...BUFFER_POLICIES],
    // Memory is the limit: any number of sessions share one run of V8's sampler.
    concurrentSessions: Infinity,
    // A process belongs to one owner, so there is nobody from whom a fine clock or a marker must be kept.
    crossOriginIsolated: true,
    entryTypes: ['mark', 'measure'],
    formats: [...FORMATS],
    markers: ['script', 'gc', 'parse', 'paint', 'style', 'layout', 'other'],
    mode: begin().mode,
    modes: ['eager', 'lazy'],
    sampleIntervals: { min: baseInterval, quantum: baseInterval },
    threads: true,
    timeResolution,
  };
}

module.exports = { BUFFER_POLICIES, FORMATS, capabilities };
