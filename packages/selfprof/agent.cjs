'use strict';

// `node --import selfprof/agent server.mjs`, or `import { startAgent } from 'selfprof/agent'`: continuous profiles from
// production.

const { profileRequest } = require('./src/labels/requests.cjs');
const { honoRoutes } = require('./src/labels/routes.cjs');
const { setLabels, withLabels } = require('./src/labels/storage.cjs');
const { isPreloaded, startAgent } = require('./src/continuous/start.cjs');

if (isPreloaded()) {
  try {
    startAgent();
  } catch (error) {
    // The program runs in any case.
    console.error(error instanceof Error ? error.message : error);
  }
}

module.exports = { honoRoutes, profileRequest, setLabels, startAgent, withLabels };
