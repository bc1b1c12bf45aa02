'use strict';

// A program that hosts pages for another one: `selfprof page` and `selfprof webdriver` start it.
//
// Both ends of its standard input are one socket, which carries a JSON text a line. A request is `{ id, method, parameters }`
// and is answered by `{ id, result }` or `{ id, error: { code, message, stack } }`, in any order; what happens in pages comes
// as `{ event, window, ... }`. When the socket closes, for whatever reason, so does this program: it never outlives its user.
// Standard output and error are not touched; what Node itself has to say when it dies is to be read there.

const net = require('node:net');

const { Refused } = require('../automation.cjs');
const { TimeoutError } = require('../page.cjs');
const { Driver } = require('./driver.cjs');

/** How long a request may be: a script with its arguments. */
const MAX_REQUEST = 256 << 20;

const socket = new net.Socket({ fd: 0, readable: true, writable: true });
const send = (message) => socket.write(`${JSON.stringify(message)}\n`);
const driver = new Driver((event) => send(event));

async function answer(line) {
  const { id, method, parameters } = JSON.parse(line);
  try {
    send({ id, result: (await driver.call(method, parameters)) ?? null });
  } catch (error) {
    send({ id, error: describe(error) });
  }
}

/** @returns {{ code: string, message: string, stack: string }} with a code of WebDriver's */
function describe(error) {
  if (error instanceof Refused) return { code: error.code, message: error.message, stack: error.pageStack };
  if (error instanceof TimeoutError) return { code: 'timeout', message: error.message, stack: '' };
  if (isAboutCertificates(error.cause)) return { code: 'insecure certificate', message: error.message, stack: '' };
  return { code: 'unknown error', message: String(error?.message ?? error), stack: '' };
}

function isAboutCertificates(error) {
  return /^(CERT_|ERR_TLS_CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(error?.code ?? '');
}

let rest = [];
let length = 0;
socket.on('data', (chunk) => {
  let start = 0;
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
    rest.push(chunk.subarray(start, end));
    answer(Buffer.concat(rest).toString());
    rest = [];
    length = 0;
    start = end + 1;
  }
  rest.push(chunk.subarray(start));
  length += chunk.length - start;
  if (length > MAX_REQUEST) process.exit(1);
});
// Threads of pages may be in endless loops: the process takes them with it.
socket.on('end', () => process.exit(0));
socket.on('error', () => process.exit(0));
