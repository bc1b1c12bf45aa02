'use strict';

// Bodies of requests and responses. Those of the network are whole: `body` is a stream of what is there already.
// https://fetch.spec.whatwg.org/#body-mixin

const host = require('selfprof:host');
const { isStream, readStream, streamOf } = require('./streams.cjs');
const { defineAttributes, defineOperations } = require('./webidl-members.cjs');

/**
 * The bytes of a body that a page gives, and the type that they have by themselves.
 * https://fetch.spec.whatwg.org/#bodyinit-unions
 *
 * @param {any} value of the page
 * @returns {{ bytes: Uint8Array<ArrayBuffer>, type: string | null }}
 */
function extractBody(value) {
  const platformBody = host.platform.bodyOf(value);
  if (platformBody !== undefined) return { bytes: new Uint8Array(platformBody.bytes), type: platformBody.type };
  if (value instanceof URLSearchParams) {
    return { bytes: host.encode(`${value}`), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (host.platform.isArrayBuffer(value)) return { bytes: new Uint8Array(value).slice(), type: null };
  if (ArrayBuffer.isView(value)) {
    return { bytes: new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice(), type: null };
  }
  return { bytes: host.encode(`${value}`.toWellFormed()), type: 'text/plain;charset=UTF-8' };
}

class Body {
  #bytes;
  #isUsed = false;
  #headers;
  /** That of a page, or of the bytes once the page has asked for it. @type {ReadableStream | null} */
  #stream;

  /**
   * @param {Uint8Array<ArrayBuffer> | ReadableStream | null} body
   * @param {Headers} headers
   */
  constructor(body, headers) {
    this.#stream = isStream(body) ? body : null;
    this.#bytes = isStream(body) ? null : body;
    this.#headers = headers;
  }

  get stream() {
    if (this.#bytes !== null)
      this.#stream ??= streamOf(this.#bytes, () => {
        this.#isUsed = true;
      });
    return this.#stream;
  }

  get bytes() {
    return this.#bytes;
  }

  get isUsed() {
    return this.#isUsed;
  }

  /** Makes another body with the same bytes. Throws if this one was read. @param {Headers} headers */
  copy(headers) {
    this.#check();
    if (this.#bytes !== null || this.#stream === null) return new Body(this.#bytes, headers);
    const [own, other] = this.#stream.tee();
    this.#stream = own;
    return new Body(other, headers);
  }

  /**
   * Reads the body, which can be done once.
   *
   * @param {(bytes: Uint8Array<ArrayBuffer>, type: string) => unknown} convert
   */
  async consume(convert) {
    this.#check();
    this.#isUsed = this.#bytes !== null || this.#stream !== null;
    const type = this.#headers.get('content-type') ?? '';
    if (this.#bytes === null && this.#stream !== null) return convert(await readStream(this.#stream), type);
    this.#stream?.cancel();
    return convert(this.#bytes ?? new Uint8Array(), type);
  }

  #check() {
    if (this.#isUsed || this.#stream?.locked) throw new TypeError('The body has already been read.');
  }
}

/**
 * Defines the members of the mixin on an interface.
 *
 * @template {object} Instance
 * @param {{ prototype: Instance }} Interface
 * @param {(instance: Instance) => Body} bodyOf throws for other objects
 */
function mixInBody(Interface, bodyOf) {
  const consumer = (/** @type {Parameters<Body['consume']>[0]} */ convert) =>
    /** @this {Instance} */
    async function consume() {
      return await bodyOf(this).consume(convert);
    };
  const operations = {
    arrayBuffer: consumer((bytes) => bytes.slice().buffer),
    blob: consumer((bytes, type) => new Blob([bytes], { type })),
    bytes: consumer((bytes) => bytes.slice()),
    formData: consumer(toFormData),
    json: consumer((bytes) => JSON.parse(host.decode(bytes))),
    text: consumer((bytes) => host.decode(bytes)),
  };
  for (const [name, value] of Object.entries(operations)) Object.defineProperty(value, 'name', { value: name });
  defineOperations(operations, Interface.prototype);
  defineAttributes(Interface, ['body'], (instance) => bodyOf(instance).stream);
  defineAttributes(Interface, ['bodyUsed'], (instance) => bodyOf(instance).isUsed);
}

/**
 * @param {Uint8Array} bytes
 * @param {string} type
 */
function toFormData(bytes, type) {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new TypeError(`Bodies of type '${type}' cannot be read as form data.`);
  const data = new FormData();
  for (const [name, value] of new URLSearchParams(host.decode(bytes))) data.append(name, value);
  return data;
}

module.exports = { Body, extractBody, mixInBody };
