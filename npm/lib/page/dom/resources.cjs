'use strict';

// Stands for jsdom's `browser/resources/jsdom-dispatcher.js`: what jsdom loads goes to the host, which knows the rules of
// fetching (network/fetch.cjs) and whose word counts.

const gate = require('selfprof:gate');
const { parseURL } = require('whatwg-url');

const realms = require('./realms.cjs');

const utf8 = new TextEncoder();

/** Sends a request to the host. Rejects with an error of this realm for a network error, or with the signal's reason. */
function send(request, body, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      gate.abortFetch(id);
      reject(signal.reason);
    };
    const id = gate.fetch(JSON.stringify(request), body, (answer, bytes) => {
      signal?.removeEventListener('abort', onAbort);
      const { error, ...response } = JSON.parse(answer);
      if (error === undefined) resolve({ ...response, body: bytes });
      else reject(new TypeError(error));
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The state of an element's `crossorigin` attribute as a request says it. */
function corsSettings(element) {
  const state = element?.getAttributeNS(null, 'crossorigin') ?? null;
  if (state === null) return { mode: 'no-cors', credentials: 'include' };
  return { mode: 'cors', credentials: state.toLowerCase() === 'use-credentials' ? 'include' : 'same-origin' };
}

const DESTINATIONS = { link: 'style', style: 'style', img: 'image', input: 'image', object: 'image' };

/** What Resource Timing calls whoever asks for a resource, where that is not an element's name. */
const INITIATORS = { style: 'css', image: 'img' };

/** jsdom's elements load with this. */
async function fetchCollected(dispatcher, { url, headers: { Referer: referrer = '' } = {}, signal, element = null }) {
  const destination = DESTINATIONS[element?._localName] ?? '';
  const initiator = INITIATORS[element?._localName] ?? element?._localName ?? 'other';
  const window = realms.realmOf(element?._ownerDocument._globalObject)?.id;
  const response = await send({ url, ...corsSettings(element), destination, referrer, initiator, window }, undefined, signal);
  const headers = {};
  for (const [name, value] of response.headers) headers[name] = value;
  return { ...response, headers, ok: response.status >= 200 && response.status <= 299 };
}

/** XMLHttpRequest's face of undici's Dispatcher. */
class JSDOMDispatcher {
  #realm;

  /** @param {import('./realms.cjs').WindowRealm} realm of the window that it is for */
  constructor(realm) {
    this.#realm = realm;
  }

  async request({ method, headers, body, signal, opaque: { url, withCredentials, preflight } }) {
    const list = [];
    let referrer = '';
    for (const [name, value] of headers) {
      const key = name.toLowerCase();
      if (key === 'referer') referrer = value;
      else if (key !== 'origin') list.push([name, value]);
    }
    const bytes = typeof body === 'string' ? utf8.encode(body) : (body ?? undefined);
    const credentials = withCredentials ? 'include' : 'same-origin';
    const usesPreflight = preflight !== undefined;
    const source = { initiator: 'xmlhttprequest', window: this.#realm.id };
    const wish = { url, method, headers: list, mode: 'cors', credentials, referrer, usesPreflight, ...source };
    const response = await send(wish, bytes, signal);
    const received = {};
    for (const [name, value] of response.headers) {
      received[name] = name in received ? [].concat(received[name], value) : value;
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

module.exports = { DEFAULT_USER_AGENT: '', JSDOMDispatcher, corsSettings, fetchCollected, send };
