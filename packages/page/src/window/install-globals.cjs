'use strict';

// Defines the globals of a window, or of a worker, that jsdom lacks. Each interface belongs to the window's own realm.

const host = require('selfprof:host');
const { Profiler } = require('selfprof/internal/profiler.cjs');
const { installBrands } = require('./brands.cjs');
const { installBroadcastChannel } = require('./broadcast-channel.cjs');
const { installCloning } = require('./structured-clone.cjs');
const { defineAttribute, defineHandler, defineInterfaceObject } = require('./webidl-members.cjs');
const { installFetch } = require('./fetch-api.cjs');
const { installGeometry } = require('./geometry.cjs');
const { installIdleCallbacks } = require('./idle-callbacks.cjs');
const { installIntersectionObserver } = require('./intersection-observer.cjs');
const { installMediaQueries } = require('./media-queries.cjs');
const { hideHostCode } = require('./native-functions.cjs');
const { installObjectUrls } = require('./object-urls.cjs');
const { installPorts } = require('./ports.cjs');
const { installResizeObserver } = require('./resize-observer.cjs');
const { installStreams } = require('./streams.cjs');
const { installSubtleCrypto } = require('./subtle-crypto.cjs');
const { coarsenTemporal } = require('./temporal-now.cjs');
const { installTiming } = require('./window-timing.cjs');
const { installWorkerScope } = require('./worker-globals.cjs');
const { installWorkers } = require('./worker-api.cjs');

/** @param {import('./contracts.js').WindowSettings} settings */
function install(settings) {
  defineAttribute('isSecureContext', () => settings.isSecure);
  defineAttribute('crossOriginIsolated', () => settings.isIsolated);
  // Only isolated documents have it:
  // https://html.spec.whatwg.org/multipage/structured-data.html#serializing-shared-memory
  if (!settings.isIsolated) Reflect.deleteProperty(globalThis, 'SharedArrayBuffer');
  const isWorker = settings.scope !== undefined;
  if (settings.scope !== undefined) installWorkerScope(settings.scope);
  installCloning();
  installPorts();
  installBroadcastChannel();
  installStreams();
  if (settings.isSecure) installSubtleCrypto();
  installObjectUrls();
  installFetch();
  if (!isWorker) {
    installGeometry();
    installMediaQueries();
    installIdleCallbacks();
    installIntersectionObserver();
    installResizeObserver();
    defineHandler(globalThis.Document.prototype, 'visibilitychange');
  }
  coarsenTemporal();
  installTiming(settings);
  host.platform.refuse(Profiler);
  installWorkers();
  defineInterfaceObject('Profiler', Profiler);
  installBrands();
  hideHostCode();
}

module.exports = { install };
