'use strict';

// The chunks of a profiler with the bufferPolicy 'chunks'. Each is returned once, in order, to the oldest
// request.

const { whenSettled } = require('./promises.cjs');

/** @typedef {import('../index.js').ProfilerTrace} ProfilerTrace */

/** The chunks of one profiler, and the pending requests for one. */
class ChunkQueue {
  #take;
  /** @type {((chunk: ProfilerTrace | undefined) => void)[]} */
  #requests = [];
  #ended = false;

  /** @param {() => ProfilerTrace | undefined} take takes the oldest chunk, if there is one */
  constructor(take) {
    this.#take = take;
  }

  /** Whether a request is pending. */
  get awaited() {
    return this.#requests.length > 0;
  }

  /**
   * Requests are answered in the order of the calls.
   *
   * @returns {Promise<ProfilerTrace | undefined>} the next chunk; undefined after the last
   */
  next() {
    return new Promise((resolve) => {
      this.#requests.push(resolve);
      this.deliver();
    });
  }

  /** Answers requests with the chunks that have arrived. */
  deliver() {
    while (this.#requests.length > 0) {
      const chunk = this.#take();
      if (chunk === undefined && !this.#ended) return;
      this.#requests.shift()?.(chunk);
    }
  }

  /** No further chunk will arrive. Those that have arrived can still be taken. */
  end() {
    this.#ended = true;
    this.deliver();
  }

  /** Discards all chunks. */
  cancel() {
    this.#take = () => undefined;
    this.end();
  }
}

/** %AsyncIteratorPrototype%, which makes every iterator its own iterable. */
const AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);

/** As WebIDL's asynchronous iterator objects. https://webidl.spec.whatwg.org/#js-asynchronous-iterable */
class ChunkIterator {
  #next;
  /** @type {Promise<unknown>} */
  #ongoing = Promise.resolve();
  #finished = false;

  /** @param {() => Promise<ProfilerTrace | undefined>} next returns the next chunk, undefined after the last */
  constructor(next) {
    this.#next = next;
  }

  /** @returns {Promise<{ value: ProfilerTrace | undefined, done: boolean }>} */
  next() {
    try {
      return this.#after((resolve, reject) => {
        if (this.#finished) {
          resolve({ value: undefined, done: true });
          return;
        }
        const onChunk = (/** @type {ProfilerTrace | undefined} */ value) => {
          this.#finished ||= value === undefined;
          resolve({ value, done: this.#finished });
        };
        whenSettled(this.#next(), onChunk, reject);
      });
    } catch (error) {
      // A foreign `this`: WebIDL's promise-returning operations reject rather than throw.
      return Promise.reject(error);
    }
  }

  /**
   * @param {unknown} value
   * @returns {Promise<{ value: unknown, done: boolean }>}
   */
  return(value) {
    try {
      return this.#after((resolve) => {
        this.#finished = true;
        resolve({ value, done: true });
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Runs a step after all steps before, which never reject.
   *
   * @template T
   * @param {(resolve: (value: T) => void, reject: (reason: unknown) => void) => void} step
   * @returns {Promise<T>}
   */
  #after(step) {
    const before = this.#ongoing;
    /** @type {Promise<T>} */
    const result = new Promise((resolve, reject) => {
      whenSettled(before, () => step(resolve, reject), reject);
    });
    this.#ongoing = result;
    return result;
  }
}

Object.setPrototypeOf(ChunkIterator.prototype, AsyncIteratorPrototype);
Reflect.deleteProperty(ChunkIterator.prototype, 'constructor');
for (const operation of ['next', 'return']) {
  Object.defineProperty(ChunkIterator.prototype, operation, { enumerable: true });
}
Object.defineProperty(ChunkIterator.prototype, Symbol.toStringTag, {
  value: 'Profiler AsyncIterator',
  configurable: true,
});

module.exports = { ChunkIterator, ChunkQueue };
