'use strict';

// The program of a page thread. A page, or a frame of another origin in it, has a thread of its own: an endless loop, a full
// heap or a crash there is the page's alone, and its profiler samples nothing else.

const path = require('node:path');
const { moveMessagePortToContext, parentPort, workerData } = require('node:worker_threads');
const vm = require('node:vm');

const { Cookies } = require('../network/cookies.cjs');
const { Network } = require('../network/fetch.cjs');
const { Transport } = require('../network/http.cjs');
const { serialize } = require('../policy/origin.cjs');
const { Gate } = require('./gate.cjs');
const { Loader } = require('./loader.cjs');
const { Realm } = require('./realm.cjs');
const { substitutes } = require('./substitutes.cjs');
const { Windows } = require('./windows.cjs');

const DOM_MODULES = path.join(__dirname, '..', 'dom');

class PageThread {
  /** @type {import('../network/fetch.cjs').Client} who fetches, once there is a document */
  client;
  windows = new Windows();
  gate = new Gate(this);
  loader;
  /** What dom/main.cjs exports: functions of the DOM realm. */
  dom;
  #cookies;
  #options;

  constructor({ library, options, cookies, port }) {
    this.#options = options;
    this.#cookies = new Cookies(library, cookies, (change) => parentPort.postMessage({ type: 'cookie', change }));
    this.loader = new Loader(this, new Network(new Transport(options.network), this.#cookies, options.userAgent));
    this.#loadDom(library, port);
  }

  #loadDom(library, port) {
    // No code from strings: a page can reach this realm's `Function` through the constructor of any of jsdom's functions.
    const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    let gate;
    const realm = new Realm(context, substitutes(library, () => gate));
    gate = realm.require(path.join(DOM_MODULES, 'gate.cjs'), this.gate.functions());
    this.dom = realm.require(path.join(DOM_MODULES, 'main.cjs'));
    this.dom.connect(moveMessagePortToContext(port, context));
  }

  /** Runs code of the DOM realm. What it throws is the page's affair. */
  enter(callback) {
    try {
      return callback();
    } catch (error) {
      this.report(error);
      return undefined;
    }
  }

  report(error) {
    try {
      this.dom.report(error);
    } catch {
      // The page broke its own reporting.
    }
  }

  reject(reason, promise) {
    try {
      this.dom.reject(reason, promise);
    } catch {
      // As above.
    }
  }

  cookiesForScript(url) {
    return this.#cookies.forScript(url);
  }

  setCookieByScript(url, text) {
    this.#cookies.setByScript(url, text);
  }

  onMessage = {
    cookie: ({ change }) => this.#cookies.apply(change),
    open: ({ response, client, document }) => {
      this.client = { ...client, blobAt: () => undefined };
      const { url, contentType, body, referrer } = response;
      const description = {
        document: this.windows.add(document),
        url,
        contentType,
        referrer,
        origin: serialize(client.origin),
        userAgent: this.#options.userAgent,
      };
      this.enter(() => this.dom.open(JSON.stringify(description), this.gate.bytesForDom(body)));
    },
    frame: (message) => this.loader.onFrame(message),
    ping: ({ id }) => parentPort.postMessage({ type: 'pong', id }),
  };
}

const thread = new PageThread(workerData);

// Neither may end the thread: both are the page's, and the window it happened in is told.
process.on('uncaughtException', (error) => thread.report(error));
process.on('unhandledRejection', (reason, promise) => thread.reject(reason, promise));

parentPort.on('message', (message) => thread.onMessage[message.type](message));
parentPort.postMessage({ type: 'ready' });

module.exports = { PageThread };
