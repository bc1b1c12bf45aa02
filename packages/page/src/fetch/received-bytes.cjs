'use strict';

// What connections receive, in slices of time: Node would parse what all of them have received in one go, and servers choose in how many pieces
// that is.

const slices = require('./time-slices.cjs');

/** How much is parsed at a time, in bytes. Node takes a few milliseconds for as many if each is a piece of its own. */
const PART = 16 << 10;

/** Passes on what a socket receives, in parts. */
class ReceivedBytes {
  #socket;
  #page;
  #push;
  /** What has not been passed on; null is the end. @type {(Uint8Array | null)[]} */
  #parts = [];
  #isHeld = false;
  /** Whether the socket takes more. */
  #isWanted = true;
  #job = () => this.#passOn();

  /** @param {import('node:net').Socket} socket @param {object | undefined} page with which others share the time */
  constructor(socket, page) {
    this.#socket = socket;
    this.#page = page;
    this.#push = socket.push;
    const read = socket._read;
    socket.push = (/** @type {Uint8Array | null} */ bytes) => this.#receive(bytes);
    // Each part that is passed on has the socket ask for more. Node would read that before the next part is.
    socket._read = (/** @type {number} */ size) => {
      if (this.#parts.length === 0) Reflect.apply(read, socket, [size]);
    };
  }

  /** Whether something, or the end, has not been passed on. */
  get hasParts() {
    return this.#parts.length > 0;
  }

  /** Nothing is passed on until `release`, and Node soon reads no more. */
  hold() {
    this.#isHeld = true;
  }

  release() {
    this.#isHeld = false;
    if (this.#parts.length > 0) slices.add(this.#job, this.#page);
  }

  /** @param {Uint8Array | null} bytes @returns {boolean} whether Node is to read more */
  #receive(bytes) {
    if (bytes === null) this.#parts.push(null);
    else for (let at = 0; at < bytes.length; at += PART) this.#parts.push(bytes.subarray(at, at + PART));
    if (!this.#isHeld) slices.add(this.#job, this.#page);
    return this.#isWanted && this.#parts.length === 0;
  }

  /** @returns {boolean} whether there is more */
  #passOn() {
    if (this.#socket.destroyed) this.#parts = [];
    if (this.#isHeld || this.#parts.length === 0) return false;
    const part = /** @type {Uint8Array | null} */ (this.#parts.shift());
    this.#isWanted = Reflect.apply(this.#push, this.#socket, [part]);
    // As Node does at the end: if nothing waits to be read, the socket ends now.
    if (part === null) this.#socket.read(0);
    return this.#parts.length > 0;
  }
}

/** @type {WeakMap<import('node:net').Socket, ReceivedBytes>} */
const known = new WeakMap();

/**
 * What a socket receives, from now on in slices of time.
 *
 * @param {import('node:net').Socket} socket
 * @param {object} [page] with which others share the time: something that lives as long as its connections
 * @returns {ReceivedBytes}
 */
function receivedBytes(socket, page) {
  let received = known.get(socket);
  if (received === undefined) {
    received = new ReceivedBytes(socket, page);
    known.set(socket, received);
  }
  return received;
}

module.exports = { receivedBytes };
