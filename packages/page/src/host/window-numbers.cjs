'use strict';

/** @typedef {import('./agent-thread.cjs').AgentThread} AgentThread */

/**
 * The numbers of a page's windows and workers in the public API. Each thread numbers its windows from 0, so the numbers of a page are
 * assigned here. 0 is the page itself, and no number is used twice.
 */
class WindowNumbers {
  /** By thread and by the number there. @type {Map<AgentThread, Map<number, number>>} */
  #numbers = new Map();
  #next = 0;

  /** @param {AgentThread} thread @param {number} window */
  numberOf(thread, window) {
    let numbers = this.#numbers.get(thread);
    if (numbers === undefined) {
      numbers = new Map();
      this.#numbers.set(thread, numbers);
    }
    let number = numbers.get(window);
    if (number === undefined) {
      number = this.#next++;
      numbers.set(window, number);
    }
    return number;
  }

  /** @param {number} number @returns {{ thread: AgentThread, window: number } | undefined} */
  find(number) {
    for (const [thread, numbers] of this.#numbers) {
      for (const [window, known] of numbers) if (known === number) return { thread, window };
    }
    return undefined;
  }

  /** @param {AgentThread} thread @param {number} window */
  forgetWindow(thread, window) {
    this.#numbers.get(thread)?.delete(window);
  }

  /** @param {AgentThread} thread */
  forgetThread(thread) {
    this.#numbers.delete(thread);
  }

  /** How many windows have a number. */
  get size() {
    let size = 0;
    for (const numbers of this.#numbers.values()) size += numbers.size;
    return size;
  }
}

module.exports = { WindowNumbers };
