'use strict';

// Fetch's algorithm, as far as pages need it: redirects, CORS, cookies, referrers and the schemes.
// https://fetch.spec.whatwg.org/
//
// It runs in main realms, so that no page can talk it into anything: the client, its origin and its policies are what the
// host knows of the thread, never what code of the page says.

const fs = require('node:fs/promises');
const path = require('node:path');
const { fileURLToPath } = require('node:url');

const { folderOf, isSameOrigin, isTrustworthy, originOfUrl, serialize } = require('../policy/origin.cjs');
const { getHeader } = require('./http.cjs');
const { HEADERS_SIZE, mayBeTold, now } = require('./timing.cjs');
const { isImageAudioVideoOrCsv, isJavaScript, typeOfFile } = require('./mime.cjs');

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 20;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'POST']);
const SCRIPT_LIKE = new Set(['script', 'worker', 'module', 'sharedworker']);

/** https://fetch.spec.whatwg.org/#port-blocking */
const BAD_PORTS = new Set(
  ('0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 ' +
    '137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 ' +
    '1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080').split(' '),
);

const EXPOSED = new Set([
  'cache-control', 'content-language', 'content-length', 'content-type', 'expires', 'last-modified', 'pragma',
]);

/**
 * Who fetches.
 *
 * @typedef {object} Client
 * @property {import('../policy/origin.cjs').Origin} origin
 * @property {'unsafe-none' | 'require-corp' | 'credentialless'} embedderPolicy
 * @property {(url: string) => { type: string, bytes: Uint8Array } | undefined | Promise<{ type: string, bytes: Uint8Array } | undefined>}
 *   [blobAt] the client's blob: URLs
 */

/**
 * @typedef {object} Request
 * @property {string} url
 * @property {string} [method]
 * @property {[string, string][]} [headers] what the author set
 * @property {Uint8Array | null} [body]
 * @property {'navigate' | 'same-origin' | 'no-cors' | 'cors'} mode
 * @property {'omit' | 'same-origin' | 'include'} [credentials]
 * @property {'follow' | 'error' | 'manual'} [redirect]
 * @property {string} [destination] as Fetch names them; `module` for a module script
 * @property {string} [referrer] the client's URL, or empty for none
 * @property {boolean} [isTopLevel] a navigation of the page itself, whose site the cookies are for
 */

/**
 * What came, unfiltered: who hands it to a page filters by `type`.
 *
 * @typedef {object} Response
 * @property {'basic' | 'cors' | 'opaque' | 'opaqueredirect'} type
 * @property {string} url after redirects
 * @property {boolean} redirected
 * @property {number} status
 * @property {string} statusText
 * @property {[string, string][]} headers names in lower case
 * @property {Uint8Array} body
 * @property {import('./timing.cjs').FetchTiming} [timing] of what came over HTTP
 */

/** A network error, with the reason that a console shows and a page does not learn. */
class NetworkError extends Error {
  name = 'NetworkError';
  /** @type {import('./timing.cjs').FetchTiming | undefined} of what came over HTTP, or did not */
  timing;
}

class Network {
  #transport;
  #cookies;
  #userAgent;

  /**
   * @param {import('./http.cjs').Transport} transport
   * @param {import('./cookies.cjs').Cookies} cookies
   * @param {string} userAgent
   */
  constructor(transport, cookies, userAgent) {
    this.#transport = transport;
    this.#cookies = cookies;
    this.#userAgent = userAgent;
  }

  /**
   * @param {Request} request
   * @param {Client} client
   * @param {AbortSignal} [signal]
   * @returns {Promise<Response>}
   * @throws {NetworkError}
   */
  async fetch(request, client, signal) {
    const url = parse(request.url);
    const method = request.method ?? 'GET';
    if (request.mode !== 'navigate') {
      if (request.mode === 'no-cors' && !SAFE_METHODS.has(method)) throw new NetworkError(`${method} is not a no-cors method`);
      if (!isSameOrigin(url, client.origin) && url.protocol !== 'data:') {
        if (request.mode === 'same-origin') throw new NetworkError(`${url} is of another origin`);
      }
    }
    switch (url.protocol) {
      case 'http:':
      case 'https:':
        return await this.#timed(url, { ...request, method }, client, signal);
      case 'data:':
        return local(url, dataUrl(url));
      case 'blob:':
        return local(url, await blobUrl(url, client));
      case 'file:':
        return local(url, await this.#fromDisk(url, request, client));
      default:
        throw new NetworkError(`${url.protocol} is not a scheme that can be fetched`);
    }
  }

  async #fromDisk(url, request, client) {
    // A page of the network has no business on the disk. One from disk has, in its own folder.
    const folder = folderOf(client.origin);
    if (request.mode !== 'navigate' || !request.isTopLevel) {
      if (folder === undefined) throw new NetworkError('a page that is not from disk cannot load from it');
      if (!isSameOrigin(url, client.origin)) throw new NetworkError(`${url} is outside of ${folder}, the page's folder`);
    }
    let file;
    try {
      file = await fs.realpath(fileURLToPath(url));
      if (folder !== undefined && !request.isTopLevel) {
        const way = path.relative(await fs.realpath(folder), file);
        if (way.startsWith('..') || path.isAbsolute(way)) throw new Error(`a link leads out of ${folder}`);
      }
      return { type: typeOfFile(file), bytes: await fs.readFile(file) };
    } catch (error) {
      throw new NetworkError(`${fileURLToPath(url)} cannot be read: ${error.message}`, { cause: error });
    }
  }

  /** https://fetch.spec.whatwg.org/#fetch-finale: a fetch that failed is told of, too, and no more than that. */
  async #timed(url, request, client, signal) {
    const startTime = now();
    try {
      return await this.#overHttp(url, request, client, signal, startTime);
    } catch (error) {
      if (error instanceof NetworkError) error.timing = { startTime, redirectCount: 0, fetchStart: startTime, responseEnd: now(), isAllowed: false };
      throw error;
    }
  }

  // https://fetch.spec.whatwg.org/#concept-http-fetch, #http-redirect-fetch and #http-network-or-cache-fetch
  async #overHttp(start, request, client, signal, startTime) {
    let url = start;
    let { method, body = null } = request;
    const { mode, credentials = 'same-origin', redirect = 'follow' } = request;
    let headers = request.headers ?? [];
    let tainted = false;
    let isCors = false;
    /** @type {import('./timing.cjs').FetchTiming} */
    const timing = { startTime, redirectCount: 0, hasForeignRedirects: false, isAllowed: true };
    for (let redirects = 0; ; redirects++) {
      if (BAD_PORTS.has(url.port)) throw new NetworkError(`port ${url.port} is blocked`);
      const isForeign = mode !== 'navigate' && !isSameOrigin(url, client.origin);
      if (isForeign && mode === 'same-origin') throw new NetworkError(`${url} is of another origin`);
      // Once another origin took part, the answer stays its word, even when the way leads back.
      if (mode === 'cors' && isForeign) isCors = true;
      const origin = tainted ? 'null' : serialize(client.origin);
      const sendsCredentials =
        credentials === 'include'
          ? !(client.embedderPolicy === 'credentialless' && mode === 'no-cors' && isForeign)
          : credentials === 'same-origin' && (mode === 'navigate' || !(isForeign || isCors));
      const unsafe = isCors ? unsafeHeaders(headers) : [];
      if (isCors && (!SAFE_METHODS.has(method) || unsafe.length > 0 || request.usesPreflight)) {
        await this.#preflight({ url, method, unsafe, origin, credentials }, signal);
      }
      const sent = this.#requestHeaders({ url, method, headers, mode, origin, isCors, request, client, sendsCredentials });
      const startedAt = redirects === 0 ? startTime : now();
      let response;
      try {
        response = await this.#transport.send({ url, method, headers: sent, body, startedAt }, signal);
      } catch (error) {
        throw new NetworkError(`${method} ${url.origin}${url.pathname} failed: ${error.message}`, { cause: error });
      }
      if (sendsCredentials) this.#cookies.store(url, response.headers);
      if (isCors && !corsCheck(response, origin, credentials)) {
        throw new NetworkError(`${url.origin} does not let ${origin} read ${url.pathname} (Access-Control-Allow-Origin)`);
      }
      if (mode === 'no-cors' && !resourcePolicyCheck(response, url, client)) {
        throw new NetworkError(`${url.origin} does not let ${origin} embed ${url.pathname} (Cross-Origin-Resource-Policy)`);
      }
      const isBasic = mode === 'navigate' || !(isCors || isForeign || tainted);
      const isForeignNavigation = mode === 'navigate' && request.isTopLevel !== true && !isSameOrigin(url, client.origin);
      timing.isAllowed &&= mayBeTold(response.headers, { isBasic, origin, isForeignNavigation });
      const location = getHeader(response.headers, 'location');
      if (!REDIRECTS.has(response.status) || location === null) {
        if (isBlockedByType(response, request.destination)) {
          throw new NetworkError(`${url} is served as ${getHeader(response.headers, 'content-type')}, which is no script`);
        }
        let type = isCors ? 'cors' : 'basic';
        if (mode === 'no-cors' && (isForeign || tainted)) type = 'opaque';
        const { status, statusText, headers: received, body: bytes } = response;
        Object.assign(timing, response.timing, describeBody(response));
        return { type, url: String(url), redirected: redirects > 0, status, statusText, headers: received, body: bytes, timing };
      }
      if (redirect === 'error') throw new NetworkError(`${url} redirects`);
      if (redirect === 'manual') {
        Object.assign(timing, response.timing, { isAllowed: false });
        return { ...response, type: 'opaqueredirect', url: String(url), redirected: redirects > 0, timing };
      }
      if (redirects === MAX_REDIRECTS) throw new NetworkError(`${start} redirects more than ${MAX_REDIRECTS} times`);
      const next = parse(location, url);
      if (next.protocol !== 'http:' && next.protocol !== 'https:') throw new NetworkError(`${url} redirects to ${next.protocol}`);
      if (next.hash === '') next.hash = url.hash;
      timing.redirectCount = redirects + 1;
      timing.hasForeignRedirects ||= next.origin !== url.origin;
      timing.redirectStart ??= startTime;
      timing.redirectEnd = response.timing.responseEnd;
      const carriesCredentials = next.username !== '' || next.password !== '';
      if (mode === 'cors' && carriesCredentials && (isCors || !isSameOrigin(next, client.origin))) {
        throw new NetworkError(`${url} redirects to a URL with credentials`);
      }
      // Whoever sent the request elsewhere may have chosen where: from now on it comes from nobody.
      if (next.origin !== url.origin && mode !== 'navigate' && isForeign) tainted = true;
      if (((response.status === 301 || response.status === 302) && method === 'POST') ||
          (response.status === 303 && method !== 'GET' && method !== 'HEAD')) {
        method = 'GET';
        body = null;
        headers = headers.filter(([name]) => !/^content-/i.test(name));
      }
      if (next.origin !== url.origin) headers = headers.filter(([name]) => name.toLowerCase() !== 'authorization');
      url = next;
    }
  }

  #requestHeaders({ url, method, headers, mode, origin, isCors, request, client, sendsCredentials }) {
    const has = (name) => headers.some(([key]) => key.toLowerCase() === name);
    const sent = [...headers];
    if (!has('accept')) sent.push(['Accept', mode === 'navigate' ? 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' : '*/*']);
    if (!has('accept-language')) sent.push(['Accept-Language', 'en']);
    if (!has('user-agent')) sent.push(['User-Agent', this.#userAgent]);
    sent.push(['Accept-Encoding', 'gzip, deflate, br']);
    if (isCors || (method !== 'GET' && method !== 'HEAD')) sent.push(['Origin', origin]);
    const referrer = referrerFor(request.referrer, url);
    if (referrer !== '') sent.push(['Referer', referrer]);
    if (isTrustworthy(url.origin)) {
      sent.push(['Sec-Fetch-Dest', request.destination === 'module' ? 'script' : request.destination || 'empty']);
      sent.push(['Sec-Fetch-Mode', mode]);
      sent.push(['Sec-Fetch-Site', siteRelation(url, client.origin)]);
    }
    if (sendsCredentials) {
      const cookies = this.#cookies.headerFor(url, { isTopLevel: request.isTopLevel === true, method, origin: client.origin });
      if (cookies !== '') sent.push(['Cookie', cookies]);
    }
    return sent;
  }

  // https://fetch.spec.whatwg.org/#cors-preflight-fetch-0
  async #preflight({ url, method, unsafe, origin, credentials }, signal) {
    const headers = [
      ['Accept', '*/*'],
      ['Access-Control-Request-Method', method],
      ['Origin', origin],
      ['User-Agent', this.#userAgent],
    ];
    if (unsafe.length > 0) headers.push(['Access-Control-Request-Headers', unsafe.join(',')]);
    let response;
    try {
      response = await this.#transport.send({ url, method: 'OPTIONS', headers, body: null }, signal);
    } catch (error) {
      throw new NetworkError(`OPTIONS ${url.origin}${url.pathname} failed: ${error.message}`, { cause: error });
    }
    const refused = (what) => new NetworkError(`${url.origin} does not let ${origin} send ${what} to ${url.pathname}`);
    if (response.status < 200 || response.status > 299 || !corsCheck(response, origin, credentials)) throw refused(method);
    const list = (name) => (getHeader(response.headers, name) ?? '').split(',').map((item) => item.trim());
    const anything = (items) => items.includes('*') && credentials !== 'include';
    const methods = list('access-control-allow-methods');
    if (!SAFE_METHODS.has(method) && !methods.includes(method) && !anything(methods)) throw refused(method);
    const names = list('access-control-allow-headers').map((name) => name.toLowerCase());
    for (const name of unsafe) {
      if (!names.includes(name) && !(anything(names) && name !== 'authorization')) throw refused(`the header ${name}`);
    }
  }
}

/** What Resource Timing tells of a response's body. */
function describeBody({ status, headers, body, timing: { encodedSize = 0 } }) {
  const type = (getHeader(headers, 'content-type') ?? '').split(';')[0].trim().toLowerCase();
  const encoding = (getHeader(headers, 'content-encoding') ?? '').trim().toLowerCase();
  return {
    status,
    encodedSize,
    decodedSize: body.byteLength,
    transferSize: encodedSize + HEADERS_SIZE,
    contentType: type,
    contentEncoding: encoding,
  };
}

function parse(text, base) {
  try {
    return new URL(text, base);
  } catch {
    throw new NetworkError(`${text} is not a URL`);
  }
}

function local(url, { type, bytes }) {
  const headers = [['content-type', type], ['content-length', String(bytes.byteLength)]];
  return { type: 'basic', url: String(url), redirected: false, status: 200, statusText: 'OK', headers, body: bytes };
}

async function blobUrl(url, client) {
  const [plain] = url.href.split('#');
  const blob = await client.blobAt?.(plain);
  if (blob === undefined) throw new NetworkError(`${plain} is not there, or no more`);
  return blob;
}

// https://fetch.spec.whatwg.org/#data-url-processor
function dataUrl(url) {
  const [, head, data] = /^data:([^,]*),(.*)$/s.exec(url.href.split('#')[0]) ?? [];
  if (data === undefined) throw new NetworkError('the data: URL has no comma');
  const bytes = percentDecode(data);
  const isBase64 = /; *base64$/i.test(head);
  const type = (isBase64 ? head.replace(/; *base64$/i, '') : head).trim();
  const full = type.startsWith(';') ? `text/plain${type}` : type;
  const body = isBase64 ? forgivingBase64(bytes.toString('latin1')) : bytes;
  return { type: /^[^/\s]+\/[^/\s;]+/.test(full) ? full : 'text/plain;charset=US-ASCII', bytes: body };
}

function percentDecode(text) {
  const bytes = Buffer.from(text, 'utf8');
  let length = 0;
  for (let at = 0; at < bytes.length; at++, length++) {
    const code = bytes[at] === 0x25 ? bytes.toString('latin1', at + 1, at + 3) : '';
    if (/^[0-9a-f]{2}$/i.test(code)) {
      bytes[length] = parseInt(code, 16);
      at += 2;
    } else {
      bytes[length] = bytes[at];
    }
  }
  return bytes.subarray(0, length);
}

function forgivingBase64(text) {
  const packed = text.replace(/[\t\n\f\r ]/g, '').replace(/={1,2}$/, '');
  if (packed.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(packed)) throw new NetworkError('the data: URL is not base64');
  return Buffer.from(packed, 'base64');
}

// https://fetch.spec.whatwg.org/#concept-cors-check
function corsCheck({ headers }, origin, credentials) {
  const allowed = getHeader(headers, 'access-control-allow-origin');
  if (allowed === '*' && credentials !== 'include') return true;
  if (allowed !== origin) return false;
  return credentials !== 'include' || getHeader(headers, 'access-control-allow-credentials') === 'true';
}

// https://fetch.spec.whatwg.org/#cross-origin-resource-policy-check
function resourcePolicyCheck({ headers }, url, client) {
  if (isSameOrigin(url, client.origin)) return true;
  const policy = getHeader(headers, 'cross-origin-resource-policy');
  if (policy === 'same-origin') return false;
  if (policy === 'same-site') return siteRelation(url, client.origin) === 'same-site';
  return policy === 'cross-origin' || client.embedderPolicy !== 'require-corp';
}

/** https://fetch.spec.whatwg.org/#should-response-to-request-be-blocked-due-to-mime-type? and due to nosniff */
function isBlockedByType({ headers }, destination) {
  if (!SCRIPT_LIKE.has(destination)) return false;
  const type = getHeader(headers, 'content-type');
  if (isImageAudioVideoOrCsv(type)) return true;
  const first = (getHeader(headers, 'x-content-type-options') ?? '').split(',')[0].trim().toLowerCase();
  return first === 'nosniff' && !isJavaScript(type);
}

/** Names of author's headers that CORS asks about. https://fetch.spec.whatwg.org/#cors-unsafe-request-header-names */
function unsafeHeaders(headers) {
  const unsafe = new Set();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const isShort = value.length <= 128;
    const isSafe =
      isShort &&
      ((key === 'accept' && !/["():<>?@[\\\]{}\x7f]/.test(value)) ||
        ((key === 'accept-language' || key === 'content-language') && /^[0-9A-Za-z *,\-.;=]*$/.test(value)) ||
        (key === 'content-type' && /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i.test(value)) ||
        (key === 'range' && /^bytes=\d+-\d*$/.test(value)));
    if (!isSafe) unsafe.add(key);
  }
  return [...unsafe].sort();
}

/** `strict-origin-when-cross-origin`, the default. https://w3c.github.io/webappsec-referrer-policy/ */
function referrerFor(referrer, url) {
  if (!referrer) return '';
  const from = parse(referrer);
  if (from.protocol !== 'http:' && from.protocol !== 'https:') return '';
  if (isTrustworthy(from.origin) && !isTrustworthy(url.origin)) return '';
  if (from.origin !== url.origin) return `${from.origin}/`;
  from.hash = from.username = from.password = '';
  return from.href;
}

/** Without the list of public suffixes: hosts are of one site when one ends in the other. */
function siteRelation(url, origin) {
  if (isSameOrigin(url, origin)) return 'same-origin';
  const own = originOfUrl(url);
  if (own === undefined || origin.startsWith('null')) return 'cross-site';
  const there = new URL(own);
  const here = new URL(origin);
  const related =
    there.hostname === here.hostname ||
    there.hostname.endsWith(`.${here.hostname}`) ||
    here.hostname.endsWith(`.${there.hostname}`);
  return related && there.protocol === here.protocol ? 'same-site' : 'cross-site';
}

/** The headers that script of the client may see. https://fetch.spec.whatwg.org/#concept-filtered-response */
function visibleHeaders({ type, headers }, credentials) {
  const public_ = headers.filter(([name]) => name !== 'set-cookie' && name !== 'set-cookie2');
  if (type === 'basic') return public_;
  if (type !== 'cors') return [];
  const exposed = (getHeader(headers, 'access-control-expose-headers') ?? '').toLowerCase().split(/\s*,\s*/);
  if (exposed.includes('*') && credentials !== 'include') return public_;
  return public_.filter(([name]) => EXPOSED.has(name) || exposed.includes(name));
}

module.exports = { Network, NetworkError, visibleHeaders };
