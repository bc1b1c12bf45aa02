'use strict';

// Packages that jsdom depends on and that fetching uses too. jsdom is a peer dependency and may lie anywhere, so they
// are resolved from its folder. A thread has one jsdom; the first one that is named is used.

const { createRequire } = require('node:module');
const path = require('node:path');

/** @type {NodeJS.Require | undefined} */
let requireFromJsdom;

/** Node looks for the files of a package each time that it is required. @type {Map<string, any>} */
const loaded = new Map();

/** @param {{ folder: string }} library jsdom */
function useJsdom(library) {
  requireFromJsdom ??= createRequire(path.join(library.folder, 'package.json'));
}

/** @param {string} name @param {string} [dependent] the dependency of jsdom that depends on it, if jsdom itself does not */
function load(name, dependent) {
  if (requireFromJsdom === undefined) throw new Error(`${name} was needed before useJsdom() was called`);
  if (!loaded.has(name)) {
    const from = dependent === undefined ? requireFromJsdom : createRequire(requireFromJsdom.resolve(dependent));
    loaded.set(name, from(name));
  }
  return loaded.get(name);
}

/** @returns {import('tough-cookie')} */
const toughCookie = () => load('tough-cookie');
/** The public suffix list. @returns {import('tldts')} */
const tldts = () => load('tldts', 'tough-cookie');
/** @returns {import('whatwg-mimetype')} */
const whatwgMimetype = () => load('whatwg-mimetype');
/** @returns {import('data-urls')} */
const dataUrls = () => load('data-urls');

module.exports = { dataUrls, tldts, toughCookie, useJsdom, whatwgMimetype };
