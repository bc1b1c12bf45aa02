'use strict';

// The requests that this thread's HTTP servers handle.

const diagnosticsChannel = require('node:diagnostics_channel');
const { performance } = require('node:perf_hooks');

const { record } = require('../entry-recorder.cjs');
const { ROUTE } = require('./label-sets.cjs');
const { numberAfter } = require('./label-value.cjs');
const { followOpenTelemetry } = require('./opentelemetry.cjs');
const { beginRequest, isLabelling } = require('./storage.cjs');

/** From how many milliseconds on a request is slow; undefined if none is. @type {number | undefined} */
let threshold;
let lastNumber = 0;
/**
 * The requests that may become slow.
 *
 * @type {WeakMap<object, { start: number, value: import('./label-value.cjs').LabelValue }>}
 */
const pending = new WeakMap();

/** Requests have labels of their own from now on. */
function followRequests() {
  diagnosticsChannel.subscribe('http.server.request.start', (message) => {
    // It may have been registered since the last request.
    followOpenTelemetry();
    if (threshold === undefined) {
      beginRequest(0);
      return;
    }
    lastNumber = numberAfter(lastNumber);
    const value = beginRequest(lastNumber);
    pending.set(/** @type {{ request: object }} */ (message).request, { start: performance.now(), value });
  });
  diagnosticsChannel.subscribe('http.server.response.finish', (message) => {
    const { request } = /** @type {{ request: import('node:http').IncomingMessage }} */ (message);
    const known = pending.get(request);
    if (known === undefined || threshold === undefined) return;
    pending.delete(request);
    const duration = performance.now() - known.start;
    if (duration < threshold) return;
    const route = known.value.labels[ROUTE] ?? '';
    // The exporter finds the samples of the request by its number.
    const name = `slow request ${known.value.request}: ${request.method ?? ''} ${route}`;
    record('measure', name, known.start, duration);
  });
}

/**
 * Keeps apart the samples of requests that take at least this long. They get the label `request`, and the trace a
 * measure for each.
 *
 * @param {number} milliseconds
 * @throws {TypeError} if it is not a number of milliseconds
 */
function profileRequest(milliseconds) {
  if (typeof milliseconds !== 'number' || !(milliseconds >= 0)) {
    throw new TypeError('selfprof agent: profileRequest() needs a number of milliseconds, for example 500');
  }
  if (isLabelling()) threshold = milliseconds;
}

module.exports = { followRequests, profileRequest };
