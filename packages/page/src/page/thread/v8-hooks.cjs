'use strict';

// V8's host hooks for `import()`, `error.stack` and unhandled rejections, in place of Node's own: stacks show no host
// code, as in a browser.

const native = require('selfprof/internal/native.cjs');

const { apply } = Reflect;
const toStringOfError = Error.prototype.toString;

/**
 * @param {string[]} hostScripts prefixes of the paths of host code, which the stacks of errors do not show
 * @param {object} host
 * @param {(id: number, realm: number, referrer: string, specifier: string, attributes: string[]) => void}
 *   host.importModule
 * @param {(isRejected: boolean, promise: Promise<unknown>, reason: unknown) => void} host.promiseRejected
 */
function installV8Hooks(hostScripts, { importModule, promiseRejected }) {
  const isHostSite = (/** @type {NodeJS.CallSite} */ site) => {
    const file = site.getFileName();
    if (typeof file === 'string') return hostScripts.some((prefix) => file.startsWith(prefix));
    // Built-in functions have no file. Nor has evaluated code, which names where it was evaluated: in a timer, by a
    // script of the host.
    const origin = site.getEvalOrigin();
    return typeof origin === 'string' && hostScripts.some((prefix) => origin.includes(`(${prefix}`));
  };

  const formatStack = (/** @type {unknown} */ error, /** @type {NodeJS.CallSite[]} */ sites) => {
    let text;
    try {
      text = apply(toStringOfError, error, []);
    } catch {
      text = '<error>';
    }
    // Errors of jsdom's functions belong to this realm, and come with all sites. Those of the host alone show where
    // they are from.
    const ofPage = sites.filter((site) => !isHostSite(site));
    for (const site of ofPage.length > 0 ? ofPage : sites) text += `\n    at ${site}`;
    return text;
  };

  native.hostPages(
    (id, realm, referrer, specifier, attributes) => importModule(id, realm, String(referrer), specifier, attributes),
    isHostSite,
    formatStack,
    promiseRejected,
  );
}

module.exports = { installV8Hooks };
