'use strict';

// What the threads of one page share: its cookies, and the network as the user's thread uses it for them.

const { BufferBudget } = require('../fetch/buffer-budget.cjs');
const { Network } = require('../fetch/network.cjs');

/** @typedef {import('../fetch/cookies.cjs').CookieChange} CookieChange */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */

class PageContext {
  #host;
  #cookies;
  network;
  /** How many threads a page may have. */
  threadLimit;
  /** The responses that this thread holds for the page. */
  budget;

  /**
   * @param {import('./browser-context.cjs').BrowserContext} host
   * @param {import('./shared-cookies.cjs').SharedCookies} cookies of this page, or of all pages of the host
   */
  constructor(host, cookies) {
    this.#host = host;
    this.#cookies = cookies;
    this.threadLimit = host.threadLimit;
    this.budget = new BufferBudget(host.bodyLimit);
    this.network = new Network(host.transport, cookies.jar, host.userAgent, this.budget);
  }

  /** @param {'page' | 'worker'} kind what is to be opened in it */
  startThread(kind) {
    const thread = this.#host.startThread(kind, this.#cookies.jar.save());
    this.#cookies.add(thread);
    return thread;
  }

  /** A thread stored a cookie. @param {CookieChange} change @param {ThreadHandle} from */
  shareCookie(change, from) {
    this.#cookies.share(change, from);
  }
}

module.exports = { PageContext };
