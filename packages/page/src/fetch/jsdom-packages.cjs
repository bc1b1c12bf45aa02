'use strict';

// Packages that jsdom depends on and that fetching uses too. jsdom is a peer dependency and may lie anywhere, so they are
// resolved from its folder. A thread has one jsdom; the first one that is named is used.

const { createRequire } = require('node:module');
const path = require('node:path');

/** @type {NodeJS.Require | undefined} */
let requireFromJsdom;

/** @param {{ folder: string }} library jsdom */
function useJsdom(library) {
  requireFromJsdom ??= createRequire(path.join(library.folder, 'package.json'));
}

/**
 * @param {string} name
 * @param {NodeJS.Require} [from]
 */
function load(name, from = requireFromJsdom) {
  if (from === undefined) throw new Error(`${name} was needed before useJsdom() was called`);
  return from(name);
}

/** Needed for each cookie. @type {import('tough-cookie') | undefined} */
let cookiePackage;

/** @returns {import('tough-cookie')} */
function toughCookie() {
  const found = cookiePackage ?? load('tough-cookie');
  cookiePackage = found;
  return found;
}

/** @returns {import('whatwg-mimetype')} */
const whatwgMimetype = () => load('whatwg-mimetype');
/** @returns {import('whatwg-url')} */
const whatwgUrl = () => load('whatwg-url');
/** @returns {import('data-urls')} */
const dataUrls = () => load('data-urls');

/** Node looks for its files each time that it is required. @type {import('tldts') | undefined} */
let suffixes;

/** The public suffix list, which is a dependency of tough-cookie. @returns {import('tldts')} */
function tldts() {
  if (suffixes !== undefined) return suffixes;
  const from = requireFromJsdom === undefined ? undefined : createRequire(requireFromJsdom.resolve('tough-cookie'));
  const found = load('tldts', from);
  suffixes = found;
  return found;
}

module.exports = { dataUrls, tldts, toughCookie, useJsdom, whatwgMimetype, whatwgUrl };
