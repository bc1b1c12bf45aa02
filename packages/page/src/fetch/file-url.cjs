'use strict';

// file: URLs. A page from disk may load files in its own folder; a page from the network may load none.

const fs = require('node:fs/promises');
const path = require('node:path');
const { fileURLToPath } = require('node:url');

const { folderOf, isSameOrigin } = require('./origin.cjs');
const { NetworkError } = require('./request.cjs');

/** @type {Record<string, string | undefined>} */
const TYPE_BY_EXTENSION = {
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'application/xhtml+xml',
  '.xht': 'application/xhtml+xml',
  '.xml': 'text/xml',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.cjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.wasm': 'application/wasm',
};

/** How much is read at once, in bytes. */
const PART = 1 << 20;

/** @typedef {{ limit: number, lease?: import('./request.cjs').Response['lease'], signal?: AbortSignal | undefined }} ReadOptions `limit` is in bytes */

/**
 * @param {URL} url
 * @param {import('./request.cjs').Request} request
 * @param {import('./request.cjs').Client} client
 * @param {ReadOptions} options
 * @returns {Promise<import('./request.cjs').BlobContent>}
 * @throws {NetworkError}
 */
async function readFileUrl(url, request, client, options) {
  const folder = folderOf(client.origin);
  const isOpenedByUser = request.mode === 'navigate' && request.isTopLevel === true;
  if (!isOpenedByUser) {
    if (folder === undefined) throw new NetworkError('a page that is not from disk cannot load files');
    if (!isSameOrigin(url, client.origin)) throw new NetworkError(`${url} is outside ${folder}, the page's folder`);
  }
  try {
    const file = await fs.realpath(fileURLToPath(url));
    if (folder !== undefined && !request.isTopLevel) {
      const relative = path.relative(await fs.realpath(folder), file);
      if (relative.startsWith('..') || path.isAbsolute(relative))
        throw new Error(`a symbolic link leads out of ${folder}`);
    }
    const type = TYPE_BY_EXTENSION[path.extname(file).toLowerCase()] ?? 'application/octet-stream';
    return { type, bytes: await readRegularFile(file, options) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NetworkError(`${fileURLToPath(url)} cannot be read: ${reason}`, { cause: error });
  }
}

/**
 * Devices and pipes have no end, and opening a pipe can wait for ever. So can reading some files of /proc: these have no size, and are as
 * empty here as they claim to be.
 *
 * @param {string} file
 * @param {ReadOptions} options
 */
async function readRegularFile(file, { limit, lease, signal }) {
  if (!(await fs.stat(file)).isFile()) throw new Error('it is not a regular file');
  const handle = await fs.open(file);
  try {
    const { size } = await handle.stat();
    if (size > limit) throw new Error(`it is larger than ${limit} bytes`);
    lease?.add(size);
    const bytes = new Uint8Array(size);
    let length = 0;
    while (length < size) {
      signal?.throwIfAborted();
      const { bytesRead } = await handle.read(bytes, length, Math.min(size - length, PART));
      // It has become shorter.
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  } finally {
    await handle.close();
  }
}

module.exports = { readFileUrl };
