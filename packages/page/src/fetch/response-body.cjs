'use strict';

// The body of a response, decoded.

const { BodyDecoder, codingsOf } = require('./body-decoder.cjs');
const { JoinedBytes } = require('./joined-bytes.cjs');
const { receivedBytes } = require('./received-bytes.cjs');

/** @typedef {import('node:http').IncomingMessage} IncomingMessage */
/** @typedef {ReturnType<import('./buffer-budget.cjs').BufferBudget['lease']>} Lease */
/** @typedef {import('./turns.cjs').Turns} Turns */

/**
 * What the bodies of a network have in common.
 *
 * @typedef {object} Decoders
 * @property {import('./buffer-budget.cjs').BufferBudget} memory that decoders take
 * @property {Turns} turns in which they decode
 * @property {<Value>(work: () => Promise<Value>) => Promise<Value>} work does what decodes, or reads a file, with rests if that must not keep the thread alive
 */

/** How many content codings a body may have. Each decoder takes memory; no server has a reason to use more. */
const MAX_CODINGS = 3;

/** How much of a body is decoded in a turn, and how much of it waits for that, in bytes. */
const PART = 64 << 10;

/**
 * Decodes a body as it arrives.
 *
 * @param {IncomingMessage} incoming
 * @param {BodyDecoder} decoder
 * @param {{ decoders: Decoders | undefined, signal: AbortSignal | undefined }} options
 * @returns {Promise<void>} when all of it has been decoded; never if the decoder fails
 */
function decodeAsItArrives(incoming, decoder, { decoders, signal }) {
  const received = receivedBytes(incoming.socket);
  /** Those of this slice of time: each piece takes hundreds of bytes beside its own. @type {Buffer[]} */
  let pieces = [];
  let waiting = Buffer.alloc(0);
  let isEmpty = true;
  let isDecoding = false;
  let hasArrived = false;
  const inTurn = async (/** @type {() => Promise<unknown>} */ work) => {
    if (decoders === undefined) await work();
    else await decoders.turns.run(() => decoders.work(work), signal);
  };
  const join = () => {
    waiting = Buffer.concat([waiting, ...pieces]);
    pieces = [];
    // The connection of a complete response may be used for another one already.
    if (waiting.length > PART && !incoming.complete) received.hold();
  };
  const decodePart = () => {
    const part = waiting.subarray(0, PART);
    waiting = waiting.subarray(PART);
    if (waiting.length <= PART) received.release();
    return decoder.decode(part);
  };
  return new Promise((resolve, reject) => {
    const decodeAll = async () => {
      while (waiting.length > 0 && !decoder.hasEnded) await inTurn(decodePart);
      // Not all decoders take no bytes for an empty body, which some servers say to have encoded.
      if (hasArrived && !decoder.hasEnded && !isEmpty) await inTurn(() => decoder.end());
      if (decoder.hasEnded || (hasArrived && isEmpty)) resolve();
    };
    const decode = () => {
      if (isDecoding) return;
      isDecoding = true;
      decodeAll().then(() => {
        isDecoding = false;
      }, reject);
    };
    incoming.on('data', (/** @type {Buffer} */ piece) => {
      isEmpty = false;
      if (pieces.push(piece) > 1) return;
      process.nextTick(() => {
        join();
        decode();
      });
    });
    incoming.on('end', () => {
      join();
      hasArrived = true;
      decode();
    });
  });
}

/**
 * Reads and decodes a body. The limit holds for the decoded bytes.
 *
 * @param {IncomingMessage} incoming
 * @param {object} options
 * @param {string} options.method
 * @param {number} options.limit in bytes
 * @param {Lease | undefined} options.lease counts the bytes
 * @param {Decoders | undefined} options.decoders
 * @param {AbortSignal | undefined} options.signal
 * @returns {Promise<Uint8Array<ArrayBuffer>>} in memory of its own
 */
function readBody(incoming, { method, limit, lease, decoders, signal }) {
  return new Promise((succeed, refuse) => {
    const bytes = new JoinedBytes();
    const memory = decoders?.memory.lease();
    let isOver = false;
    /** @type {BodyDecoder | undefined} */
    let decoder;
    const end = () => {
      isOver = true;
      signal?.removeEventListener('abort', onAbort);
      memory?.release();
    };
    // Once all of the response has arrived, this ends it no longer.
    const onAbort = () => reject(signal?.reason);
    const reject = (/** @type {unknown} */ error) => {
      end();
      // It could go on with what it has.
      decoder?.destroy();
      bytes.clear();
      refuse(error);
    };
    const resolve = (/** @type {Uint8Array<ArrayBuffer>} */ body) => {
      end();
      decoder?.destroy();
      succeed(body);
    };
    signal?.addEventListener('abort', onAbort);
    incoming.on('error', reject);
    incoming.on('aborted', () => reject(new Error('the connection was lost')));
    // What has no body is not decoded: a decoder would find that it has no end.
    const isEmpty = method === 'HEAD' || incoming.statusCode === 204 || incoming.statusCode === 304;
    const codings = isEmpty ? [] : codingsOf(incoming.headers['content-encoding'] ?? '');
    if (codings.length > MAX_CODINGS) {
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
    const isWithinLimit = (/** @type {number} */ length) => {
      if (length <= limit) return true;
      reject(new Error(`the response is larger than ${limit} bytes`));
      return false;
    };
    let length = 0;
    const add = (/** @type {Buffer} */ chunk) => {
      length += chunk.length;
      if (isWithinLimit(length) && count(lease, chunk.length)) bytes.add(chunk);
    };
    const finish = () => bytes.take().then(resolve, reject);
    if (codings.length === 0) {
      incoming.on('data', add);
      incoming.on('end', finish);
      return;
    }
    for (const { memory: bytes } of codings) if (!count(memory, bytes)) return;
    // What a decoder puts out can be endless while nothing comes of it, and so is limited, even if it is part of no body.
    const outputs = codings.map(() => ({ length: 0, kept: 0 }));
    const onOutput = (/** @type {number} */ at, /** @type {Buffer} */ chunk) => {
      const output = outputs[at];
      output.length += chunk.length;
      const more = Math.min(chunk.length, codings[at].window - output.kept);
      output.kept += more;
      if (!isWithinLimit(output.length) || (more > 0 && !count(memory, more))) return;
      if (at === codings.length - 1) add(chunk);
    };
    decoder = new BodyDecoder(codings, onOutput, reject);
    decodeAsItArrives(incoming, decoder, { decoders, signal }).then(finish, reject);
  });
}

module.exports = { readBody };
