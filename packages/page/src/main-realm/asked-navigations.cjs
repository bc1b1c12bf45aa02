'use strict';

// Navigations that frames of other threads ask for. The frame element is in this thread, so the DOM realm here carries them out; but it must
// not know or say who asked, for which URL, or with which referrer. It gets a ticket, and the request is read from here.

/** How many may wait: the DOM realm may never redeem their tickets. */
const MAX_WAITING = 1_000;

/** @typedef {{ url: string, referrer: string, asker: number }} AskedNavigation `asker` is the thread that asks, by its number in the page */

class AskedNavigations {
  /** By ticket. @type {Map<number, AskedNavigation>} */
  #waiting = new Map();
  #nextTicket = 1;

  /** @param {AskedNavigation} navigation @returns {number} a ticket */
  add(navigation) {
    const ticket = this.#nextTicket++;
    this.#waiting.set(ticket, navigation);
    if (this.#waiting.size > MAX_WAITING) this.#waiting.delete(ticket - MAX_WAITING);
    return ticket;
  }

  /** @param {unknown} ticket from the DOM realm @returns {AskedNavigation | undefined} */
  take(ticket) {
    const navigation = this.#waiting.get(Number(ticket));
    this.#waiting.delete(Number(ticket));
    return navigation;
  }
}

module.exports = { AskedNavigations };
