'use strict';

// A program that hosts pages for another one: `selfprof page` and `selfprof webdriver` start it.
//
// Its standard input is one end of a socket that carries a JSON text per line, both ways. A request is
// `{ id, method, parameters }` and is answered by `{ id, result }` or by `{ id, error: { code, message, stack } }`, in
// any order. What happens in pages is sent as `{ event, window, ... }`. When the socket closes, for whatever reason, so
// does this program: it never outlives its user. It does not use standard output and standard error, where Node reports
// how it died.

const net = require('node:net');

const { TimeoutError, messageOf } = require('../client/errors.cjs');
const { checkNode } = require('../client/find-jsdom.cjs');
const { CommandError } = require('./command-error.cjs');

/**
 * An escape of a lone surrogate, after the backslashes that escape each other. Pages can put these into any text, and
 * strict readers refuse them.
 */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

const socket = new net.Socket({ fd: 0, readable: true, writable: true });

/** @param {object} message */
function send(message) {
  socket.write(`${JSON.stringify(message).replace(LONE_SURROGATE, '$1\\ufffd')}\n`);
}

/** @type {import('./methods.cjs').HostMethods | undefined} */
let methods;

/** They are loaded after the check, because their modules use features that unsupported versions of Node lack. */
function theMethods() {
  if (methods === undefined) {
    checkNode();
    const { HostMethods } = require('./methods.cjs');
    methods = new HostMethods(send);
  }
  return methods;
}

/** @param {string} line */
async function answer(line) {
  const { id, method, parameters } = JSON.parse(line);
  try {
    send({ id, result: (await theMethods().call(method, parameters)) ?? null });
  } catch (error) {
    send({ id, error: describeError(error) });
  }
}

/** @param {unknown} error @returns {{ code: string, message: string, stack: string }} `code` is one of WebDriver's */
function describeError(error) {
  const message = messageOf(error);
  if (error instanceof CommandError) return { code: error.code, message, stack: error.pageStack };
  if (error instanceof TimeoutError) return { code: 'timeout', message, stack: '' };
  if (error instanceof Error && isAboutCertificates(error.cause))
    return { code: 'insecure certificate', message, stack: '' };
  return { code: 'unknown error', message, stack: '' };
}

/** @param {unknown} cause */
function isAboutCertificates(cause) {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return /^(CERT_|ERR_TLS_CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code);
}

let received = '';
socket.setEncoding('utf8');
socket.on('data', (/** @type {string} */ chunk) => {
  const [end, ...lines] = chunk.split('\n');
  received += end;
  for (const next of lines) {
    answer(received);
    received = next;
  }
});
// Threads of pages may be in endless loops; exiting ends them.
socket.on('end', () => process.exit(0));
socket.on('error', () => process.exit(0));
