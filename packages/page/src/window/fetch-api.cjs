'use strict';

// fetch() and sendBeacon(). https://fetch.spec.whatwg.org/#fetch-method
//
// page/loading/loader.cjs decides what may be fetched and what of the response may be seen.

const host = require('selfprof:host');
const { extractBody } = require('./fetch-body.cjs');
const { Request, installRequest, readRequest } = require('./fetch-request.cjs');
const { NULL_BODY_STATUSES, installResponse, newResponse } = require('./fetch-response.cjs');
const { defineOperations, requireArguments } = require('./webidl-members.cjs');

/** How much data a beacon may have, in bytes. https://fetch.spec.whatwg.org/#http-network-or-cache-fetch */
const MAX_BEACON = 64 << 10;

/**
 * Starts a request. https://fetch.spec.whatwg.org/#fetch-method
 *
 * @param {any} input of the page
 * @param {any} init of the page
 * @param {(response: object) => void} resolve
 * @param {(reason: unknown) => void} reject
 * @param {string} [initiator] as Resource Timing names it
 */
function startRequest(input, init, resolve, reject, initiator = 'fetch') {
  const { members, body } = readRequest(new Request(input, init));
  const { headers, signal, ...request } = members;
  if (signal.aborted) {
    reject(signal.reason);
    return;
  }
  const noReferrer = request.referrer === '' || request.referrerPolicy === 'no-referrer';
  const description = {
    ...request,
    headers: [...headers],
    destination: '',
    initiator,
    referrer: noReferrer ? '' : host.referrer(),
  };
  const abort = host.request(
    description,
    body.bytes ?? undefined,
    (answer, bytes) => {
      const { headers: received, ...response } = JSON.parse(answer);
      const isNull =
        NULL_BODY_STATUSES.includes(response.status) || request.method === 'HEAD' || response.type.startsWith('opaque');
      resolve(newResponse(response, isNull ? null : new Uint8Array(bytes), received));
    },
    () => reject(new TypeError('Failed to fetch')),
  );
  signal.addEventListener('abort', () => {
    abort();
    reject(signal.reason);
  });
}

function installFetch() {
  installRequest();
  installResponse();
  defineOperations({
    /**
     * @param {any} input of the page
     * @param {any} [init] of the page
     */
    fetch(input, init = undefined) {
      return new Promise((resolve, reject) => {
        requireArguments(arguments.length, "Failed to execute 'fetch' on 'Window'");
        startRequest(input, init ?? {}, resolve, reject);
      });
    },
  });
  installBeacons();
}

/** https://w3c.github.io/beacon/ */
function installBeacons() {
  const { navigator } = globalThis;
  if (navigator === undefined) return;
  const operations = {
    /**
     * @param {any} url of the page
     * @param {any} [data] of the page
     */
    sendBeacon(url, data = null) {
      const { href, protocol } = new URL(`${url}`, host.baseUrl());
      if (protocol !== 'http:' && protocol !== 'https:')
        throw new TypeError(`'${href}' is not a URL of http or https.`);
      const init = { method: 'POST', body: data, keepalive: true, credentials: 'include', mode: 'no-cors' };
      const { type, bytes } = data === null ? { type: null, bytes: null } : extractBody(data);
      if (bytes !== null && bytes.byteLength > MAX_BEACON) return false;
      if (type !== null && !/^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)/i.test(type))
        init.mode = 'cors';
      const ignore = () => {};
      startRequest(href, init, ignore, ignore, 'beacon');
      return true;
    },
  };
  defineOperations(operations, Object.getPrototypeOf(navigator));
}

module.exports = { installFetch };
