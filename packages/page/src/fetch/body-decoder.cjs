'use strict';

// Decodes the body of a response. Node does so in threads that the whole process shares, and servers choose how much time that takes, so a
// network decodes parts of two bodies at a time.

const zlib = require('node:zlib');

/** @typedef {import('node:stream').Transform} Transform */

/**
 * What decodes a content coding.
 *
 * @typedef {object} Coding
 * @property {() => Transform} create
 * @property {number} memory what a decoder takes from its first byte on, in bytes: for Brotli, 256 codes of each kind
 * @property {number} window how much it keeps of what it has decoded, in bytes
 */

/** @type {Coding} */
const GZIP = {
  create: () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  memory: 64 << 10,
  window: 0,
};

/** @type {Map<string, Coding>} */
const CODINGS = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { ...GZIP, create: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }) }],
  ['br', { create: () => zlib.createBrotliDecompress(), memory: 3 << 20, window: 16 << 20 }],
]);

/** The known codings of a `Content-Encoding`, in the order in which they are decoded. @param {string} header @returns {Coding[]} */
function codingsOf(header) {
  const names = header.toLowerCase().split(',');
  return names.flatMap((name) => CODINGS.get(name.trim()) ?? []).reverse();
}

/** Decoders, each of which decodes what the one before it puts out. */
class BodyDecoder {
  #decoders;
  #onOutput;
  /** How many pieces each decoder has not decoded. @type {number[]} */
  #pending;
  #onIdle = () => {};
  #hasEnded = false;

  /**
   * @param {Coding[]} codings at least one
   * @param {(decoder: number, bytes: Buffer) => void} onOutput of each decoder
   * @param {(error: unknown) => void} onError after which this must be destroyed
   */
  constructor(codings, onOutput, onError) {
    this.#onOutput = onOutput;
    this.#decoders = codings.map(({ create }) => create());
    this.#pending = codings.map(() => 0);
    for (const [at, decoder] of this.#decoders.entries()) {
      decoder.on('error', onError);
      decoder.on('data', (bytes) => this.#pass(at, bytes));
      decoder.on('end', () => {
        const next = this.#decoders[at + 1];
        if (next === undefined) this.#hasEnded = true;
        else next.end();
        this.#forget(at);
      });
      decoder.on('close', () => this.#forget(at));
    }
  }

  /** Decodes a part, also what decoders put out for those after them. @param {Uint8Array} bytes @returns {Promise<void>} */
  decode(bytes) {
    return this.#whenIdle(() => this.#write(0, bytes));
  }

  /** There are no more parts. @returns {Promise<void>} */
  end() {
    return this.#whenIdle(() => {
      // Until the last decoder has ended, or is destroyed.
      const last = this.#decoders.length - 1;
      if (!this.#decoders[last].destroyed) this.#pending[last] += 1;
      this.#decoders[0].end();
    });
  }

  /** Whether all of the body has been decoded. A decoder can find its end in a part that is not the last one. */
  get hasEnded() {
    return this.#hasEnded;
  }

  destroy() {
    for (const decoder of this.#decoders) decoder.destroy();
  }

  /** @param {number} at @param {Buffer} bytes that a decoder puts out */
  #pass(at, bytes) {
    const decoder = this.#decoders[at];
    const next = this.#decoders[at + 1];
    this.#onOutput(at, bytes);
    if (next !== undefined && !this.#write(at + 1, bytes)) {
      decoder.pause();
      next.once('drain', () => decoder.resume());
    }
    this.#settle();
  }

  /** @param {number} at @param {Uint8Array} bytes @returns {boolean} whether the decoder takes more at once */
  #write(at, bytes) {
    const decoder = this.#decoders[at];
    // It has found the end of its text.
    if (decoder.destroyed || decoder.readableEnded || decoder.writableEnded) return true;
    this.#pending[at] += 1;
    return decoder.write(bytes, () => {
      this.#pending[at] -= 1;
      this.#settle();
    });
  }

  /** A decoder decodes no more. @param {number} at */
  #forget(at) {
    this.#pending[at] = -Infinity;
    this.#settle();
  }

  /** @param {() => void} work @returns {Promise<void>} */
  #whenIdle(work) {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      work();
      this.#settle();
    });
  }

  #settle() {
    const isBusy = this.#decoders.some(
      (decoder, at) => this.#pending[at] > 0 || (!decoder.destroyed && decoder.readableLength > 0),
    );
    if (this.#hasEnded || !isBusy) this.#onIdle();
  }
}

module.exports = { BodyDecoder, codingsOf };
