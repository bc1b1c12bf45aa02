'use strict';

// What the DOM realm sends to the user's thread. A page can take the DOM realm over, so each message is made anew here: of texts, numbers,
// memory and ports, whose size is counted.

const { types } = require('node:util');
const { MessagePort } = require('node:worker_threads');

const { MAX_URL } = require('../any-realm/claimed-url.cjs');
const { MAX_REPORTS, ReportLimit, shortened } = require('../any-realm/report-limits.cjs');
const { MAX_TEXT, textLength } = require('../any-realm/structured-clone.cjs');
const { ShapeTree } = require('../cloning/object-shapes.cjs');
const { elementsOf, ownValue } = require('../cloning/own-values.cjs');
const { serializedUrl } = require('../fetch/request.cjs');
const { bytesOf, lengthOf } = require('./foreign-bytes.cjs');
const { isOwnError } = require('./own-objects.cjs');
const { checkReading } = require('./reading-time.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../any-realm/thread-messages.js').Expected} Expected */
/** @typedef {import('../any-realm/thread-messages.js').FromDomRealm} FromDomRealm */
/** @typedef {import('node:worker_threads').Transferable} Transferable */
/** @typedef {{ record: CloneRecord | undefined, transfer: Transferable[], size: number, moved: number }} Parcel with its size in bytes, and how many of these are transferred */

/** Messages that a page can cause without limit. */
const LIMITED = new Set(['console', 'exception', 'navigate', 'post', 'problem', 'storage']);
/** Messages for the page's user, whose texts are as short as the user can take. */
const REPORTS = new Set(['console', 'exception', 'problem']);
/** Those that cause an event of the page's user. The DOM realm limits them more, if no page has taken it over. */
const EVENTS = new Set([...REPORTS, 'DOMContentLoaded', 'load']);
const MAX_EVENTS = 2 * MAX_REPORTS;
/** How much of the others, and with memory that is transferred, may wait to be read by the user's thread, in bytes. */
const MAX_UNREAD = 128 << 20;

/** The longest answer to a command of WebDriver, in characters: it is JSON of at most so many, see window-realm/webdriver-json.cjs. */
const MAX_ANSWER = 80 << 20;
/** The longest tag of a record. */
const MAX_TAG = 100;
/** The memory of a channel's counters, see dom-realm/message-channels.cjs. */
const COUNTER_BYTES = 4;
/** How many ports a message may have: Node compares each with each. */
const MAX_PORTS = 1_000;
/** How many platform objects a value may have that the page's user asks for. */
const MAX_OBJECTS = 100_000;
/** How many a message to another window may have, and how many buffers: the user's thread passes all of them on in one turn. */
const MAX_MESSAGE_OBJECTS = 10_000;
/** The bytes that a message takes, and each object in it, beside its data. */
const MESSAGE = 512;
const OBJECT = 64;
/** And each port, which is an object of libuv and one of V8. */
const PORT_SIZE = 4 << 10;

/** What messages have beside their record: any other member has no meaning, and its name may be anything. */
const MEMBERS = [
  ...['type', 'id', 'frame', 'parent', 'from', 'targetOrigin', 'url', 'referrer', 'replacement'],
  ...['area', 'name', 'value', 'method', 'kind', 'text', 'message', 'stack', 'filename', 'lineno', 'colno'],
];
const MEMBERS_OF_ADDRESS = ['thread', 'frame'];
const MEMBERS_OF_ERROR = ['name', 'code', 'message', 'stack'];

/** The members of a record that are read here, and of one end of a channel. */
const RECORD = /** @type {const} */ (['bytes', 'tag', 'buffers', 'ports', 'objects']);
const PORT = /** @type {const} */ (['pipe', 'out', 'into']);

const OBJECT_TYPES = new Set(['Blob', 'DOMException', 'DOMRect', 'DOMRectReadOnly', 'File']);
const OBJECT_TEXTS = ['media', 'name', 'message'];
const OBJECT_NUMBERS = ['lastModified', 'x', 'y', 'width', 'height'];

/** @type {(buffer: ArrayBuffer) => boolean} of any realm, by its internal slots */
const isResizable = Function.prototype.call.bind(
  /** @type {() => boolean} */ (Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'resizable')?.get),
);
/** Detaches a buffer. @type {(buffer: ArrayBuffer) => ArrayBuffer} */
const toFixedLength = Function.prototype.call.bind(/** @type {any} */ (ArrayBuffer.prototype).transferToFixedLength);

class DomMessages {
  #thread;
  /** What the shapes of results may cost, by the requests of the user's thread that were not answered. @type {Map<unknown, number>} */
  #asked = new Map();
  /** Of the results that the user's thread has. */
  #shapes = new ShapeTree();
  #events = new ReportLimit(MAX_EVENTS);

  /** @param {import('./page-thread.cjs').PageThread} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /** The user's thread has asked the DOM realm for something, and gets one answer. @param {Expected} answer */
  expect({ id, maxShapeCost }) {
    this.#asked.set(id, maxShapeCost);
  }

  /**
   * Sends a message of the DOM realm.
   *
   * @param {unknown} text JSON
   * @param {unknown} record of a value, if it has one
   * @returns {boolean} whether there was room for it
   */
  post(text, record) {
    try {
      const message = readMessage(text);
      if (message === undefined) return false;
      if (EVENTS.has(message.type) && this.#events.take() < 0) return false;
      if (message.type === 'evaluated') return this.#answer(message, record);
      // No other message has a value.
      return this.#send(message, message.type === 'post' ? readRecord(record, true) : undefined);
    } catch {
      // It is damaged, or lists a port twice.
      return false;
    }
  }

  /** @param {FromDomRealm} message @param {Parcel | undefined} parcel */
  #send(message, { record, transfer, size: recordSize, moved } = NO_PARCEL) {
    const size = MESSAGE + 2 * textLength(message) + recordSize;
    const weight = 1 + Math.floor(size / 1024);
    return this.#thread.tellLimited(
      { type: 'dom', message: { ...message, record, weight } },
      {
        size,
        limit: LIMITED.has(message.type) && moved === 0 ? undefined : MAX_UNREAD,
        transferList: transfer,
      },
    );
  }

  /** @param {FromDomRealm} message @param {unknown} given */
  #answer(message, given) {
    const { type, id, text, error } = message;
    const maxShapeCost = this.#asked.get(id);
    if (maxShapeCost === undefined) return false;
    this.#asked.delete(id);
    let answer = { type, id, text, error };
    let parcel;
    try {
      if (typeof text === 'string' && text.length > MAX_ANSWER) throw new RangeError('the answer is too long');
      parcel = given === undefined ? undefined : this.#readResult(given, maxShapeCost);
    } catch (error) {
      const message = isOwnError(error) ? error.message : 'the result is damaged';
      answer = { type, id, text: undefined, error: { name: 'RangeError', message, stack: '' } };
    }
    const { record, transfer, size: recordSize } = parcel ?? NO_PARCEL;
    const size = MESSAGE + 2 * textLength(answer) + recordSize;
    return this.#thread.tellLimited(
      { type: 'dom', message: { ...answer, record } },
      { size, limit: Number.POSITIVE_INFINITY, transferList: transfer },
    );
  }

  /** @param {unknown} given @param {number} maxShapeCost */
  #readResult(given, maxShapeCost) {
    const parcel = readRecord(given, false);
    try {
      const { values, apply } = this.#thread;
      Object.assign(parcel.record, checkReading(values, parcel.record, this.#shapes, maxShapeCost, apply));
    } catch (error) {
      this.#shapes.forget();
      throw error;
    }
    return parcel;
  }
}

/** @type {Parcel} */
const NO_PARCEL = { record: undefined, transfer: [], size: 0, moved: 0 };

/** @param {unknown} text @returns {FromDomRealm | undefined} */
function readMessage(text) {
  if (typeof text !== 'string') return undefined;
  const given = JSON.parse(text);
  if (typeof given?.type !== 'string') return undefined;
  const { to, error } = given;
  // The DOM realm has shortened these, if no page has taken it over.
  const message = primitivesOf(given, MEMBERS, REPORTS.has(given.type) ? shortened : undefined);
  for (const name of ['url', 'referrer']) {
    const url = message[name];
    // Those of other messages are not parsed by the user's thread.
    if (typeof url === 'string')
      message[name] = given.type === 'navigate' ? serializedUrl(url) : url.slice(0, MAX_URL + 1);
  }
  if (isObject(to)) message.to = primitivesOf(to, MEMBERS_OF_ADDRESS);
  if (isObject(error)) message.error = primitivesOf(error, MEMBERS_OF_ERROR, shortened);
  return /** @type {FromDomRealm} */ (message);
}

/** @param {unknown} value @returns {value is object} */
function isObject(value) {
  return typeof value === 'object' && value !== null;
}

/**
 * @param {object} object made of JSON
 * @param {readonly string[]} names
 * @param {(text: string) => string} [change] of texts
 * @returns {Record<string, unknown>}
 */
function primitivesOf(object, names, change = (text) => text) {
  /** @type {Record<string, unknown>} */
  const primitives = {};
  for (const name of names) {
    const value = Object.hasOwn(object, name) ? /** @type {any} */ (object)[name] : undefined;
    if (value !== undefined && !isObject(value)) primitives[name] = typeof value === 'string' ? change(value) : value;
  }
  return primitives;
}

/**
 * Reads a record.
 *
 * @param {unknown} given what `serialize` made, or something else
 * @param {boolean} isMessage to another window, which may transfer memory and ports
 * @returns {Parcel & { record: CloneRecord }}
 * @throws for something that is not a record
 */
function readRecord(given, isMessage) {
  const [bytes, tag, buffers, ports, objects] = RECORD.map((name) => ownValue(given, name));
  if (!types.isArrayBuffer(bytes) || isResizable(bytes) || typeof tag !== 'string' || tag.length > MAX_TAG)
    throw damaged();
  if (![buffers, ports, objects].every(Array.isArray)) throw damaged();
  /** @type {CloneRecord} */
  const record = { bytes, tag, buffers: [], shared: [], ports: [], objects: [] };
  /** @type {Transferable[]} */
  const transfer = [bytes];
  let size = lengthOf(bytes);
  let moved = 0;
  let text = 0;
  const most = isMessage ? MAX_MESSAGE_OBJECTS : MAX_OBJECTS;
  for (const given of elementsOf(objects)) {
    const object = readObject(given);
    text += textLength(object);
    size += OBJECT;
    if (object.bytes !== undefined) {
      transfer.push(object.bytes.buffer);
      size += object.bytes.byteLength;
    }
    if (record.objects.push(object) > most)
      throw new RangeError(`values with more than ${most} platform objects cannot be sent`);
    if (text > MAX_TEXT) throw new RangeError(`objects with more than ${MAX_TEXT} characters of text cannot be sent`);
  }
  if (isMessage) {
    for (const buffer of elementsOf(buffers)) {
      if (!types.isArrayBuffer(buffer)) throw damaged();
      // The user's thread copies it, and a copy of a resizable one would reserve addresses that nothing counts.
      const moving = isResizable(buffer) ? toFixedLength(buffer) : buffer;
      transfer.push(moving);
      moved += OBJECT + lengthOf(moving);
      if (record.buffers.push(moving) > MAX_MESSAGE_OBJECTS)
        throw new RangeError(`messages with more than ${MAX_MESSAGE_OBJECTS} buffers cannot be sent`);
    }
    for (const given of elementsOf(ports)) {
      const port = readPort(given);
      transfer.push(port.pipe);
      moved += PORT_SIZE;
      if (record.ports.push(port) > MAX_PORTS)
        throw new RangeError(`messages with more than ${MAX_PORTS} ports cannot be sent`);
    }
  }
  return { record, transfer, size: size + 2 * text + moved, moved };
}

/** @param {unknown} given what describes a platform object, see dom-realm/platform-objects.cjs @returns {Record<string, any>} */
function readObject(given) {
  const type = ownValue(given, 'type');
  const bytes = ownValue(given, 'bytes');
  if (typeof type !== 'string' || !OBJECT_TYPES.has(type)) throw damaged();
  /** @type {Record<string, any>} */
  const object = { type };
  for (const name of OBJECT_TEXTS) {
    const value = ownValue(given, name);
    if (typeof value === 'string') object[name] = value;
  }
  for (const name of OBJECT_NUMBERS) {
    const value = ownValue(given, name);
    if (typeof value === 'number') object[name] = value;
  }
  // A part of memory is sent with all of that memory, so it is copied.
  if (bytes !== undefined) object.bytes = bytesOf(bytes)?.slice() ?? new Uint8Array();
  return object;
}

/** @param {unknown} given one end of a channel, see dom-realm/message-channels.cjs */
function readPort(given) {
  const [pipe, out, into] = PORT.map((name) => ownValue(given, name));
  // It throws for what is no port.
  Reflect.apply(MessagePort.prototype.hasRef, pipe, []);
  return { pipe: /** @type {MessagePort} */ (pipe), out: counterOf(out), into: counterOf(into) };
}

/** @param {unknown} value */
function counterOf(value) {
  const memory = types.isInt32Array(value) ? bytesOf(value)?.buffer : undefined;
  return types.isSharedArrayBuffer(memory) && lengthOf(memory) === COUNTER_BYTES ? new Int32Array(memory) : undefined;
}

function damaged() {
  return new TypeError('the record of a value is damaged');
}

module.exports = { DomMessages };
