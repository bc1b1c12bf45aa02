'use strict';

// The addresses of hosts.

const fs = require('node:fs');
const { isIP } = require('node:net');

const { lookupError, resolveName } = require('./name-resolver.cjs');
const { isLocalhost } = require('./origin.cjs');

/** @typedef {import('node:dns').LookupAddress} Address */

/** Asks name servers: `resolveName`, or what does that elsewhere. @typedef {(host: string) => Promise<Address[]>} Resolve */

const HOSTS_FILE = '/etc/hosts';

/** @type {Address[]} https://datatracker.ietf.org/doc/html/draft-ietf-dnsop-let-localhost-be-localhost-02 */
const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Domains that complete names without a dot. */
const RESOLVER_FILE = '/etc/resolv.conf';

/**
 * @param {string} name
 * @param {Resolve} resolve
 * @returns {Promise<Address[]>}
 * @throws {Error} with a `code`: `ENOTFOUND`, or `EAI_AGAIN` if no name server answers
 */
async function lookupHost(name, resolve) {
  const host = name.toLowerCase().replace(/\.$/, '');
  if (isLocalhost(host)) return LOOPBACK;
  const known = hostsFile().get(host);
  if (known !== undefined) return known;
  const names = host.includes('.') ? [] : searchDomains().map((domain) => `${host}.${domain}`);
  for (const name of names) {
    try {
      return await resolve(name);
    } catch {
      // The next one is asked for, as the C library does.
    }
  }
  return await resolve(host);
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
 * @param {object} [options]
 * @param {ReadonlyMap<string, string>} [options.hosts] addresses, or other names, that come before all others
 * @param {Resolve} [options.resolve]
 * @returns {import('node:net').LookupFunction}
 */
function lookupFor({ hosts = new Map(), resolve = resolveName } = {}) {
  return (name, { all = false, family }, callback) => {
    const host = hosts.get(name) ?? name;
    const known = isIP(host);
    const found = known === 0 ? lookupHost(host, resolve) : Promise.resolve([{ address: host, family: known }]);
    found.then(
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
