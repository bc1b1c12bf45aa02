'use strict';

// What a thread that is recorded continuously does beside recording: it labels its samples.

const { followOpenTelemetry } = require('../labels/opentelemetry.cjs');
const { followRequests } = require('../labels/requests.cjs');
const { followRoutes } = require('../labels/routes.cjs');
const { beginLabels } = require('../labels/storage.cjs');

/** How often OpenTelemetry's context manager is looked for, in milliseconds, in threads that handle no requests. */
const LOOK_EVERY = 10_000;

/**
 * Labels the samples of this thread. It is being recorded.
 *
 * @param {import('../run/request.cjs').Request} request
 */
function beginThread({ settings }) {
  if (settings.labels === false || beginLabels(settings.labels === true) === 'off') return;
  followRequests();
  followRoutes();
  setInterval(followOpenTelemetry, LOOK_EVERY).unref();
  setImmediate(followOpenTelemetry);
}

module.exports = { beginThread };
