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

/**
 * @param {URL} url
 * @param {import('./request.cjs').Request} request
 * @param {import('./request.cjs').Client} client
 * @param {number} limit in bytes
 * @returns {Promise<import('./request.cjs').BlobContent>}
 * @throws {NetworkError}
 */
async function readFileUrl(url, request, client, limit) {
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
    return { type, bytes: await readRegularFile(file, limit) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NetworkError(`${fileURLToPath(url)} cannot be read: ${reason}`, { cause: error });
  }
}

/**
 * Devices and pipes have no end, and opening a pipe can wait for ever.
 *
 * @param {string} file
 * @param {number} limit in bytes
 */
async function readRegularFile(file, limit) {
  const stats = await fs.stat(file);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > limit) throw new Error(`it is larger than ${limit} bytes`);
  return new Uint8Array(await fs.readFile(file));
}

module.exports = { readFileUrl };
