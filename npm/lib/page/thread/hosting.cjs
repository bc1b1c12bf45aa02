'use strict';

// Takes V8's questions away from Node, whose answers are objects of the main realm: import(), error.stack, eval.

const vm = require('node:vm');

const native = require('../../native.cjs');

const { apply } = Reflect;
const toStringOfError = Error.prototype.toString;

/** Methods of V8's CallSite objects, which work for those of any realm. Taken from one that no page will ever see. */
function callSiteMethods() {
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY);
  return vm.runInContext(
    `Error.prepareStackTrace = (error, sites) => sites;
    const { getFileName, toString } = Object.getPrototypeOf(new Error('for its call sites').stack[0]);
    ({ getFileName, toString });`,
    context,
  );
}

/**
 * @param {string[]} hostFolders prefixes of the host's own scripts
 * @param {(id: number, realm: number, referrer: unknown, specifier: string, attributes: string[]) => void} importModule
 */
function hostPages(hostFolders, importModule) {
  const { getFileName, toString } = callSiteMethods();

  const isHostSite = (site) => {
    const file = apply(getFileName, site, []);
    // Built-in functions have none.
    if (typeof file !== 'string') return false;
    return file.startsWith('node:') || hostFolders.some((folder) => file.startsWith(folder));
  };

  const formatStack = (error, sites) => {
    let text;
    try {
      text = apply(toStringOfError, error, []);
    } catch {
      text = '<error>';
    }
    for (let index = 0; index < sites.length; index++) text += `\n    at ${apply(toString, sites[index], [])}`;
    return text;
  };

  native.hostPages(importModule, isHostSite, formatStack);
}

module.exports = { hostPages };
