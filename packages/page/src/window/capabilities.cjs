'use strict';

// Stands in for selfprof's capabilities.cjs in a window's realm.

const host = require('selfprof:host');
const native = require('selfprof:native');

const BUFFER_POLICIES = ['stop', 'circular', 'chunks'];
const FORMATS = ['object', 'json-gzip'];

function capabilities() {
  const { baseInterval, concurrentSessions, mode } = native.offers();
  const { isIsolated } = host.document();
  return {
    bufferPolicies: [...BUFFER_POLICIES],
    concurrentSessions,
    crossOriginIsolated: isIsolated,
    entryTypes: ['mark', 'measure'],
    formats: [...FORMATS],
    // https://github.com/WICG/js-self-profiling/blob/main/markers.md: without isolation, only what a page can find out
    // anyway.
    markers: isIsolated ? ['script', 'gc', 'parse', 'style', 'other'] : ['style'],
    mode,
    modes: ['eager', 'lazy'],
    sampleIntervals: { min: baseInterval, quantum: baseInterval },
    threads: false,
    timeResolution: isIsolated ? 0.005 : 0.1,
  };
}

module.exports = { BUFFER_POLICIES, FORMATS, capabilities };
