'use strict';

// Reads connections over TLS one after the other. In a turn of the event loop, Node reads all that have received something, and a server chooses how
// long that takes: certificates take OpenSSL long to verify, and records can hold a byte each.

const { clearTimeout, setImmediate, setTimeout } = require('node:timers');

const native = require('selfprof/internal/native.cjs');

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
  #group;
  #start;
  #stop;
  #emptyTurns = 0;
  /** When its request began; infinite if there is none. */
  begun = now();

  /** @param {Socket} socket @param {Handle} handle @param {Group} group */
  constructor(socket, handle, group) {
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
    socket.on('end', () => forget(group, this));
    socket.on('close', () => forget(group, this));
    if (handle.reading === true) {
      this.#close();
      wait(group, this);
    }
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
      if (!this.#group.readers.has(this)) return;
      this.#close();
      this.#emptyTurns = this.#handle._parent?.bytesRead === before ? this.#emptyTurns + 1 : 0;
      if (this.#emptyTurns > MAX_EMPTY_TURNS) forget(this.#group, this);
    };
  }
}

/** @type {WeakMap<Handle, TurnReader>} */
const readers = new WeakMap();

/** The connections of a page, and what time they have taken, in milliseconds. */
class Group {
  /** Those that Node would read, in the order of their turns. @type {Set<TurnReader>} */
  readers = new Set();
  /** Of those that can be read, the group that has taken least has the next turn. */
  taken = 0;
  /** When it may have one. */
  after = 0;
}

/** @type {WeakMap<object, Group>} */
const groups = new WeakMap();

/** Groups with connections that Node would read. @type {Set<Group>} */
const waiting = new Set();

let isReading = false;
/** @type {NodeJS.Timeout | undefined} */
let pause;

/** @param {object} page @returns {Group} */
function groupOf(page) {
  const group = groups.get(page) ?? new Group();
  groups.set(page, group);
  return group;
}

/** @param {Group} group @param {TurnReader} reader */
function wait(group, reader) {
  if (!waiting.has(group)) {
    // What it did not use before does not count.
    const least = Math.min(...Array.from(waiting, ({ taken }) => taken));
    if (Number.isFinite(least)) group.taken = Math.max(group.taken, least);
    waiting.add(group);
  }
  group.readers.add(reader);
  readSoon();
}

/** @param {Group} group @param {TurnReader} reader */
function forget(group, reader) {
  group.readers.delete(reader);
  if (group.readers.size === 0) waiting.delete(group);
}

function readSoon() {
  if (waiting.size === 0 || (isReading && pause === undefined)) return;
  isReading = true;
  clearTimeout(pause);
  pause = undefined;
  setImmediate(readNext);
}

function readNext() {
  pause = undefined;
  const begun = now();
  const next = nextReader(begun);
  if (next === undefined) {
    rest(begun);
    return;
  }
  const { group, reader } = next;
  const close = reader.open();
  setImmediate(() => {
    close();
    const took = now() - begun;
    group.taken += took;
    if (took >= LONG_TURN) group.after = now() + Math.min(took, MAX_PAUSE);
    readNext();
  });
}

/** The one whose turn it is, of those that have received something. @param {number} time */
function nextReader(time) {
  const ready = [...waiting].filter(({ after }) => after <= time).sort((one, other) => one.taken - other.taken);
  const all = ready.flatMap((group) => Array.from(group.readers, (reader) => ({ group, reader })));
  const next = all[native.findReadable(Int32Array.from(all, ({ reader }) => reader.file))];
  if (next === undefined) return undefined;
  // At the end.
  next.group.readers.delete(next.reader);
  next.group.readers.add(next.reader);
  return next;
}

/** None can be read. @param {number} begun when that was looked at */
function rest(begun) {
  if (waiting.size === 0) {
    isReading = false;
    return;
  }
  const time = now();
  const length = Math.max(pauseLength(), (time - begun) * PAUSE_FACTOR);
  const resting = Array.from(waiting, ({ after }) => after).filter((after) => after > begun);
  // A page does not keep the program alive.
  pause = setTimeout(readNext, Math.max(Math.min(length, ...resting.map((after) => after - time)), 0)).unref();
}

function pauseLength() {
  let latest = -Infinity;
  for (const { readers } of waiting)
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
    const reader = readers.get(handle) ?? new TurnReader(socket, handle, groupOf(page));
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
