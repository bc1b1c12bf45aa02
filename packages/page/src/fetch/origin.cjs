'use strict';

// Origins. https://html.spec.whatwg.org/multipage/browsers.html#origin

const path = require('node:path');
const { fileURLToPath } = require('node:url');
const { threadId } = require('node:worker_threads');

const NETWORK_SCHEMES = new Set(['http:', 'https:', 'ws:', 'wss:', 'ftp:']);

/**
 * An origin as a string. Two origins are the same if and only if their strings are equal: `scheme://host[:port]` for
 * URLs of the network, and otherwise `null`, an opaque origin, followed by what makes it unique.
 *
 * HTML leaves the origin of file: URLs to browsers. Here a page and the files in its folder, or in the folder that its
 * user named, have one opaque origin: scripts beside a page belong to the page, and other files are out of reach.
 *
 * @typedef {string} Origin
 */

const FILE_PREFIX = 'null file:';

let opaqueOrigins = 0;

/** @returns {Origin} an opaque origin */
function newOpaqueOrigin() {
  opaqueOrigins += 1;
  // Each thread has a counter of its own.
  return `null ${process.pid}.${threadId}.${opaqueOrigins}`;
}

/** @param {string} folder @returns {Origin} of the files in a folder and below it */
function folderOrigin(folder) {
  return FILE_PREFIX + path.resolve(folder);
}

/** @param {Origin} origin @returns {string | undefined} the folder of a file origin */
function folderOf(origin) {
  return origin.startsWith(FILE_PREFIX) ? origin.slice(FILE_PREFIX.length) : undefined;
}

/** @param {Origin} origin */
function isOpaque(origin) {
  return origin.startsWith('null');
}

/** The origin as scripts see it. @param {Origin} origin */
function serialize(origin) {
  return isOpaque(origin) ? 'null' : origin;
}

/**
 * @param {URL} url
 * @returns {Origin | undefined} `undefined` for a URL that inherits the origin of the client that loads it
 */
function originOfUrl(url) {
  if (NETWORK_SCHEMES.has(url.protocol)) return url.origin;
  if (url.protocol === 'blob:' && url.origin !== 'null') return url.origin;
  return undefined;
}

/** @param {URL} url @param {Origin} origin */
function isSameOrigin(url, origin) {
  const own = originOfUrl(url);
  if (own !== undefined) return own === origin;
  const folder = folderOf(origin);
  if (folder === undefined || url.protocol !== 'file:') return false;
  return isWithin(url, folder);
}

/** @param {URL} url @param {string} folder */
function isWithin(url, folder) {
  let file;
  try {
    file = fileURLToPath(url);
  } catch {
    return false;
  }
  const relative = path.relative(folder, file);
  return relative === '' || (!relative.startsWith(`..${path.sep}`) && relative !== '..' && !path.isAbsolute(relative));
}

/** Whether a name is that of this machine, whatever name servers say. @param {string} hostname */
function isLocalhost(hostname) {
  return /^(.+\.)?localhost$/.test(hostname);
}

/** https://w3c.github.io/webappsec-secure-contexts/#potentially-trustworthy-origin @param {Origin} origin */
function isTrustworthy(origin) {
  if (folderOf(origin) !== undefined) return true;
  if (isOpaque(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  if (protocol === 'https:' || protocol === 'wss:') return true;
  return isLocalhost(hostname) || /^127(\.\d+){3}$/.test(hostname) || hostname === '[::1]';
}

module.exports = {
  folderOf,
  folderOrigin,
  isLocalhost,
  isOpaque,
  isSameOrigin,
  isTrustworthy,
  newOpaqueOrigin,
  originOfUrl,
  serialize,
};
