'use strict';

// Navigations that a page itself asks for: links, forms and `location`.

/** @typedef {{ url: string, referrer: string, initiator: import('../fetch/origin.cjs').Origin }} NavigationRequest `initiator` is who asks */

class RequestedNavigations {
  #navigate;
  /** The navigation that was requested last, while it is under way. @type {Promise<void> | undefined} */
  last;

  /** @param {(request: NavigationRequest) => Promise<void>} navigate never rejects; a later navigation replaces an earlier one */
  constructor(navigate) {
    this.#navigate = navigate;
  }

  /** @param {NavigationRequest} request */
  add(request) {
    const navigation = this.#navigate(request).then(() => {
      if (this.last === navigation) this.last = undefined;
    });
    this.last = navigation;
  }
}

module.exports = { RequestedNavigations };
