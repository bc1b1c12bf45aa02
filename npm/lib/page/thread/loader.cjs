'use strict';

// Loads what the thread's documents ask for. What a script may learn of a response is decided here, in the main realm: the
// text of a script of another origin never enters a realm that its page can look into.

const { createHash } = require('node:crypto');
const { types } = require('node:util');

const { visibleHeaders } = require('../network/fetch.cjs');
const { charset, isJavaScript } = require('../network/mime.cjs');
const { ModuleNotLoaded } = require('./modules.cjs');
const { runClassicScript } = require('./scripts.cjs');

const MODES = new Set(['same-origin', 'no-cors', 'cors']);
const CREDENTIALS = new Set(['omit', 'same-origin', 'include']);
const REDIRECTS = new Set(['follow', 'error', 'manual']);
/** Destinations of which the DOM gets the bytes though the page must not read them: it has to draw and lay out with them. */
const EMBEDDED = new Set(['image', 'style']);
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Headers that are not a page's to set. https://fetch.spec.whatwg.org/#forbidden-request-header */
const FORBIDDEN = new Set([
  'accept-charset', 'accept-encoding', 'access-control-request-headers', 'access-control-request-method', 'connection',
  'content-length', 'cookie', 'cookie2', 'date', 'dnt', 'expect', 'host', 'keep-alive', 'origin', 'referer', 'set-cookie', 'te',
  'trailer', 'transfer-encoding', 'upgrade', 'via',
]);

function isForbidden(name) {
  const key = name.toLowerCase();
  return FORBIDDEN.has(key) || key.startsWith('proxy-') || key.startsWith('sec-');
}

/** How many responses of scripts may wait to be run. */
const MAX_WAITING = 10_000;

class Loader {
  #thread;
  #network;
  #running = new Map();
  /** Frames whose documents are on their way. */
  #frames = new Map();
  #next = 1;
  /** Scripts that were fetched and wait for their turn. */
  #scripts = new Map();

  /**
   * @param {import('./main.cjs').PageThread} thread
   * @param {import('../network/fetch.cjs').Network} network
   */
  constructor(thread, network) {
    this.#thread = thread;
    this.#network = network;
  }

  /** Reads a request that the DOM realm wrote as JSON. Strings are all that it may say. */
  #read(text) {
    const wish = JSON.parse(String(text));
    const given = Array.isArray(wish.headers) ? wish.headers.map(([name, value]) => [String(name), String(value)]) : [];
    const headers = given.filter(([name, value]) => METHOD.test(name) && !/[\0\r\n]/.test(value) && !isForbidden(name));
    const method = String(wish.method ?? 'GET');
    if (!METHOD.test(method) || /^(connect|trace|track)$/i.test(method)) throw new Error(`${method} is not a method`);
    return {
      url: String(wish.url),
      method,
      headers,
      mode: MODES.has(wish.mode) ? wish.mode : 'no-cors',
      credentials: CREDENTIALS.has(wish.credentials) ? wish.credentials : 'same-origin',
      redirect: REDIRECTS.has(wish.redirect) ? wish.redirect : 'follow',
      destination: String(wish.destination ?? ''),
      referrer: String(wish.referrer ?? ''),
      usesPreflight: wish.usesPreflight === true,
      window: Number(wish.window),
      initiator: String(wish.initiator ?? 'other'),
      body: null,
    };
  }

  #start(work, onDone) {
    const id = this.#next++;
    const controller = new AbortController();
    this.#running.set(id, controller);
    const finish = (...result) => {
      if (!this.#running.delete(id)) return;
      this.#thread.enter(() => onDone(...result));
    };
    work(controller.signal).then(
      (result) => finish(...result),
      (error) => finish(JSON.stringify({ error: String(error.message) }), undefined),
    );
    return id;
  }

  /** Whether something that was asked for is on its way. */
  get isBusy() {
    return this.#running.size + this.#frames.size > 0;
  }

  abort(id) {
    this.#frames.delete(id);
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  /** Gives the DOM realm a response as script may see it. */
  fetch(text, body, onDone) {
    if (typeof onDone !== 'function') return 0;
    // A copy, at once: the page may change what it sends.
    const bytes = types.isUint8Array(body) ? new Uint8Array(body) : null;
    return this.#start(async (signal) => {
      const request = this.#read(text);
      const response = await this.#load({ ...request, body: bytes }, signal);
      const isOpaque = response.type === 'opaque' || response.type === 'opaqueredirect';
      const visible = {
        type: response.type,
        url: isOpaque ? '' : response.url,
        redirected: response.redirected && !isOpaque,
        status: isOpaque ? 0 : response.status,
        statusText: isOpaque ? '' : response.statusText,
        headers: visibleHeaders(response, request.credentials),
      };
      if (!EMBEDDED.has(request.destination)) {
        return [JSON.stringify(visible), this.#thread.gate.bytesForDom(isOpaque ? new Uint8Array() : response.body)];
      }
      const embedded = { ...visible, url: response.url, status: response.status, headers: response.headers };
      return [JSON.stringify(embedded), this.#thread.gate.bytesForDom(response.body)];
    }, onDone);
  }

  /**
   * Fetches a classic script. The DOM realm gets a handle to run it by.
   * https://html.spec.whatwg.org/multipage/webappapis.html#fetch-a-classic-script
   */
  fetchScript(text, onDone) {
    if (typeof onDone !== 'function') return 0;
    return this.#start(async (signal) => {
      const request = this.#read(text);
      const { encoding, integrity } = JSON.parse(text);
      const response = await this.fetchForHost({ ...request, destination: 'script', integrity: String(integrity ?? '') }, signal);
      if (response.status < 200 || response.status > 299) throw new Error(`${response.url} answered ${response.status}`);
      if (this.#scripts.size >= MAX_WAITING) throw new Error('too many scripts wait to be run');
      const handle = this.#next++;
      const type = response.headers.find(([name]) => name === 'content-type')?.[1];
      this.#scripts.set(handle, {
        source: decode(response.body, charset(type) ?? String(encoding)),
        // Its first URL: redirects must not tell a page where they lead.
        url: request.url,
        base: response.url,
        muted: response.type === 'opaque',
      });
      return [JSON.stringify({ handle, muted: response.type === 'opaque' }), undefined];
    }, onDone);
  }

  /** Has the document of a frame loaded: in the user's thread, where it is decided which thread it is to live in. */
  fetchFrame(text, onDone) {
    if (typeof onDone !== 'function') return 0;
    const { url, referrer, window, frame, isSandboxed, initiator } = JSON.parse(String(text));
    const id = this.#next++;
    this.#frames.set(id, onDone);
    const where = { window: Number(window), frame: Number(frame), isSandboxed: isSandboxed === true, initiator: String(initiator) };
    this.#thread.tell({ type: 'frame', id, url: String(url), referrer: String(referrer), ...where });
    return id;
  }

  /** The answer of the user's thread. */
  onFrame({ id, error, document, content, remote }) {
    const onDone = this.#frames.get(id);
    if (!this.#frames.delete(id)) return;
    let answer = { error, remote };
    if (document !== undefined) answer = this.#thread.describe(document, content);
    const bytes = content === undefined ? undefined : this.#thread.gate.bytesForDom(content.body);
    this.#thread.enter(() => onDone(JSON.stringify(answer), bytes));
  }

  /** Runs a script that was fetched. */
  run(window, handle) {
    const script = this.#scripts.get(handle);
    if (script === undefined) throw new Error('the script is not there');
    this.#scripts.delete(handle);
    const { anchor, realm, bases } = this.#thread.windows.get(window);
    bases.set(script.url, script.base);
    return runClassicScript(anchor, script.source, script.url, { line: 0, column: 0, muted: script.muted, realm });
  }

  /**
   * Fetches a script for `importScripts()`, with which everything waits.
   * https://html.spec.whatwg.org/multipage/webappapis.html#fetch-a-classic-worker-imported-script
   *
   * @returns {string} JSON: the handle of a script, or what went wrong
   */
  importScript(url) {
    const worker = this.#thread.windows.ofFrame(0);
    const { error, response } = this.#thread.askNow({ type: 'import', url, referrer: worker.document.url });
    if (response?.timing !== undefined) worker.native.reportResource(url, 'other', response.timing);
    if (error !== undefined) return JSON.stringify({ error });
    const type = response.headers.find(([name]) => name === 'content-type')?.[1];
    if (response.status < 200 || response.status > 299) return JSON.stringify({ error: `it answered ${response.status}` });
    if (!isJavaScript(type)) return JSON.stringify({ error: `it is served as '${type ?? ''}', which is not JavaScript` });
    const handle = this.#next++;
    const muted = response.type === 'opaque';
    const source = new TextDecoder().decode(response.body);
    // Its first URL: redirects must not tell a worker where they lead.
    this.#scripts.set(handle, { source, url, base: response.url, muted });
    return JSON.stringify({ handle, muted });
  }

  /**
   * Runs a worker's script, with what it imports if it is a module.
   * https://html.spec.whatwg.org/multipage/workers.html#run-a-worker
   *
   * @param {import('../policy/documents.cjs').Description} document of the worker
   * @param {{ response: object, referrer: string }} content
   * @param {() => void} onRun is called when it has run for the first time: it gets messages from then on
   */
  async runWorker({ url, worker: { type, credentials } }, { response, referrer }, onRun) {
    const { anchor, realm, bases, modules } = this.#thread.windows.ofFrame(0);
    if (type === 'classic') {
      bases.set(url, url);
      const source = new TextDecoder().decode(response.body);
      this.#thread.enter(() => runClassicScript(anchor, source, url, { line: 0, column: 0, muted: false, realm }));
      onRun();
      return;
    }
    let handle;
    try {
      modules.preload(response);
      handle = await modules.prepare({ url: response.url, credentials, referrer });
    } catch (error) {
      this.#thread.tell({ type: 'worker failed', error: error instanceof ModuleNotLoaded ? error.message : String(error) });
      return;
    }
    this.#thread.enter(() => modules.run(handle, (thrown) => this.#thread.report(thrown)));
    onRun();
  }

  /** Fetches, and tells the window that it is for how long that took. https://w3c.github.io/resource-timing/#mark-resource-timing */
  async #load({ window, initiator, ...request }, signal) {
    const report = (timing) => {
      if (timing !== undefined) this.#thread.windows.ofFrame(window)?.native?.reportResource(request.url, initiator, timing);
    };
    try {
      const response = await this.#network.fetch(request, this.#thread.client, signal);
      report(response.timing);
      return response;
    } catch (error) {
      if (!signal?.aborted) report(error.timing);
      throw error;
    }
  }

  /** Fetches for the main realm itself: nothing is filtered. */
  async fetchForHost({ integrity = '', ...request }, signal) {
    const response = await this.#load(request, signal);
    checkIntegrity(response, integrity);
    return response;
  }

  /** Fetches a module script with what it imports. */
  loadModule(window, text, onDone) {
    if (typeof onDone !== 'function') return 0;
    return this.#start(async () => {
      const { modules } = this.#thread.windows.get(window);
      const wish = JSON.parse(String(text));
      const handle = await modules.prepare({
        url: wish.url === undefined ? undefined : String(wish.url),
        source: String(wish.source),
        name: String(wish.name),
        base: String(wish.base),
        line: wish.line | 0,
        column: wish.column | 0,
        credentials: CREDENTIALS.has(wish.credentials) ? wish.credentials : 'same-origin',
        referrer: String(wish.referrer ?? ''),
        integrity: String(wish.integrity ?? ''),
      });
      return [JSON.stringify({ handle }), undefined];
    }, onDone);
  }

  /** Forgets a script that will not be run. */
  forget(handle) {
    this.#scripts.delete(handle);
  }

  close() {
    for (const controller of this.#running.values()) controller.abort();
    this.#running.clear();
    this.#scripts.clear();
  }
}

/** https://encoding.spec.whatwg.org/#decode with the encoding of a label; UTF-8 when the label names none. */
function decode(bytes, label) {
  const sniffed = bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : undefined;
  const isUtf8 = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    return new TextDecoder(sniffed ?? (isUtf8 ? 'utf-8' : label)).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

const STRENGTHS = ['sha256', 'sha384', 'sha512'];

/**
 * Subresource integrity. https://w3c.github.io/webappsec-subresource-integrity/#does-response-match-metadatalist
 *
 * @throws {Error} when the response is not what the page said it is
 */
function checkIntegrity({ type, url, body }, metadata) {
  const wanted = metadata
    .split(/\s+/)
    .map((item) => /^(sha256|sha384|sha512)-([A-Za-z0-9+/_-]+={0,2})(\?.*)?$/.exec(item))
    .filter((match) => match !== null);
  if (wanted.length === 0) return;
  if (type === 'opaque') throw new Error(`${url} has an integrity attribute and needs crossorigin, too`);
  const strongest = STRENGTHS.findLast((strength) => wanted.some(([, algorithm]) => algorithm === strength));
  const digest = createHash(strongest).update(body).digest('base64');
  const isEqual = ([, algorithm, value]) =>
    algorithm === strongest && value.replaceAll('-', '+').replaceAll('_', '/') === digest;
  if (!wanted.some(isEqual)) throw new Error(`${url} does not match its integrity attribute`);
}

module.exports = { Loader, decode };
