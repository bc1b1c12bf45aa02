'use strict';

// Sites: a scheme and a registrable domain, the part of a host that its owner registered under a public suffix.
// `github.io` is a public suffix, so its subdomains are sites of their own.
// https://html.spec.whatwg.org/multipage/browsers.html#same-site

const { isSameOrigin, originOfUrl, isOpaque } = require('./origin.cjs');
const { tldts } = require('./jsdom-packages.cjs');

/**
 * The registrable domain, or the whole host when there is none: for IP addresses and for public suffixes themselves.
 *
 * @param {string} hostname
 */
function registrableDomain(hostname) {
  // URLs have hosts that are no names of the DNS, such as h-.shop.test.
  return tldts().getDomain(hostname, { allowPrivateDomains: true, validateHostname: false }) ?? hostname;
}

/** @typedef {'same-origin' | 'same-site' | 'cross-site'} SiteRelation */

/** @type {SiteRelation[]} */
const BY_DISTANCE = ['same-origin', 'same-site', 'cross-site'];

/** @param {SiteRelation} one @param {SiteRelation} other */
function farther(one, other) {
  return BY_DISTANCE.indexOf(one) > BY_DISTANCE.indexOf(other) ? one : other;
}

/**
 * How the site of a URL relates to an origin, as in `Sec-Fetch-Site`.
 *
 * @param {URL} url
 * @param {import('./origin.cjs').Origin} origin
 * @returns {SiteRelation}
 */
function siteRelation(url, origin) {
  if (isSameOrigin(url, origin)) return 'same-origin';
  const target = originOfUrl(url);
  if (target === undefined || isOpaque(origin)) return 'cross-site';
  const one = new URL(target);
  const other = new URL(origin);
  if (one.protocol !== other.protocol) return 'cross-site';
  const isSameHost = one.hostname === other.hostname;
  return isSameHost || registrableDomain(one.hostname) === registrableDomain(other.hostname)
    ? 'same-site'
    : 'cross-site';
}

/**
 * @param {URL} url
 * @param {import('./origin.cjs').Origin} origin
 */
function isSameSite(url, origin) {
  return siteRelation(url, origin) !== 'cross-site';
}

module.exports = { farther, isSameSite, registrableDomain, siteRelation };
