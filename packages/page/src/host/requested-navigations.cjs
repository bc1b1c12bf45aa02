'use strict';

// Navigations that a page itself asks for: links, forms and `location`.

/** How many may be under way at once: each starts a thread. Of further requests, the last one is kept. */
const MAX_PENDING = 4;

/** @typedef {{ url: string, referrer: string, initiator: import('../fetch/origin.cjs').Origin }} NavigationRequest `initiator` is who asks */

class RequestedNavigations {
  #navigate;
  #pending = 0;
  /** @type {NavigationRequest | undefined} */
  #next;
  /** The navigation that was requested last, while it is under way. @type {Promise<void> | undefined} */
  last;

  /** @param {(request: NavigationRequest) => Promise<void>} navigate never rejects */
  constructor(navigate) {
    this.#navigate = navigate;
  }

  /** @param {NavigationRequest} request */
  add(request) {
    if (this.#pending === MAX_PENDING) {
      this.#next = request;
      return;
    }
    this.#pending += 1;
    const navigation = this.#navigate(request).then(() => {
      this.#pending -= 1;
      const next = this.#next;
      this.#next = undefined;
      if (next !== undefined) this.add(next);
      if (this.last === navigation) this.last = undefined;
    });
    this.last = navigation;
  }

  /** Drops the request that is kept, because the document that asked for it is gone. */
  clear() {
    this.#next = undefined;
  }
}

module.exports = { RequestedNavigations };
