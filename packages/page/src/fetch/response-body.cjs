'use strict';

// The body of a response, decoded.

const { promisify } = require('node:util');
const zlib = require('node:zlib');

/** A body may end early: browsers take what there is. */
const ZLIB = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const gunzip = promisify(zlib.gunzip);
const inflate = promisify(zlib.inflate);
const brotliDecompress = promisify(zlib.brotliDecompress);

/** @type {Map<string, (body: Uint8Array, maxOutputLength: number) => Promise<Uint8Array>>} */
const DECODERS = new Map([
  ['gzip', (body, maxOutputLength) => gunzip(body, { ...ZLIB, maxOutputLength })],
  ['x-gzip', (body, maxOutputLength) => gunzip(body, { ...ZLIB, maxOutputLength })],
  ['deflate', (body, maxOutputLength) => inflate(body, { ...ZLIB, maxOutputLength })],
  ['br', (body, maxOutputLength) => brotliDecompress(body, { maxOutputLength })],
]);

/**
 * Reads and decodes a body.
 *
 * @param {import('node:http').IncomingMessage} incoming
 * @param {number} limit in bytes, of what is received and of what is decoded
 * @returns {Promise<{ body: Uint8Array<ArrayBuffer>, encodedSize: number }>} the body is in memory of its own
 * @throws {Error}
 */
async function readBody(incoming, limit) {
  const tooLarge = () => new Error(`the response is larger than ${limit} bytes`);
  /** @type {Buffer[]} */
  const chunks = [];
  let encodedSize = 0;
  for await (const chunk of incoming) {
    encodedSize += chunk.length;
    if (encodedSize > limit) throw tooLarge();
    chunks.push(chunk);
  }
  /** @type {Uint8Array} */
  let body = Buffer.concat(chunks);
  // Some servers say that they have encoded an empty body.
  const codings = encodedSize === 0 ? '' : (incoming.headers['content-encoding'] ?? '');
  for (const coding of codings.toLowerCase().split(',').reverse()) {
    try {
      body = (await DECODERS.get(coding.trim())?.(body, limit)) ?? body;
    } catch (error) {
      throw error instanceof RangeError ? tooLarge() : error;
    }
  }
  return { body: new Uint8Array(body), encodedSize };
}

module.exports = { readBody };
