'use strict';

// The addresses of hosts.
//
// `dns.lookup` asks in threads that the whole process shares, and a request cannot be taken back: a page that names many hosts whose name
// servers do not answer would keep its user's program from looking up any. So names are asked for with c-ares, which needs no threads, and
// whose requests end with those of the page.

const dns = require('node:dns');
const fs = require('node:fs');
const { isIP } = require('node:net');
const { clearTimeout, setTimeout } = require('node:timers');

const { isLocalhost } = require('./origin.cjs');

/** @typedef {import('node:dns').LookupAddress} Address */

const HOSTS_FILE = '/etc/hosts';

/** How long a name server may take, in milliseconds, and how often it is asked: as in the C library. */
const RESOLVER = { timeout: 5_000, tries: 2 };

/** How long the addresses of one family are waited for when there are those of the other, in milliseconds. https://www.rfc-editor.org/rfc/rfc8305#section-3 */
const OTHER_FAMILY = 50;

/** How many addresses of a family are tried. A name server can have thousands, and Node keeps an error for each one that refuses. */
const MAX_ADDRESSES = 16;

/** @type {Address[]} https://datatracker.ietf.org/doc/html/draft-ietf-dnsop-let-localhost-be-localhost-02 */
const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Domains that complete names without a dot. */
const RESOLVER_FILE = '/etc/resolv.conf';

/**
 * @param {string} name
 * @param {AbortSignal} [signal]
 * @returns {Promise<Address[]>}
 * @throws {Error} with a `code`: `ENOTFOUND`, or `EAI_AGAIN` if no name server answers
 */
async function lookupHost(name, signal) {
  const host = name.toLowerCase().replace(/\.$/, '');
  if (isLocalhost(host)) return LOOPBACK;
  const known = hostsFile().get(host);
  if (known !== undefined) return known;
  const names = host.includes('.') ? [] : searchDomains().map((domain) => `${host}.${domain}`);
  for (const name of names) {
    try {
      return await resolve(name, signal);
    } catch {
      // The next one is asked for, as the C library does.
    }
  }
  return await resolve(host, signal);
}

/** The last line `search` or `domain` of resolv.conf counts. */
function searchDomains() {
  try {
    const lines = fs.readFileSync(RESOLVER_FILE, 'utf8').matchAll(/^[ \t]*(?:search|domain)[ \t]+(\S.*)$/gm);
    const domains = [...lines].at(-1)?.[1].trim().split(/\s+/) ?? [];
    return domains.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
  } catch {
    // It need not exist.
    return [];
  }
}

/** @param {string} host @param {AbortSignal} [signal] @returns {Promise<Address[]>} */
async function resolve(host, signal) {
  signal?.throwIfAborted();
  // One for each name, since only all requests of a resolver can be cancelled.
  const resolver = new dns.promises.Resolver(RESOLVER);
  resolver.setServers(dns.getServers());
  const cancel = () => resolver.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  /** @type {{ 4: Address[], 6: Address[] }} */
  const found = { 4: [], 6: [] };
  /** @type {unknown} */
  let failure;
  /** @param {4 | 6} family @param {Promise<string[]>} answer */
  const collect = async (family, answer) => {
    try {
      found[family] = (await answer).slice(0, MAX_ADDRESSES).map((address) => ({ address, family }));
    } catch (error) {
      failure = error;
    }
  };
  const both = [collect(4, resolver.resolve4(host)), collect(6, resolver.resolve6(host))];
  try {
    await Promise.race(both);
    if (found[4].length + found[6].length > 0) {
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      const waited = new Promise((done) => {
        timer = setTimeout(done, OTHER_FAMILY);
      });
      await Promise.race([Promise.all(both), waited]);
      clearTimeout(timer);
    } else await Promise.all(both);
  } finally {
    signal?.removeEventListener('abort', cancel);
    resolver.cancel();
  }
  const addresses = [...found[4], ...found[6]];
  if (addresses.length > 0) return addresses;
  const { code } = /** @type {NodeJS.ErrnoException} */ (failure);
  const isUnknown = code === dns.NOTFOUND || code === dns.NODATA;
  throw lookupError(isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN', host);
}

/** @param {string} code @param {string} host */
function lookupError(code, host) {
  return Object.assign(new Error(`lookup ${code} ${host}`), { code });
}

/** @type {{ modified: number, hosts: Map<string, Address[]> }} */
let lastRead = { modified: NaN, hosts: new Map() };

/** What the hosts file says now. */
function hostsFile() {
  try {
    const { mtimeMs: modified } = fs.statSync(HOSTS_FILE);
    if (modified !== lastRead.modified) lastRead = { modified, hosts: parseHosts(fs.readFileSync(HOSTS_FILE, 'utf8')) };
    return lastRead.hosts;
  } catch {
    // It need not exist.
    return new Map();
  }
}

/** The addresses by names in lower case. @param {string} text */
function parseHosts(text) {
  /** @type {Map<string, Address[]>} */
  const hosts = new Map();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/**
 * The option `lookup` of a connection.
 *
 * @param {AbortSignal} [signal]
 * @returns {import('node:net').LookupFunction}
 */
function lookupFor(signal) {
  return (host, { all = false, family }, callback) => {
    lookupHost(host, signal).then(
      (addresses) => {
        const fitting = family === 4 || family === 6 ? addresses.filter((one) => one.family === family) : addresses;
        if (fitting.length === 0) callback(lookupError('ENOTFOUND', host), '', 0);
        else if (all) callback(null, fitting);
        else callback(null, fitting[0].address, fitting[0].family);
      },
      (error) => callback(error, '', 0),
    );
  };
}

module.exports = { lookupFor };
