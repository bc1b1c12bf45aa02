'use strict';

// Stands in for jsdom's `browser/resources/jsdom-dispatcher.js`: what jsdom loads goes through loader.cjs, by the rules
// of fetching (fetch/network.cjs).

const { thread } = require('../thread/thread.cjs');
const xhrUtils = require('jsdom/lib/jsdom/living/xhr/xhr-utils.js');
const { parseURL } = require('whatwg-url');

const { RequestFailed } = require('../loading/reports.cjs');
const { WebSocketConnections } = require('./web-sockets.cjs');

const utf8 = new TextEncoder();

/** @typedef {Jsdom.ElementImpl | null} Initiator */

/**
 * Sends a request. Rejects for a network error, or with the signal's reason.
 *
 * @param {import('../loading/loader.cjs').RequestOfPage} request
 * @param {Uint8Array | undefined} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('../loading/visible-response.cjs').VisibleResponse>}
 */
function send(request, body, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      abort();
      reject(signal?.reason);
    };
    const abort = thread.loader.fetch(request, body, (response) => {
      signal?.removeEventListener('abort', onAbort);
      if (response === undefined) reject(new RequestFailed());
      else resolve(response);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * The mode and the credentials that an element's `crossorigin` attribute stands for.
 *
 * @param {{ getAttributeNS(namespace: string | null, name: string): string | null } | null} element
 * @returns {Required<Pick<import('../loading/loader.cjs').RequestOfPage, 'mode' | 'credentials'>>}
 */
function corsSettings(element) {
  const state = element?.getAttributeNS(null, 'crossorigin') ?? null;
  if (state === null) return { mode: 'no-cors', credentials: 'include' };
  return { mode: 'cors', credentials: state.toLowerCase() === 'use-credentials' ? 'include' : 'same-origin' };
}

/** Destinations of requests, by the element that makes them. @type {Record<string, string>} */
const DESTINATIONS = { link: 'style', style: 'style', img: 'image', input: 'image', object: 'image' };

/** Initiator types of Resource Timing that are not the element's name. @type {Record<string, string>} */
const INITIATORS = { style: 'css', image: 'img' };

/**
 * jsdom's elements load resources with this.
 *
 * @param {JSDOMDispatcher} dispatcher
 * @param {{ url: string, headers?: { Referer?: string }, signal?: AbortSignal, element?: Initiator }} options
 */
async function fetchCollected(dispatcher, { url, headers: { Referer: referrer = '' } = {}, signal, element = null }) {
  const name = element?._localName ?? 'other';
  const destination = DESTINATIONS[name] ?? '';
  const initiator = INITIATORS[name] ?? name;
  const { window } = dispatcher;
  const integrity = (name === 'link' && element?.getAttributeNS(null, 'integrity')) || '';
  const response = await send(
    { url, ...corsSettings(element), destination, referrer, initiator, integrity, window },
    undefined,
    signal,
  );
  /** @type {Record<string, string>} */
  const headers = {};
  for (const [name, value] of response.headers) headers[name] = value;
  // A style sheet that a page must not read has no status, but is here only if it was found.
  const isFound = response.status >= 200 && response.status <= 299;
  const ok = isFound || (response.type === 'opaque' && destination === 'style');
  if (destination !== 'image') return { ...response, headers, ok };
  return { ...response, headers, ok, body: { byteLength: 1, size: response.size } };
}

/**
 * Whether somebody listens to the upload of the XMLHttpRequest that is being sent. jsdom says so only if its first URL
 * is of another origin.
 */
let listensToUpload = false;

const { performFetch } = xhrUtils;
/**
 * It sends the request before it returns.
 *
 * @param {unknown} dispatcher
 * @param {{ uploadListener: boolean }} config
 * @param {AbortSignal} signal
 */
xhrUtils.performFetch = (dispatcher, config, signal) => {
  listensToUpload = config.uploadListener;
  try {
    return performFetch(dispatcher, config, signal);
  } finally {
    listensToUpload = false;
  }
};

/** In place of undici's Dispatcher, which XMLHttpRequest sends requests with. */
class JSDOMDispatcher extends WebSocketConnections {
  /**
   * @param {{ method: string, headers: Iterable<[string, string]>, body?: string | Uint8Array | null, signal?:
   *   AbortSignal, opaque: { url: string, withCredentials: boolean, preflight?: unknown } }} options
   */
  async request({ method, headers, body, signal, opaque: { url, withCredentials, preflight } }) {
    /** @type {[string, string][]} */
    const list = [];
    let referrer = '';
    for (const [name, value] of headers) {
      const key = name.toLowerCase();
      if (key === 'referer') referrer = value;
      else if (key !== 'origin') list.push([name, value]);
    }
    const bytes = typeof body === 'string' ? utf8.encode(body) : (body ?? undefined);
    const credentials = /** @type {'include' | 'same-origin'} */ (withCredentials ? 'include' : 'same-origin');
    const usesPreflight = preflight !== undefined || listensToUpload;
    const source = { initiator: 'xmlhttprequest', window: this.window };
    const mode = /** @type {const} */ ('cors');
    const request = { url, method, headers: list, mode, credentials, referrer, usesPreflight, ...source };
    const response = await send(request, bytes, signal);
    /** @type {Record<string, string | string[]>} */
    const received = {};
    for (const [name, value] of response.headers) {
      received[name] = Object.hasOwn(received, name) ? [received[name], value].flat() : value;
    }
    return {
      statusCode: response.status,
      statusText: response.statusText,
      headers: received,
      body: response.body.byteLength === 0 ? [] : [response.body],
      context: { finalURL: parseURL(response.url) },
    };
  }
}

module.exports = { DEFAULT_USER_AGENT: '', JSDOMDispatcher, corsSettings, fetchCollected };
