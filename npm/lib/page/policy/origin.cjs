'use strict';

// Origins. https://html.spec.whatwg.org/multipage/browsers.html#origin

const path = require('node:path');
const { fileURLToPath } = require('node:url');

const NETWORK = new Set(['http:', 'https:', 'ws:', 'wss:', 'ftp:']);

/**
 * An origin as a string, which two origins share if and only if they are the same: `scheme://host[:port]` for the
 * network's, else `null`, an opaque origin, with a mark of its own behind it.
 *
 * Pages from disk: HTML leaves their origin to the browser. Here a page and what lies in its folder, or in the folder
 * that its user named, are one opaque origin: scripts beside a page are the page's own, other files are out of reach.
 *
 * @typedef {string} Origin
 */

let opaque = 0;

/** @returns {Origin} an origin that is the same as no other */
function newOpaqueOrigin() {
  opaque += 1;
  // Threads do not share the counter.
  return `null ${process.pid}.${require('node:worker_threads').threadId}.${opaque}`;
}

/** @returns {Origin} of the files in a folder and below it */
function folderOrigin(folder) {
  return `null file:${path.resolve(folder)}`;
}

/** The folder of a file origin, `undefined` for another one. */
function folderOf(origin) {
  return origin.startsWith('null file:') ? origin.slice('null file:'.length) : undefined;
}

/** As scripts see it. */
function serialize(origin) {
  return origin.startsWith('null') ? 'null' : origin;
}

function isOpaque(origin) {
  return origin.startsWith('null');
}

/**
 * @param {URL} url
 * @returns {Origin | undefined} a network URL's origin; `undefined` for one whose origin depends on who asks
 */
function originOfUrl(url) {
  if (NETWORK.has(url.protocol)) return url.origin;
  if (url.protocol === 'blob:' && url.origin !== 'null') return url.origin;
  return undefined;
}

/** Whether a URL is of this origin. */
function isSameOrigin(url, origin) {
  const own = originOfUrl(url);
  if (own !== undefined) return own === origin;
  const folder = folderOf(origin);
  if (folder === undefined || url.protocol !== 'file:') return false;
  return isWithin(url, folder);
}

function isWithin(url, folder) {
  let file;
  try {
    file = fileURLToPath(url);
  } catch {
    return false;
  }
  const way = path.relative(folder, file);
  return way === '' || (!way.startsWith(`..${path.sep}`) && way !== '..' && !path.isAbsolute(way));
}

/** https://w3c.github.io/webappsec-secure-contexts/#potentially-trustworthy-origin */
function isTrustworthy(origin) {
  if (folderOf(origin) !== undefined) return true;
  if (isOpaque(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  if (protocol === 'https:' || protocol === 'wss:') return true;
  return (
    /^(.+\.)?localhost$/.test(hostname) || /^127(\.\d+){3}$/.test(hostname) || hostname === '[::1]'
  );
}

module.exports = {
  folderOf,
  folderOrigin,
  isOpaque,
  isSameOrigin,
  isTrustworthy,
  newOpaqueOrigin,
  originOfUrl,
  serialize,
};
