'use strict';

/** The sizes of blocks, in bytes. Each is as large as those before it together, within these limits. */
const MIN_BLOCK = 1 << 10;
const MAX_BLOCK = 1 << 20;

/**
 * Bytes that arrive in pieces. Servers choose the pieces, and each one that Node gives takes hundreds of bytes beside its own, so they are copied
 * into blocks.
 */
class JoinedBytes {
  /** @type {Buffer[]} */
  #blocks = [];
  /** How many bytes there are, and how many there is room for. */
  #length = 0;
  #room = 0;

  /** @param {Uint8Array} piece */
  add(piece) {
    let at = 0;
    while (at < piece.length) {
      if (this.#length === this.#room) {
        const size = Math.min(Math.max(this.#length, MIN_BLOCK), MAX_BLOCK);
        this.#blocks.push(Buffer.allocUnsafeSlow(size));
        this.#room += size;
      }
      const block = this.#blocks[this.#blocks.length - 1];
      const copied = piece.subarray(at, at + this.#room - this.#length);
      block.set(copied, block.length - (this.#room - this.#length));
      at += copied.length;
      this.#length += copied.length;
    }
  }

  /** All bytes. */
  take() {
    const bytes = Buffer.concat(this.#blocks, this.#length);
    this.clear();
    return bytes;
  }

  clear() {
    this.#blocks = [];
    this.#length = this.#room = 0;
  }
}

module.exports = { JoinedBytes };
