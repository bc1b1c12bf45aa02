'use strict';

// The workers that the windows of this thread, or the worker that it is, have made. Each is a thread, which the user's thread
// starts and ends; what it says comes over a pipe of its own.

const { MessageChannel } = require('node:worker_threads');

const native = require('../../native.cjs');

const TYPES = new Set(['classic', 'module']);
const CREDENTIALS = new Set(['omit', 'same-origin', 'include']);

class OwnWorkers {
  #thread;
  #limit;
  /** By id: the window that made it, and what is told when it cannot be had. */
  #workers = new Map();
  #next = 1;

  /**
   * @param {import('./main.cjs').PageThread} thread
   * @param {number} limit how many there may be at once; the page as a whole is counted by the user's thread
   */
  constructor(thread, limit) {
    this.#thread = thread;
    this.#limit = limit;
  }

  /**
   * Starts a worker.
   *
   * @param {import('./windows.cjs').WindowRecord} window
   * @param {string} text the wish of the DOM realm, JSON
   * @param {(pipe: object) => void} onPipe gets the pipe at once
   * @param {(reason: string) => void} onFailure is called when the worker could not be started, or crashed
   * @returns {number} what to end it by, 0 when it cannot be started
   */
  start(window, text, onPipe, onFailure) {
    const { url, type, credentials, name } = JSON.parse(String(text));
    const id = this.#next++;
    this.#workers.set(id, { window, onFailure });
    const { port1, port2 } = new MessageChannel();
    this.#thread.enter(() => onPipe(this.#thread.moveToDom(port1)));
    if (this.#workers.size > this.#limit) {
      port2.close();
      setImmediate(() => this.onGone({ id, error: `a page may have no more than ${this.#limit} threads` }));
      return id;
    }
    const [plain] = String(url).split('#');
    const wish = {
      type: 'worker',
      id,
      window: window.frame,
      url: String(url),
      // A blob: URL may be revoked as soon as the worker is made.
      blob: this.#thread.blobs.get(plain),
      options: {
        type: TYPES.has(type) ? type : 'classic',
        credentials: CREDENTIALS.has(credentials) ? credentials : 'same-origin',
        name: String(name),
      },
      referrer: window.document.url,
      startedAt: native.now(),
      port: port2,
    };
    this.#thread.tell(wish, [port2]);
    return id;
  }

  /** Ends a worker, whatever it is doing. */
  end(id) {
    if (this.#workers.delete(id)) this.#thread.tell({ type: 'end worker', id });
  }

  /** Ends the workers of a window. https://html.spec.whatwg.org/multipage/workers.html#the-worker's-lifetime */
  endOf(window) {
    for (const [id, worker] of this.#workers) if (worker.window === window) this.end(id);
  }

  /** The user's thread says that one has ended. */
  onGone({ id, error }) {
    const worker = this.#workers.get(id);
    if (!this.#workers.delete(id) || error === undefined) return;
    this.#thread.enter(() => worker.onFailure(error));
  }
}

module.exports = { OwnWorkers };
