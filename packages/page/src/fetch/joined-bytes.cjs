'use strict';

const { setImmediate: nextTurn } = require('node:timers/promises');

/** The sizes of blocks, in bytes. Each is as large as those before it together, within these limits. */
const MIN_BLOCK = 1 << 10;
const MAX_BLOCK = 1 << 20;

/** How much is copied in a turn of the event loop, in bytes. */
const COPIED_AT_ONCE = 8 << 20;

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

  /** All bytes, in memory of their own. @returns {Promise<Uint8Array<ArrayBuffer>>} */
  async take() {
    const length = this.#length;
    const blocks = this.#blocks;
    this.clear();
    return await copyInTurns(blocks, length);
  }

  clear() {
    this.#blocks = [];
    this.#length = this.#room = 0;
  }
}

/**
 * Copies bytes. Many would keep the thread for long, so it does other things meanwhile.
 *
 * @param {Uint8Array[]} blocks
 * @param {number} length how many of them, in bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>} in memory of their own
 */
async function copyInTurns(blocks, length) {
  const bytes = new Uint8Array(length);
  let copied = 0;
  let left = COPIED_AT_ONCE;
  for (const block of blocks) {
    for (let at = 0; at < block.length && copied < length; ) {
      const part = block.subarray(at, Math.min(at + left, at + length - copied));
      bytes.set(part, copied);
      at += part.length;
      copied += part.length;
      left -= part.length;
      if (left > 0) continue;
      left = COPIED_AT_ONCE;
      await nextTurn();
    }
  }
  return bytes;
}

module.exports = { JoinedBytes, copyInTurns };
