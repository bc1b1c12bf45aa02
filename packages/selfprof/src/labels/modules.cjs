'use strict';

// Notices when packages are loaded, by the diagnostics channels that Node has from 22 on.

const { tracingChannel } = require('node:diagnostics_channel');

/**
 * Calls a function with the exports of each package in `handlers` when the program loads it.
 *
 * @param {Record<string, (exports: any) => void>} handlers by the name that the program imports
 */
function onPackages(handlers) {
  const names = Object.keys(handlers);
  const loaded = (/** @type {string | URL} */ specifier, /** @type {any} */ exports) => {
    try {
      // The program's main module is imported by a URL object.
      const id = String(specifier);
      const name = names.find((known) => id === known || id.includes(`/node_modules/${known}/`));
      if (name === undefined || exports === null || exports === undefined) return;
      handlers[name](exports);
    } catch {
      // An error here would be the program's. Either its version is not one that we know, so its routes are unknown, or
      // the specifier has no string.
    }
  };
  const none = () => {};
  const others = { start: none, asyncStart: none, error: none };
  tracingChannel('module.require').subscribe({
    ...others,
    end: (/** @type {any} */ { id, result }) => loaded(id, result),
    asyncEnd: none,
  });
  tracingChannel('module.import').subscribe({
    ...others,
    end: none,
    asyncEnd: (/** @type {any} */ { url, result }) => loaded(url, result?.default ?? result),
  });
}

module.exports = { onPackages };
