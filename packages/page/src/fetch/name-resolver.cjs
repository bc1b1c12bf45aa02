'use strict';

// Asks name servers for the addresses of hosts.
//
// `dns.lookup` asks in threads that the whole process shares, and a request cannot be taken back: a page that names many hosts whose name
// servers do not answer would keep its user's program from looking up any. So names are asked for with c-ares, which needs no threads, and
// whose requests end with those of the page.

const dns = require('node:dns');
const { clearTimeout, setTimeout } = require('node:timers');

/** @typedef {import('node:dns').LookupAddress} Address */

/** How long a name server may take, in milliseconds, and how often it is asked: as in the C library. */
const RESOLVER = { timeout: 5_000, tries: 2 };

/** How long the addresses of one family are waited for when there are those of the other, in milliseconds. https://www.rfc-editor.org/rfc/rfc8305#section-3 */
const OTHER_FAMILY = 50;

/** How many addresses of a family are tried. A name server can have thousands, and Node keeps an error for each one that refuses. */
const MAX_ADDRESSES = 16;

/**
 * @param {string} host
 * @param {AbortSignal} [signal]
 * @param {string[]} [servers] as `dns.getServers()` has them
 * @returns {Promise<Address[]>}
 * @throws {Error} with a `code`: `ENOTFOUND`, or `EAI_AGAIN` if no name server answers
 */
async function resolveName(host, signal, servers = dns.getServers()) {
  signal?.throwIfAborted();
  // One for each name, since only all requests of a resolver can be cancelled.
  const resolver = new dns.promises.Resolver(RESOLVER);
  resolver.setServers(servers);
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

module.exports = { lookupError, resolveName };
