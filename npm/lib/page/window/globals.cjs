'use strict';

// What a window has beside what jsdom gives it. Each interface is of the window's own realm.

const host = require('selfprof:host');
const { Profiler } = require('../../profiler.cjs');
const { installCloning } = require('./cloning.cjs');
const { defineAttribute, defineInterfaceObject } = require('./definitions.cjs');
const { installFetch } = require('./fetch.cjs');
const { installGeometry } = require('./geometry.cjs');
const { installIdleCallbacks } = require('./idle-callbacks.cjs');
const { installIntersectionObserver } = require('./intersection-observer.cjs');
const { installMediaQueries } = require('./media-queries.cjs');
const { installObjectUrls } = require('./object-urls.cjs');
const { installPorts } = require('./ports.cjs');
const { installResizeObserver } = require('./resize-observer.cjs');
const { installTiming } = require('./timing.cjs');
const { installWorkerScope } = require('./worker-scope.cjs');
const { installWorkers } = require('./workers.cjs');

/**
 * @param {object} settings
 * @param {object} [settings.scope] of a worker, see worker-scope.cjs
 * @param {boolean} settings.isSecure
 * @param {boolean} settings.isIsolated
 */
function install(settings) {
  defineAttribute('isSecureContext', () => settings.isSecure);
  defineAttribute('crossOriginIsolated', () => settings.isIsolated);
  // https://html.spec.whatwg.org/multipage/structured-data.html#serializing-shared-memory: who is not isolated has none.
  if (!settings.isIsolated) delete globalThis.SharedArrayBuffer;
  const isWorker = settings.scope !== undefined;
  if (isWorker) installWorkerScope(settings.scope);
  installCloning();
  installPorts();
  installObjectUrls();
  installFetch();
  if (!isWorker) {
    installGeometry();
    installMediaQueries();
    installIdleCallbacks();
    installIntersectionObserver();
    installResizeObserver();
  }
  installTiming(settings);
  host.platform.refuse(Profiler);
  installWorkers(settings);
  defineInterfaceObject('Profiler', Profiler);
}

module.exports = { install };
