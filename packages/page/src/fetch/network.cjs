'use strict';

// Fetch: schemes, HTTP with its redirects, and which kind of response the client gets.
// https://fetch.spec.whatwg.org/#fetching
//
// It runs in main realms and in the user's thread. What it knows about the client (its origin and its policies) comes from the page
// host and never from code of the page.

const { STATUS_CODES } = require('node:http');

const { withoutFragment } = require('../any-realm/claimed-url.cjs');
const { isBlockedByPort, isBlockedByType } = require('./blocking.cjs');
const { BufferBudget } = require('./buffer-budget.cjs');
const { SAFELISTED_METHODS, checkPreflight, corsCheck, preflightHeaders, unsafeHeaderNames } = require('./cors.cjs');
const { decodeDataUrl } = require('./data-url.cjs');
const { withRests } = require('./rests.cjs');
const { HEADERS_SIZE, mayRevealTiming, now } = require('./fetch-timing.cjs');
const { readFileUrl } = require('./file-url.cjs');
const { getHeader } = require('./headers.cjs');
const { copyInTurns } = require('./joined-bytes.cjs');
const { essence } = require('./mime-type.cjs');
const { isSameOrigin, isTrustworthy, serialize } = require('./origin.cjs');
const { followRedirect, redirectLocation } = require('./redirect.cjs');
const { referrerFor } = require('./referrer.cjs');
const { NetworkError, checkLength, parseUrl } = require('./request.cjs');
const { resourcePolicyCheck } = require('./resource-policy.cjs');
const { farther, siteRelation } = require('./site.cjs');
const { inSlices } = require('./time-slices.cjs');
const { Turns } = require('./turns.cjs');

/** @typedef {import('./request.cjs').Client} Client */
/** @typedef {import('./request.cjs').Request} Request */
/** @typedef {import('./request.cjs').Response} Response */
/** @typedef {import('./request.cjs').BlobContent} BlobContent */
/** @typedef {import('./redirect.cjs').Hop} Hop */
/** @typedef {import('./fetch-timing.cjs').FetchTiming} FetchTiming */
/** @typedef {import('./headers.cjs').HeaderList} HeaderList */
/** @typedef {import('./http.cjs').HttpResponse} HttpResponse */
/** @typedef {NonNullable<Parameters<import('./http.cjs').Transport['send']>[1]>} SendOptions */

/**
 * @typedef {object} InterceptedRequest
 * @property {string} url
 * @property {string} method
 * @property {HeaderList} headers
 * @property {Uint8Array | null} body
 * @property {string} destination
 * @property {Request['mode']} mode
 */

/**
 * What is to be done with a request: it gets a response, fails, or is sent with other members. By default it is sent as it is.
 *
 * @typedef {{ status: number, headers: HeaderList, body: Uint8Array } | { abort: true } | { send: Partial<InterceptedRequest> }} Interception
 * @typedef {(request: InterceptedRequest) => Promise<Interception | undefined>} Intercept
 */

/** How many requests of a page, or of a thread, may be under way: each has a connection, and a process has few. Browsers have as many. */
const MAX_REQUESTS = 256;

/** How many of their bodies are decoded at once: in threads that the whole process shares. */
const MAX_DECODING = 2;

/** How many files are read at once, in threads that the whole process shares. */
const MAX_FILES = 4;

/** How many bytes the decoders of their responses may take together: V8 counts nothing of that. */
const MAX_DECODERS = 256 << 20;

/** @param {boolean} [isUnref] whether they do not keep the thread alive @returns {import('./response-body.cjs').Decoders} */
function newDecoders(isUnref = false) {
  return {
    memory: new BufferBudget(MAX_DECODERS),
    turns: new Turns(MAX_DECODING),
    work: isUnref ? withRests : (work) => work(),
  };
}

class Network {
  #turns = new Turns(MAX_REQUESTS);
  #files = new Turns(MAX_FILES);
  #decoders;
  #transport;
  #cookies;
  #userAgent;
  #budget;
  #intercept;

  /**
   * @param {import('./http.cjs').Transport} transport
   * @param {import('./cookies.cjs').Cookies} cookies
   * @param {string} userAgent
   * @param {import('./buffer-budget.cjs').BufferBudget} [budget] of the responses together, until their leases are released
   * @param {import('./response-body.cjs').Decoders} [decoders]
   * @param {Intercept} [intercept] asked about each request over HTTP
   */
  constructor(transport, cookies, userAgent, budget, decoders = newDecoders(), intercept = undefined) {
    this.#transport = transport;
    this.#cookies = cookies;
    this.#userAgent = userAgent;
    this.#budget = budget;
    this.#decoders = decoders;
    this.#intercept = intercept;
  }

  /**
   * @param {Request} request
   * @param {Client} client
   * @param {AbortSignal} [signal]
   * @returns {Promise<Response>}
   * @throws {NetworkError}
   */
  async fetch(request, client, signal) {
    const lease = this.#budget?.lease();
    try {
      const response = await this.#fetch(request, client, { signal, lease, decoders: this.#decoders });
      return lease === undefined ? response : { ...response, lease };
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  /**
   * @param {Request} request
   * @param {Client} client
   * @param {SendOptions} options
   * @returns {Promise<Response>}
   */
  async #fetch(request, client, options) {
    const { lease } = options;
    const { method = 'GET', mode } = request;
    // Before it is parsed, which takes long.
    if (mode === 'navigate' && client.isUser !== true) checkLength(request.url);
    const url = parseUrl(request.url);
    // Characters that are not ASCII have become up to nine times as many.
    if (mode === 'navigate' && client.isUser !== true) checkLength(url.href);
    if (mode === 'no-cors' && !SAFELISTED_METHODS.has(method))
      throw new NetworkError(`${method} is not a no-cors method`);
    // Whether a server redirects can tell who the user is. https://fetch.spec.whatwg.org/#main-fetch
    if (mode === 'no-cors' && (request.redirect ?? 'follow') !== 'follow')
      throw new NetworkError('a no-cors request follows redirects');
    // A blob: URL is found by its origin, of which the URL does not say which opaque one it is.
    const isLocal = url.protocol === 'data:' || url.protocol === 'blob:';
    if (mode === 'same-origin' && !isLocal && !isSameOrigin(url, client.origin))
      throw new NetworkError(`${url} is of another origin`);
    switch (url.protocol) {
      case 'http:':
      case 'https:':
        return await this.#turns.run(() => this.#fetchHttp(url, request, client, options), options.signal);
      case 'data:':
        return localResponse(url, decodeDataUrl(url), lease);
      case 'blob:':
        return await blobResponse(url, await readBlobUrl(url, client), lease);
      case 'file:':
        return await this.#turns.run(() => this.#readFile(url, request, client, options), options.signal);
      default:
        throw new NetworkError(`cannot fetch URLs of the scheme ${url.protocol}`);
    }
  }

  /** @param {URL} url @param {Request} request @param {Client} client @param {SendOptions} options */
  async #readFile(url, request, client, { lease, signal }) {
    const limit = this.#transport.bodyLimit;
    const read = () => readFileUrl(url, request, client, { limit, lease, signal });
    // Its bytes are counted before they are read.
    return localResponse(url, await this.#files.run(() => this.#decoders.work(read), signal), undefined);
  }

  /**
   * A fetch that failed is reported with its duration, and no more. https://fetch.spec.whatwg.org/#fetch-finale
   *
   * @param {URL} url
   * @param {Request} request
   * @param {Client} client
   * @param {SendOptions} options
   */
  async #fetchHttp(url, request, client, options) {
    const startTime = now();
    try {
      return await this.#followHttp(url, request, client, startTime, options);
    } catch (error) {
      if (error instanceof NetworkError)
        error.timing = { startTime, redirectCount: 0, fetchStart: startTime, responseEnd: now(), isAllowed: false };
      throw error;
    }
  }

  /**
   * https://fetch.spec.whatwg.org/#concept-http-fetch
   *
   * @param {URL} start
   * @param {Request} request
   * @param {Client} client
   * @param {number} startTime
   * @param {SendOptions} options
   * @returns {Promise<Response>}
   */
  async #followHttp(start, request, client, startTime, options) {
    const { mode, credentials = 'same-origin', redirect = 'follow', destination = '' } = request;
    /** @type {Hop} */
    let hop = {
      url: start,
      method: request.method ?? 'GET',
      headers: request.headers ?? [],
      body: request.body ?? null,
      isTainted: false,
      redirectCount: 0,
    };
    let isCors = false;
    /** How the URLs so far relate to the client. @type {import('./site.cjs').SiteRelation} */
    let relation = 'same-origin';
    /** @type {FetchTiming} */
    const timing = {
      startTime,
      redirectCount: 0,
      hasForeignRedirects: false,
      fetchStart: startTime,
      responseEnd: startTime,
      isAllowed: true,
      isReadable: true,
    };
    for (;;) {
      const interception = await this.#intercept?.({
        url: String(hop.url),
        method: hop.method,
        headers: hop.headers,
        body: hop.body,
        destination,
        mode,
      });
      if (interception !== undefined && 'abort' in interception) throw new NetworkError(`a route aborted ${hop.url}`);
      const own = interception !== undefined && 'status' in interception ? interception : undefined;
      const changes = interception !== undefined && 'send' in interception ? interception.send : {};
      if (changes.url !== undefined) hop = { ...hop, url: parseUrl(changes.url) };
      hop = { ...hop, ...changes, url: hop.url };
      const { url, method, isTainted, redirectCount } = hop;
      if (isBlockedByPort(url)) throw new NetworkError(`port ${url.port} is blocked`);
      const isForeign = mode !== 'navigate' && !isSameOrigin(url, client.origin);
      if (isForeign && mode === 'same-origin') throw new NetworkError(`${url} is of another origin`);
      // Once another origin was involved, CORS applies to the end, even when a redirect leads back.
      if (mode === 'cors' && isForeign) isCors = true;
      const origin = isTainted ? 'null' : serialize(client.origin);
      // Once another origin has redirected, a request without CORS is one to another origin to the end, too.
      const isOpaque = mode === 'no-cors' && (isForeign || isTainted);
      const sendsCredentials =
        credentials === 'include'
          ? !(client.embedderPolicy === 'credentialless' && isOpaque)
          : credentials === 'same-origin' && (mode === 'navigate' || !(isForeign || isCors || isOpaque));
      relation = farther(relation, siteRelation(url, client.origin));
      const unsafeHeaders = isCors ? unsafeHeaderNames(hop.headers) : [];
      if (
        own === undefined &&
        isCors &&
        (!SAFELISTED_METHODS.has(method) || unsafeHeaders.length > 0 || request.usesPreflight)
      ) {
        const metadata = fetchMetadata(url, request, relation);
        await this.#preflight({ url, method, unsafeHeaders, origin, credentials, metadata }, options);
      }
      const context = { origin, isCors, sendsCredentials, relation };
      const headers = await inSlices(() => this.#requestHeaders(hop, request, client, context), this.#transport);
      const startedAt = redirectCount === 0 ? startTime : now();
      const response =
        own === undefined
          ? await this.#send({ url, method, headers, body: hop.body, startedAt }, options)
          : ownResponse(own, startedAt);
      if (sendsCredentials) {
        const { isTopLevel = false } = request;
        await inSlices(
          () => this.#cookies.store(url, response.headers, { isTopLevel, method, client }),
          this.#transport,
        );
      }
      const allowsAll = own !== undefined && getHeader(own.headers, 'access-control-allow-origin') === null;
      if (isCors && !allowsAll && !corsCheck(response, origin, credentials)) {
        throw new NetworkError(
          `${url.origin} does not let ${origin} read ${url.pathname} (Access-Control-Allow-Origin)`,
        );
      }
      if (mode === 'no-cors' && !resourcePolicyCheck(response, url, client)) {
        throw new NetworkError(
          `${url.origin} does not let ${origin} embed ${url.pathname} (Cross-Origin-Resource-Policy)`,
        );
      }
      const isBasic = mode === 'navigate' || !(isCors || isForeign || isTainted);
      const isForeignNavigation =
        mode === 'navigate' && request.isTopLevel !== true && !isSameOrigin(url, client.origin);
      timing.isAllowed &&= mayRevealTiming(response.headers, { isBasic, origin, isForeignNavigation });
      timing.isReadable &&= !isForeignNavigation && (isBasic || isCors);
      const location = redirectLocation(response);
      const received = {
        url: String(url),
        redirected: redirectCount > 0,
        status: response.status,
        statusText: response.statusText,
        headers: response.headers,
        body: response.body,
        timing,
      };
      if (location === null) {
        if (isBlockedByType(response, destination)) {
          throw new NetworkError(
            `${url} is served as ${getHeader(response.headers, 'content-type')}, which is not a script`,
          );
        }
        Object.assign(timing, response.timing, describeBody(response));
        return { ...received, type: isOpaque ? 'opaque' : isCors ? 'cors' : 'basic' };
      }
      if (redirect === 'error') throw new NetworkError(`${url} redirects`);
      if (redirect === 'manual') {
        Object.assign(timing, response.timing, { isAllowed: false });
        return { ...received, type: 'opaqueredirect' };
      }
      const { status } = response;
      options.lease?.release();
      hop = followRedirect(hop, { status, location }, { mode, origin: client.origin, isForeign, isCors });
      timing.redirectCount = hop.redirectCount;
      timing.hasForeignRedirects ||= hop.url.origin !== url.origin;
      timing.redirectStart ??= startTime;
      timing.redirectEnd = response.timing.responseEnd;
    }
  }

  /**
   * @param {Parameters<import('./http.cjs').Transport['send']>[0]} message
   * @param {SendOptions} options
   * @throws {NetworkError}
   */
  async #send(message, options) {
    try {
      return await this.#transport.send(message, options);
    } catch (error) {
      const { method, url } = message;
      throw new NetworkError(`${method} ${url.origin}${url.pathname} failed: ${messageOf(error)}`, { cause: error });
    }
  }

  /**
   * https://fetch.spec.whatwg.org/#concept-http-network-or-cache-fetch
   *
   * @param {Hop} hop
   * @param {Request} request
   * @param {Client} client
   * @param {{ origin: string, isCors: boolean, sendsCredentials: boolean, relation: import('./site.cjs').SiteRelation }} context
   */
  #requestHeaders({ url, method, headers }, request, client, { origin, isCors, sendsCredentials, relation }) {
    const { mode, isTopLevel = false } = request;
    const has = (/** @type {string} */ name) => headers.some(([key]) => key.toLowerCase() === name);
    /** @type {HeaderList} */
    const sent = [...headers];
    if (!has('accept'))
      sent.push([
        'Accept',
        mode === 'navigate' ? 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' : '*/*',
      ]);
    if (!has('accept-language')) sent.push(['Accept-Language', 'en']);
    if (!has('user-agent')) sent.push(['User-Agent', this.#userAgent]);
    sent.push(['Accept-Encoding', 'gzip, deflate, br']);
    if (isCors || (method !== 'GET' && method !== 'HEAD')) sent.push(['Origin', origin]);
    const referrer = referrerFor(request.referrer, url);
    if (referrer !== '') sent.push(['Referer', referrer]);
    sent.push(...fetchMetadata(url, request, client.isUser ? 'none' : relation));
    if (sendsCredentials) {
      const cookies = this.#cookies.headerFor(url, { isTopLevel, method, client });
      if (cookies !== '') sent.push(['Cookie', cookies]);
    }
    return sent;
  }

  /**
   * https://fetch.spec.whatwg.org/#cors-preflight-fetch
   *
   * @param {{ url: URL, method: string, origin: string, credentials: string, unsafeHeaders: string[], metadata: HeaderList }} request
   * @param {SendOptions} options
   */
  async #preflight(request, options) {
    /** @type {HeaderList} */
    const headers = [...preflightHeaders(request), ['User-Agent', this.#userAgent], ...request.metadata];
    const response = await this.#send({ url: request.url, method: 'OPTIONS', headers, body: null }, options);
    options.lease?.release();
    checkPreflight(response, request);
  }
}

/**
 * What a server learns of where a request comes from, and what for. https://w3c.github.io/webappsec-fetch-metadata/
 *
 * @param {URL} url
 * @param {Request} request
 * @param {string} site
 * @returns {HeaderList}
 */
function fetchMetadata(url, { mode, destination }, site) {
  if (!isTrustworthy(url.origin)) return [];
  return [
    ['Sec-Fetch-Dest', destination === 'module' ? 'script' : destination || 'empty'],
    ['Sec-Fetch-Mode', mode],
    ['Sec-Fetch-Site', site],
  ];
}

/**
 * @param {{ status: number, headers: HeaderList, body: Uint8Array }} response of an interception
 * @param {number} startedAt
 * @returns {HttpResponse}
 */
function ownResponse({ status, headers, body }, startedAt) {
  const timing = { fetchStart: startedAt, responseEnd: now(), encodedSize: body.byteLength };
  return { status, statusText: STATUS_CODES[status] ?? '', headers, body: new Uint8Array(body), timing };
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** What Resource Timing reports about a response's body. @param {HttpResponse} response */
function describeBody({ status, headers, body, timing: { encodedSize = 0 } }) {
  const encoding = (getHeader(headers, 'content-encoding') ?? '').trim().toLowerCase();
  return {
    status,
    encodedSize,
    decodedSize: body.byteLength,
    transferSize: encodedSize + HEADERS_SIZE,
    contentType: essence(getHeader(headers, 'content-type')),
    contentEncoding: encoding,
  };
}

/**
 * The response of a URL that is not fetched over HTTP.
 *
 * @param {URL} url
 * @param {BlobContent} content
 * @param {Response['lease']} lease
 * @returns {Response}
 */
function localResponse(url, { type, bytes }, lease) {
  try {
    lease?.add(bytes.byteLength);
  } catch (error) {
    throw new NetworkError(messageOf(error));
  }
  /** @type {HeaderList} */
  const headers = [
    ['content-type', type],
    ['content-length', String(bytes.byteLength)],
  ];
  return { type: 'basic', url: String(url), redirected: false, status: 200, statusText: 'OK', headers, body: bytes };
}

/**
 * That of a blob, which keeps its bytes. A page can change what threads share.
 *
 * @param {URL} url
 * @param {BlobContent} content
 * @param {Response['lease']} lease
 * @returns {Promise<Response>}
 */
async function blobResponse(url, { type, bytes }, lease) {
  const response = localResponse(url, { type, bytes }, lease);
  return { ...response, body: await copyInTurns([bytes], bytes.byteLength) };
}

/** @param {URL} url @param {Client} client @throws {NetworkError} */
async function readBlobUrl(url, client) {
  const plain = withoutFragment(url.href);
  const blob = await client.blobAt?.(plain);
  if (blob === undefined) throw new NetworkError(`there is no blob at ${plain}, or it was revoked`);
  return blob;
}

module.exports = { Network, newDecoders };
