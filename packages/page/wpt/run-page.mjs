// Runs one test in a new page.

import { setTimeout as delay } from 'node:timers/promises';

import { takeNews } from './take-news.mjs';

/** How long a test may exceed its time limit. Normally, testharness.js ends it first. */
const GRACE = 10_000;

/** How long a page may take to close. By then its thread has been terminated. */
const CLOSING = 10_000;

/** How long a navigation may take between the end of a document and the next one. */
const NAVIGATION = 5_000;

const LATE = { status: 'TIMEOUT', message: null };

const MAX_NOTES = 20;

/** In the page: answers a request of testdriver.js. */
function giveAnswer(id, problem) {
  const { answers } = globalThis[Symbol.for('selfprof.wpt')];
  const asked = answers.get(id);
  answers.delete(id);
  if (problem === undefined) asked?.resolve();
  else asked?.reject(new Error(problem));
}

const ACTIONS = {
  setVisible: (page, isVisible) => page.setVisible(isVisible === true),
};

class PageTest {
  subtests = [];
  notes = [];
  #page;
  #limit;
  #deadline = Infinity;
  #crash;
  /** How many documents the page has had. */
  #documents = 0;
  #navigated = () => {};
  /** Settles when the page's thread ended. */
  #crashed = new Promise((resolve) => {
    this.#crash = resolve;
  });

  /** @param {number} limit in milliseconds */
  constructor(limit) {
    this.#limit = limit;
  }

  #note(text) {
    if (this.notes.length < MAX_NOTES) this.notes.push(text.slice(0, 1_000));
  }

  #left() {
    return Math.max(1, this.#deadline - performance.now());
  }

  /** The host terminates a page that does not answer in time; that is not a crash of the page. */
  #isLate() {
    return performance.now() >= this.#deadline;
  }

  async run(host, url) {
    const on = {
      pageerror: ({ message, filename, lineno }) => this.#note(`${message} (${filename}:${lineno})`),
      problem: ({ kind, text, url: about }) => this.#note(`${kind}: ${text}${about === '' ? '' : ` (${about})`}`),
      navigated: () => {
        this.#documents += 1;
        this.#navigated();
      },
      crash: (error) => this.#crash(this.#isLate() ? LATE : { status: 'CRASH', message: error.message }),
    };
    this.#page = await host.open(undefined, { on });
    // The start of the thread does not count for the test.
    this.#deadline = performance.now() + this.#limit;
    const ended = Promise.race([this.#crashed, this.#load(url)]);
    const outcome = await Promise.race([ended, delay(this.#left() + CLOSING, LATE, { ref: false })]);
    await Promise.race([this.#page.close(), delay(CLOSING, undefined, { ref: false })]);
    return outcome;
  }

  async #load(url) {
    try {
      const { status } = await this.#page.navigate(url, { waitUntil: 'commit', timeout: this.#left() });
      if (status !== 200) return { status: 'ERROR', message: `the server answers ${url} with ${status}` };
    } catch (error) {
      return { status: 'ERROR', message: error.message };
    }
    let outcome;
    while (outcome === undefined) outcome = await this.#listen();
    return outcome;
  }

  async #listen() {
    const document = this.#documents;
    let news;
    try {
      news = await this.#page.evaluateIn({ timeout: this.#left() }, takeNews);
    } catch (error) {
      if (this.#isLate()) return LATE;
      // A test that navigates continues in the new document.
      if (await this.#hasGoneOn(document)) return undefined;
      return { status: 'ERROR', message: `the page cannot be asked for results: ${error.message}` };
    }
    for (const message of JSON.parse(news)) {
      const outcome = await this.#hear(message);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  /** The old document ends before the new one exists. */
  async #hasGoneOn(document) {
    if (this.#documents > document) return true;
    const gone = new Promise((resolve) => {
      this.#navigated = () => resolve(true);
    });
    return await Promise.race([gone, delay(NAVIGATION, false, { ref: false })]);
  }

  async #hear({ type, ...message }) {
    switch (type) {
      case 'subtest':
        this.subtests.push(message);
        return undefined;
      case 'action':
        await this.#act(message);
        return undefined;
      case 'complete': {
        const { subtests, ...outcome } = message;
        this.subtests = subtests;
        return outcome;
      }
      default:
        return { status: 'ERROR', message: `the page said ${type}` };
    }
  }

  async #act({ id, action, parameters }) {
    let problem;
    try {
      if (!Object.hasOwn(ACTIONS, action)) throw new Error(`${action} is not supported`);
      await ACTIONS[action](this.#page, ...parameters);
    } catch (error) {
      problem = error.message;
    }
    await this.#page.evaluateIn({ timeout: this.#left() }, giveAnswer, id, problem);
  }
}

/**
 * @param {import('../index.d.ts').PageHost} host
 * @param {string} url
 * @param {number} limit the time limit of testharness.js, in milliseconds
 * @returns {Promise<{ status: string, message: string | null, subtests: object[], notes: string[], duration: number }>}
 */
export async function runPage(host, url, limit) {
  const started = performance.now();
  const test = new PageTest(limit + GRACE);
  let outcome;
  try {
    outcome = await test.run(host, url);
  } catch (error) {
    outcome = { status: 'ERROR', message: error.message };
  }
  const { subtests, notes } = test;
  return { ...outcome, subtests, notes, duration: Math.round(performance.now() - started) };
}
