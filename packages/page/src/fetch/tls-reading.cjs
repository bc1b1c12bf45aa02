'use strict';

// Reads connections over TLS one after the other. In a turn of the event loop, Node reads all that have received something, and a server chooses how
// long that takes: certificates can take OpenSSL half a second to verify, and records can hold a byte each.

const { clearTimeout, setImmediate, setTimeout } = require('node:timers');

/**
 * What Node reads a connection by: its own wrapper of OpenSSL, which has no public name.
 *
 * @typedef {{ readStart: () => number, readStop: () => number, reading?: boolean, bytesRead?: number }} Handle
 */
/** @typedef {import('node:net').Socket & { _handle?: Handle | null }} Socket */

const now = performance.now.bind(performance);

/** How long a turn may take before there is a pause as long as that, and how long that is at most, in milliseconds. */
const LONG_TURN = 20;
const MAX_PAUSE = 1_000;

/** The pause after none of the connections had received anything: while a server is expected to answer at once, later, and if there is no request. */
const PAUSES = { soon: 2, later: 20, idle: 100 };

/** Until when a server is expected to answer at once, in milliseconds. */
const SOON = 1_000;

/** A connection that is read only in its turn. */
class TurnReader {
  #socket;
  #handle;
  #group;
  #start;
  #stop;
  /** When its request began; infinite if there is none. */
  begun = now();

  /** @param {Socket} socket @param {Handle} handle @param {object} group */
  constructor(socket, handle, group) {
    this.#socket = socket;
    this.#handle = handle;
    this.#group = group;
    this.#start = handle.readStart;
    this.#stop = handle.readStop;
    handle.readStart = () => {
      wait(group, this);
      return 0;
    };
    handle.readStop = () => {
      forget(group, this);
      return this.#close();
    };
    socket.on('close', () => forget(group, this));
    if (handle.reading === true) {
      this.#close();
      wait(group, this);
    }
  }

  #close() {
    return Reflect.apply(this.#stop, this.#handle, []);
  }

  /** Node reads it in this turn of the event loop. @returns {() => boolean} what ends that, and returns whether something was read */
  open() {
    const { bytesRead } = this.#handle;
    Reflect.apply(this.#start, this.#handle, []);
    return () => {
      if (this.#socket._handle !== this.#handle) return true;
      if (waiting.get(this.#group)?.has(this)) this.#close();
      return this.#handle.bytesRead !== bytesRead;
    };
  }
}

/** @type {WeakMap<Handle, TurnReader>} */
const readers = new WeakMap();

/** Those that Node would read, by group. Groups have their turns one after the other, and so have those of a group. @type {Map<object, Set<TurnReader>>} */
const waiting = new Map();

/** How many turns in succession have read nothing. */
let idleTurns = 0;
let isReading = false;
/** @type {NodeJS.Timeout | undefined} */
let pause;

/** @param {object} group @param {TurnReader} reader */
function wait(group, reader) {
  const readers = waiting.get(group) ?? new Set();
  waiting.set(group, readers.add(reader));
  readSoon();
}

function readSoon() {
  idleTurns = 0;
  if (waiting.size === 0 || (isReading && pause === undefined)) return;
  isReading = true;
  clearTimeout(pause);
  pause = undefined;
  setImmediate(readNext);
}

/** @param {object} group @param {TurnReader} reader */
function forget(group, reader) {
  const readers = waiting.get(group);
  readers?.delete(reader);
  if (readers?.size === 0) waiting.delete(group);
}

function readNext() {
  pause = undefined;
  const [first] = waiting;
  if (first === undefined) {
    isReading = false;
    return;
  }
  const [group, readers] = first;
  const [reader] = readers;
  // At the end.
  readers.delete(reader);
  readers.add(reader);
  waiting.delete(group);
  waiting.set(group, readers);
  const begun = now();
  const close = reader.open();
  setImmediate(() => {
    idleTurns = close() ? 0 : idleTurns + 1;
    const took = now() - begun;
    // A page does not keep the program alive.
    if (took >= LONG_TURN) setTimeout(readNext, Math.min(took, MAX_PAUSE)).unref();
    else if (idleTurns < all().length) readNext();
    else pause = setTimeout(readNext, pauseLength()).unref();
  });
}

function all() {
  return [...waiting.values()].flatMap((readers) => [...readers]);
}

function pauseLength() {
  idleTurns = 0;
  const begun = all().flatMap((reader) => (Number.isFinite(reader.begun) ? [reader.begun] : []));
  if (begun.length === 0) return PAUSES.idle;
  return now() - Math.max(...begun) < SOON ? PAUSES.soon : PAUSES.later;
}

/**
 * Has a connection read in its turns from now on.
 *
 * @param {Socket} socket of a request
 * @param {import('node:http').ClientRequest} request
 * @param {object} group of those that are read less often, the more there are
 */
function readInTurns(socket, request, group) {
  const begin = () => {
    const handle = socket._handle;
    if (typeof handle?.readStart !== 'function') return;
    const reader = readers.get(handle) ?? new TurnReader(socket, handle, group);
    readers.set(handle, reader);
    reader.begun = now();
    readSoon();
    request.once('close', () => {
      reader.begun = Infinity;
    });
  };
  if (socket.connecting) socket.once('connect', begin);
  else begin();
}

module.exports = { readInTurns };
