'use strict';

// Fetch: schemes, HTTP with its redirects, and which kind of response the client gets.
// https://fetch.spec.whatwg.org/#fetching
//
// It runs in page threads and in the host. What it knows about the client (its origin and its policies) comes from the
// page host and never from code of the page.

const { STATUS_CODES } = require('node:http');

const { withoutFragment } = require('./without-fragment.cjs');
const { isBlockedByPort, isBlockedByType } = require('./blocking.cjs');
const { SAFELISTED_METHODS, checkPreflight, corsCheck, preflightHeaders, unsafeHeaderNames } = require('./cors.cjs');
const { decodeDataUrl } = require('./data-url.cjs');
const { HEADERS_SIZE, mayRevealTiming, now } = require('./fetch-timing.cjs');
const { readFileUrl } = require('./file-url.cjs');
const { getHeader } = require('./headers.cjs');
const { essence } = require('./mime-type.cjs');
const { isSameOrigin, isTrustworthy, serialize } = require('./origin.cjs');
const { followRedirect, redirectLocation } = require('./redirect.cjs');
const { referrerFor } = require('./referrer.cjs');
const { NetworkError, checkLength, parseUrl } = require('./request.cjs');
const { resourcePolicyCheck } = require('./resource-policy.cjs');
const { farther, siteRelation } = require('./site.cjs');

/** @typedef {import('./request.cjs').Client} Client */
/** @typedef {import('./request.cjs').Request} Request */
/** @typedef {import('./request.cjs').Response} Response */
/** @typedef {import('./request.cjs').BlobContent} BlobContent */
/** @typedef {import('./redirect.cjs').Hop} Hop */
/** @typedef {import('./fetch-timing.cjs').FetchTiming} FetchTiming */
/** @typedef {import('./headers.cjs').HeaderList} HeaderList */
/** @typedef {import('./http.cjs').HttpResponse} HttpResponse */
/** @typedef {Parameters<import('./http.cjs').Transport['send']>[0]} Message */

/**
 * An HTTP request before it goes out, for a caller who may answer it in place of the server.
 *
 * @typedef {object} InterceptedRequest
 * @property {string} url without its fragment
 * @property {string} method
 * @property {HeaderList} headers all that would be sent
 * @property {Uint8Array | null} body
 * @property {string} destination as named by Fetch
 * @property {Request['mode']} mode
 */

/**
 * What is done with a request: it gets a response, fails, or is sent with other members, which the page does not see.
 *
 * @typedef {{ status: number, headers: HeaderList, body: Uint8Array } | { abort: true } |
 *   { send: Partial<Pick<InterceptedRequest, 'url' | 'method' | 'headers' | 'body'>> }} Interception
 */

/**
 * Decides about a request; `undefined` sends it as it is. Called for redirected requests, too.
 *
 * @typedef {(request: InterceptedRequest) => Promise<Interception | undefined>} Intercept
 */

class Network {
  #transport;
  #cookies;
  #userAgent;
  /** May be set at any time. @type {Intercept | undefined} */
  intercept;

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
    const { method = 'GET', mode } = request;
    const url = parseUrl(request.url);
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
        return await this.#fetchHttp(url, request, client, signal);
      case 'data:':
        return localResponse(url, decodeDataUrl(url));
      case 'blob:':
        return localResponse(url, await readBlobUrl(url, client));
      case 'file:':
        return localResponse(url, await readFileUrl(url, request, client, this.#transport.bodyLimit));
      default:
        throw new NetworkError(`cannot fetch URLs of the scheme ${url.protocol}`);
    }
  }

  /** For WebSockets. */
  get connections() {
    return this.#transport.connections;
  }

  /**
   * The headers of a handshake. https://websockets.spec.whatwg.org/#concept-websocket-establish
   *
   * @param {URL} url with the scheme of HTTP
   * @param {Client} client
   */
  webSocketHeaders(url, client) {
    const cookie = this.#cookies.headerFor(url, { isTopLevel: false, method: 'GET', client });
    return {
      origin: serialize(client.origin),
      'user-agent': this.#userAgent,
      'accept-language': 'en',
      ...(cookie !== '' && { cookie }),
    };
  }

  /** Stores the cookies of a handshake. @param {URL} url @param {string[]} cookies @param {Client} client */
  storeCookies(url, cookies, client) {
    const headers = cookies.map((cookie) => /** @type {[string, string]} */ (['set-cookie', cookie]));
    this.#cookies.store(url, headers, { isTopLevel: false, method: 'GET', client });
  }

  /**
   * A fetch that failed is reported with its duration, and no more. https://fetch.spec.whatwg.org/#fetch-finale
   *
   * @param {URL} url
   * @param {Request} request
   * @param {Client} client
   * @param {AbortSignal} [signal]
   */
  async #fetchHttp(url, request, client, signal) {
    const startTime = now();
    try {
      return await this.#followHttp(url, request, client, startTime, signal);
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
   * @param {AbortSignal} [signal]
   * @returns {Promise<Response>}
   */
  async #followHttp(start, request, client, startTime, signal) {
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
      const headers = this.#requestHeaders(hop, request, client, { origin, isCors, sendsCredentials, relation });
      const startedAt = redirectCount === 0 ? startTime : now();
      const own = { url, method, headers, body: hop.body, startedAt };
      const intercepted = await this.#intercepted(own, request, signal);
      const message = intercepted?.message ?? own;
      let response = intercepted?.response;
      const isOwnAnswer = response !== undefined;
      if (response === undefined) {
        const unsafeHeaders = isCors ? unsafeHeaderNames(hop.headers) : [];
        if (isCors && (!SAFELISTED_METHODS.has(method) || unsafeHeaders.length > 0 || request.usesPreflight)) {
          const metadata = fetchMetadata(url, request, relation);
          const { url: target, method: asked } = message;
          await this.#preflight({ url: target, method: asked, unsafeHeaders, origin, credentials, metadata }, signal);
        }
        response = await this.#send(message, signal);
      }
      if (sendsCredentials) {
        const { isTopLevel = false } = request;
        this.#cookies.store(url, response.headers, { isTopLevel, method, client });
      }
      // An answer of the user that says nothing about origins is for all.
      const allowsAll = isOwnAnswer && getHeader(response.headers, 'access-control-allow-origin') === null;
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
      hop = followRedirect(hop, { status, location }, { mode, origin: client.origin, isForeign, isCors });
      timing.redirectCount = hop.redirectCount;
      timing.hasForeignRedirects ||= hop.url.origin !== url.origin;
      timing.redirectStart ??= startTime;
      timing.redirectEnd = response.timing.responseEnd;
    }
  }

  /**
   * What the caller that intercepts requests decides: an answer, or another message.
   *
   * @param {Message & { startedAt: number }} message
   * @param {Request} request
   * @param {AbortSignal} [signal]
   * @returns {Promise<{ response?: HttpResponse, message?: Message } | undefined>}
   * @throws {NetworkError}
   */
  async #intercepted(message, { destination = '', mode }, signal) {
    if (this.intercept === undefined) return undefined;
    const { url, method, headers, body, startedAt } = message;
    const begun = this.intercept({ url: withoutFragment(url.href), method, headers, body, destination, mode });
    const answer = await untilAborted(begun, signal);
    if (answer === undefined) return undefined;
    if ('abort' in answer) throw new NetworkError(`${method} ${url.origin}${url.pathname} was aborted`);
    if ('send' in answer) {
      const { url: other, ...changes } = answer.send;
      return { message: { ...message, ...changes, url: other === undefined ? url : parseUrl(other) } };
    }
    const responseEnd = now();
    const response = {
      status: answer.status,
      statusText: STATUS_CODES[answer.status] ?? '',
      headers: answer.headers.map(([name, value]) => /** @type {[string, string]} */ ([name.toLowerCase(), value])),
      // The answer keeps its bytes: those of a response may be moved to another thread.
      body: new Uint8Array(answer.body),
      timing: { fetchStart: startedAt, responseStart: responseEnd, responseEnd, encodedSize: answer.body.byteLength },
    };
    return { response };
  }

  /** @param {Message} message @param {AbortSignal} [signal] @throws {NetworkError} */
  async #send(message, signal) {
    try {
      return await this.#transport.send(message, signal);
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
   * @param {{ origin: string, isCors: boolean, sendsCredentials: boolean, relation: import('./site.cjs').SiteRelation
   *   }} context
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
   * @param {{ url: URL, method: string, origin: string, credentials: string, unsafeHeaders: string[], metadata:
   *   HeaderList }} request
   * @param {AbortSignal} [signal]
   */
  async #preflight(request, signal) {
    /** @type {HeaderList} */
    const headers = [...preflightHeaders(request), ['User-Agent', this.#userAgent], ...request.metadata];
    const response = await this.#send({ url: request.url, method: 'OPTIONS', headers, body: null }, signal);
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
 * @returns {Response}
 */
function localResponse(url, { type, bytes }) {
  /** @type {HeaderList} */
  const headers = [
    ['content-type', type],
    ['content-length', String(bytes.byteLength)],
  ];
  return { type: 'basic', url: String(url), redirected: false, status: 200, statusText: 'OK', headers, body: bytes };
}

/** @template Value @param {Promise<Value>} promise @param {AbortSignal} [signal] @returns {Promise<Value>} */
async function untilAborted(promise, signal) {
  signal?.throwIfAborted();
  /** @type {Promise<never>} */
  const aborted = new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return await Promise.race([promise, aborted]);
}

/** @param {URL} url @param {Client} client @throws {NetworkError} */
async function readBlobUrl(url, client) {
  const plain = withoutFragment(url.href);
  const blob = await client.blobAt?.(plain);
  if (blob === undefined) throw new NetworkError(`there is no blob at ${plain}, or it was revoked`);
  // The blob keeps its bytes.
  return { type: blob.type, bytes: blob.bytes.slice() };
}

module.exports = { Network };
