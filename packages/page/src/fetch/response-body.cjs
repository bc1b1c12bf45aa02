'use strict';

// The body of a response, decoded.

const zlib = require('node:zlib');

const { JoinedBytes } = require('./joined-bytes.cjs');
const { receivedBytes } = require('./received-bytes.cjs');

/** @typedef {import('node:http').IncomingMessage} IncomingMessage */
/** @typedef {ReturnType<import('./buffer-budget.cjs').BufferBudget['lease']>} Lease */

/**
 * What decodes a content coding.
 *
 * @typedef {object} Coding
 * @property {() => import('node:stream').Transform} create
 * @property {number} memory what a decoder takes from its first byte on, in bytes: for Brotli, 256 codes of each kind
 * @property {number} window how much it keeps of what it has decoded, in bytes
 */

/** @type {Coding} */
const GZIP = {
  create: () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  memory: 64 << 10,
  window: 0,
};

/** @type {Map<string, Coding>} */
const CODINGS = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { ...GZIP, create: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }) }],
  ['br', { create: () => zlib.createBrotliDecompress(), memory: 3 << 20, window: 16 << 20 }],
]);

/** How many content codings a body may have. Each decoder takes memory; no server has a reason to use more. */
const MAX_CODINGS = 3;

/**
 * As `pipe`, with the pieces joined that arrive in a slice of time: each one that waits in a stream takes hundreds of bytes beside its own, and
 * another thread decodes each by itself.
 *
 * @param {IncomingMessage} incoming
 * @param {import('node:stream').Transform} decoder
 */
function pipeJoined(incoming, decoder) {
  const received = receivedBytes(incoming.socket);
  /** @type {Buffer[]} */
  let pieces = [];
  const write = () => {
    const bytes = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    // The connection of a complete response may be used for another one already.
    if (decoder.destroyed || decoder.write(bytes) || incoming.complete) return;
    received.hold();
    decoder.once('drain', () => received.release());
  };
  incoming.on('data', (/** @type {Buffer} */ piece) => {
    if (decoder.destroyed) return;
    if (pieces.length === 0) process.nextTick(() => pieces.length > 0 && write());
    pieces.push(piece);
  });
  incoming.on('end', () => {
    if (pieces.length > 0) write();
    decoder.end();
  });
}

/**
 * Reads and decodes a body. The limit holds for the decoded bytes.
 *
 * @param {IncomingMessage} incoming
 * @param {{ method: string, limit: number, lease: Lease | undefined, memory: Lease | undefined, signal: AbortSignal | undefined }} options `limit` in bytes;
 *   `memory` counts what the decoders take
 * @returns {Promise<Uint8Array<ArrayBuffer>>} in memory of its own
 */
function readBody(incoming, { method, limit, lease, memory, signal }) {
  return new Promise((succeed, refuse) => {
    const bytes = new JoinedBytes();
    let isOver = false;
    const end = () => {
      isOver = true;
      signal?.removeEventListener('abort', onAbort);
      memory?.release();
    };
    // Once all of the response has arrived, this ends it no longer.
    const onAbort = () => reject(signal?.reason);
    const reject = (/** @type {unknown} */ error) => {
      end();
      // A decoder could go on with what it has.
      for (const decoder of decoders) decoder.unpipe().destroy();
      bytes.clear();
      refuse(error);
    };
    const resolve = (/** @type {Uint8Array<ArrayBuffer>} */ body) => {
      end();
      succeed(body);
    };
    signal?.addEventListener('abort', onAbort);
    /** @type {import('node:stream').Transform[]} */
    const decoders = [];
    incoming.on('error', reject);
    incoming.on('aborted', () => reject(new Error('the connection was lost')));
    // What has no body is not decoded: a decoder would find that it has no end.
    const isEmpty = method === 'HEAD' || incoming.statusCode === 204 || incoming.statusCode === 304;
    const codings = isEmpty ? [] : (incoming.headers['content-encoding'] ?? '').toLowerCase().split(',');
    const known = codings.flatMap((name) => CODINGS.get(name.trim()) ?? []).reverse();
    if (known.length > MAX_CODINGS) {
      reject(new Error(`the response has more than ${MAX_CODINGS} content codings`));
      return;
    }
    const count = (/** @type {Lease | undefined} */ counter, /** @type {number} */ bytes) => {
      if (isOver) return false;
      try {
        counter?.add(bytes);
        return true;
      } catch (error) {
        reject(error);
        return false;
      }
    };
    for (const { create, memory: bytes } of known) {
      if (!count(memory, bytes)) return;
      decoders.push(create());
    }
    /** @type {import('node:stream').Readable} */
    let decoded = incoming;
    for (const decoder of decoders) {
      decoder.on('error', reject);
      if (decoded === incoming) pipeJoined(incoming, decoder);
      else decoded.pipe(decoder);
      decoded = decoder;
    }
    const isWithinLimit = (/** @type {number} */ length) => {
      if (length <= limit) return true;
      reject(new Error(`the response is larger than ${limit} bytes`));
      return false;
    };
    // What a decoder puts out can be endless while nothing comes of it, and so is limited, even if it is part of no body.
    for (const [at, decoder] of decoders.entries()) {
      const { window } = known[at];
      let length = 0;
      let kept = 0;
      decoder.on('data', (/** @type {Buffer} */ chunk) => {
        length += chunk.length;
        const more = Math.min(chunk.length, window - kept);
        kept += more;
        if (isWithinLimit(length) && more > 0) count(memory, more);
      });
    }
    let length = 0;
    decoded.on('data', (/** @type {Buffer} */ chunk) => {
      length += chunk.length;
      if (isWithinLimit(length) && count(lease, chunk.length)) bytes.add(chunk);
    });
    decoded.on('end', () => bytes.take().then(resolve, reject));
  });
}

module.exports = { readBody };
