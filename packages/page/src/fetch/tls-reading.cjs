'use strict';

// Reads connections over TLS one after the other. In a turn of the event loop, Node reads all that have received something, and a server chooses how
// long that takes: certificates take OpenSSL long to verify, and records can hold a byte each.

const { clearTimeout, setImmediate, setTimeout } = require('node:timers');

const native = require('selfprof/internal/native.cjs');

const { TimeShares } = require('./time-shares.cjs');

/**
 * What Node reads a connection by: its own wrapper of OpenSSL, which has no public name.
 *
 * @typedef {{ readStart: () => number, readStop: () => number, fd?: number, reading?: boolean, _parent?: { bytesRead?: number } }} Handle `_parent` counts
 *   what the server sent
 */
/** @typedef {import('node:net').Socket & { _handle?: Handle | null }} Socket */

const now = performance.now.bind(performance);

/** How long a turn may take before the page has a pause as long as that, and how long that is at most, in milliseconds. */
const LONG_TURN = 20;
const MAX_PAUSE = 1_000;

/** How long is read without a rest, and how long that is, in milliseconds. A program whose work is done ends in one: turns would keep it alive. */
const WORK = 50;
const REST = 1;

/** The pause after none of the connections had received anything: while a server is expected to answer at once, later, and if there is no request. */
const PAUSES = { soon: 1, later: 10, idle: 100 };

/** Until when a server is expected to answer at once, in milliseconds. */
const SOON = 1_000;

/** How many times as long as it takes to look at the connections the pause is at least. */
const PAUSE_FACTOR = 20;

/** After how many turns in succession that read nothing a connection is not read any more, though it could be: it has ended. */
const MAX_EMPTY_TURNS = 3;

/** A connection that is read only in its turn. */
class TurnReader {
  #handle;
  #page;
  #start;
  #stop;
  #emptyTurns = 0;
  /** When its request began; infinite if there is none. */
  begun = now();

  /** @param {Socket} socket @param {Handle} handle @param {object} page */
  constructor(socket, handle, page) {
    this.#handle = handle;
    this.#page = page;
    this.#start = handle.readStart;
    this.#stop = handle.readStop;
    handle.readStart = () => {
      wait(this);
      return 0;
    };
    handle.readStop = () => {
      forget(this);
      return this.#close();
    };
    socket.on('end', () => forget(this));
    socket.on('close', () => forget(this));
    if (handle.reading === true) {
      this.#close();
      wait(this);
    }
  }

  /** With which others share the time: something that lives as long as its connections. */
  get page() {
    return this.#page;
  }

  /** The number of its file; negative if it is closed. */
  get file() {
    return this.#handle.fd ?? -1;
  }

  #close() {
    return Reflect.apply(this.#stop, this.#handle, []);
  }

  /** Node reads it in this turn of the event loop. @returns {() => void} what ends that */
  open() {
    const before = this.#handle._parent?.bytesRead;
    Reflect.apply(this.#start, this.#handle, []);
    return () => {
      if (!waiting.has(this.#page, this)) return;
      this.#close();
      this.#emptyTurns = this.#handle._parent?.bytesRead === before ? this.#emptyTurns + 1 : 0;
      if (this.#emptyTurns > MAX_EMPTY_TURNS) forget(this);
    };
  }
}

/** @type {WeakMap<Handle, TurnReader>} */
const readers = new WeakMap();

/** Those that Node would read, by page. @type {TimeShares<TurnReader>} */
const waiting = new TimeShares();

/** Until when pages have a pause. @type {WeakMap<object, number>} */
const pauses = new WeakMap();

let isReading = false;
/** When reading began after the last rest. */
let begunReading = 0;
let isResting = false;
/** @type {NodeJS.Timeout | undefined} */
let pause;

/** @param {TurnReader} reader */
function wait(reader) {
  waiting.add(reader.page, reader);
  readSoon();
}

/** @param {TurnReader} reader */
function forget(reader) {
  waiting.remove(reader.page, reader);
}

function readSoon() {
  if (waiting.isEmpty || isResting || (isReading && pause === undefined)) return;
  isReading = true;
  begunReading = now();
  clearTimeout(pause);
  pause = undefined;
  setImmediate(readNext);
}

function readNext() {
  const begun = now();
  if (pause !== undefined) begunReading = begun;
  pause = undefined;
  isResting = false;
  const reader = nextReader(begun);
  if (reader === undefined) {
    waitForMore(begun);
    return;
  }
  const close = reader.open();
  setImmediate(() => {
    close();
    const took = now() - begun;
    waiting.charge(reader.page, took);
    if (took >= LONG_TURN) pauses.set(reader.page, now() + Math.min(took, MAX_PAUSE));
    if (now() - begunReading < WORK) {
      readNext();
      return;
    }
    isResting = true;
    readAfter(REST);
  });
}

/** The one whose turn it is, of those that have received something. @param {number} time */
function nextReader(time) {
  const ready = waiting.inTurn().filter(([page]) => pauseOf(page) <= time);
  const all = ready.flatMap(([, readers]) => [...readers]);
  const next = all[native.findReadable(Int32Array.from(all, ({ file }) => file))];
  if (next !== undefined) waiting.putLast(next.page, next);
  return next;
}

/** When it ends. @param {object} page */
function pauseOf(page) {
  return pauses.get(page) ?? 0;
}

/** None can be read. @param {number} begun when that was looked at */
function waitForMore(begun) {
  if (waiting.isEmpty) {
    isReading = false;
    return;
  }
  const time = now();
  const length = Math.max(pauseLength(), (time - begun) * PAUSE_FACTOR);
  const ends = waiting.inTurn().map(([page]) => pauseOf(page));
  const resting = ends.filter((end) => end > begun);
  readAfter(Math.max(Math.min(length, ...resting.map((end) => end - time)), 0));
}

/** @param {number} delay in milliseconds */
function readAfter(delay) {
  // A page does not keep the program alive.
  pause = setTimeout(readNext, delay).unref();
}

function pauseLength() {
  let latest = -Infinity;
  for (const [, readers] of waiting.inTurn())
    for (const { begun } of readers) if (Number.isFinite(begun)) latest = Math.max(latest, begun);
  if (latest === -Infinity) return PAUSES.idle;
  return now() - latest < SOON ? PAUSES.soon : PAUSES.later;
}

/**
 * Has a connection read in its turns from now on.
 *
 * @param {Socket} socket of a request
 * @param {import('node:http').ClientRequest} request
 * @param {object} page with which others share the time: something that lives as long as its connections
 */
function readInTurns(socket, request, page) {
  const begin = () => {
    const handle = socket._handle;
    if (typeof handle?.readStart !== 'function') return;
    const reader = readers.get(handle) ?? new TurnReader(socket, handle, page);
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
