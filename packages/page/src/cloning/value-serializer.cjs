'use strict';

// V8's serializer for values of any realm.

const { createHmac, timingSafeEqual } = require('node:crypto');
const { types } = require('node:util');

const native = require('selfprof/internal/native.cjs');
const { elementsOf } = require('./own-values.cjs');

/**
 * The maximum number of bytes of a value, and of all those that are being written: a getter of one can write another. They are outside of the
 * heap, so its limit does not apply.
 */
const MAX_BYTES = 512 << 20;

/**
 * Writes values as bytes, and reads them.
 *
 * V8's reader is not made for bytes that an attacker chooses, and bytes travel through realms that a page can take over: the DOM realms have
 * the ports between threads. So the bytes have a tag, which takes a key that only the user's thread and the main realms of its page threads
 * have. What is read is what V8 has written in one of them. A page can still replay bytes, and choose what the lists beside them hold: the
 * addon checks the types of those, and that shared memory is the memory that was written; V8 checks the indexes and the sizes.
 */
class ValueSerializer {
  #key;
  #addressSpace;

  /**
   * @param {Uint8Array} key of all threads that exchange values
   * @param {{ mayRead(bytes: ArrayBuffer): boolean }} [addressSpace] of a page: see main-realm/address-space.cjs
   */
  constructor(key, addressSpace) {
    this.#key = key;
    this.#addressSpace = addressSpace;
  }

  /** @param {ArrayBuffer} bytes */
  #tagOf(bytes) {
    return createHmac('sha256', this.#key).update(new Uint8Array(bytes)).digest('base64');
  }

  /**
   * Runs getters of the value, and the functions given: see `CloneWriterOptions` in crates/node/src/api/structured_clone.rs. What they throw
   * is thrown.
   *
   * @type {import('../any-realm/realm-contracts.js').ValueWriter}
   */
  write(value, isHostObject, writeHostObject, shareMemory, dataCloneError, transferred) {
    const written = native.serializeValue(value, {
      anchor: isHostObject,
      isHostObject,
      writeHostObject,
      shareMemory,
      dataCloneError,
      transferred,
      maxBytes: MAX_BYTES,
    });
    if (written === undefined) throw new TypeError('the functions are of no realm');
    if (this.#addressSpace?.mayRead(/** @type {ArrayBuffer} */ (written[0])) === false) return undefined;
    // The array has just been made, so nothing of a page runs here.
    const tag = { __proto__: null, value: this.#tagOf(/** @type {ArrayBuffer} */ (written[0])), enumerable: true };
    Object.defineProperty(written, written.length, tag);
    return written;
  }

  /**
   * Any argument may come from a page.
   *
   * @type {import('../any-realm/realm-contracts.js').ValueReader}
   */
  read(bytes, tag, hostObjects, shared, transferred, anchor) {
    // They are lists of this realm: what is read later must be what was checked.
    const lists = {
      hostObjects: elementsOf(hostObjects),
      shared: elementsOf(shared),
      transferred: elementsOf(transferred),
    };
    if (!types.isArrayBuffer(bytes) || typeof tag !== 'string') throw new TypeError('the record of a value is damaged');
    const expected = Buffer.from(this.#tagOf(bytes));
    const given = Buffer.from(tag);
    if (expected.length !== given.length || !timingSafeEqual(expected, given))
      throw new TypeError('the record of a value is damaged');
    if (this.#addressSpace?.mayRead(bytes) === false)
      throw new RangeError('there is no room for the buffers of a value');
    return native.deserializeValue(bytes, { anchor, ...lists });
  }
}

module.exports = { ValueSerializer };
