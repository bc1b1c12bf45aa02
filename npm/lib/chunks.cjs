'use strict';

// The chunks of a profiler whose bufferPolicy is 'chunks': given to whoever asks, each once, in order.

/** The chunks of one profiler, and those who wait for one. */
class ChunkQueue {
  #take;
  #requests = [];
  #ended = false;

  /** @param {() => object | undefined} take takes the oldest chunk that is there, if one is */
  constructor(take) {
    this.#take = take;
  }

  /** Whether somebody waits for a chunk. */
  get awaited() {
    return this.#requests.length > 0;
  }

  /** A promise of the next chunk, `undefined` when there is none to come. Settled in the order of the calls. */
  next() {
    return new Promise((resolve) => {
      this.#requests.push(resolve);
      this.deliver();
    });
  }

  /** Hands out what has come. */
  deliver() {
    while (this.#requests.length > 0) {
      const chunk = this.#take();
      if (chunk === undefined && !this.#ended) return;
      this.#requests.shift()(chunk);
    }
  }

  /** No further chunk will come; those that are there are still given. */
  end() {
    this.#ended = true;
    this.deliver();
  }

  /** No further chunk will be given. */
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
  #ongoing = Promise.resolve();
  #finished = false;

  /** @param {() => Promise<object | undefined>} next gives the next chunk, `undefined` after the last */
  constructor(next) {
    this.#next = next;
  }

  next() {
    try {
      return this.#after(async () => {
        const value = this.#finished ? undefined : await this.#next();
        this.#finished ||= value === undefined;
        return { value, done: this.#finished };
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  return(value) {
    try {
      return this.#after(async () => {
        this.#finished = true;
        return { value, done: true };
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Does a step when all that were asked for before are done, which never fail. */
  #after(step) {
    this.#ongoing = this.#ongoing.then(step);
    return this.#ongoing;
  }
}

Object.setPrototypeOf(ChunkIterator.prototype, AsyncIteratorPrototype);
delete ChunkIterator.prototype.constructor;
for (const operation of ['next', 'return']) {
  Object.defineProperty(ChunkIterator.prototype, operation, { enumerable: true });
}
Object.defineProperty(ChunkIterator.prototype, Symbol.toStringTag, {
  value: 'Profiler AsyncIterator',
  configurable: true,
});

module.exports = { ChunkIterator, ChunkQueue };
