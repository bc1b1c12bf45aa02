// The program that `cargo xtask wpt --polyfill` starts, in place of ../main.mjs, whose protocol it has: reads what to
// run from stdin, as JSON, and prints a line of JSON for each thing that happens. The tests are instrumented, and run
// in a browser one after the other, because samples depend on time.

import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';

import { makeCertificate } from '../server/certificate.mjs';
import { ALL_NAMES, HOST } from '../server/hosts.mjs';
import { TestServer, readOverlays } from '../server/server.mjs';
import { launch } from './browsers.mjs';
import { runTest } from './run-test.mjs';
import { instrumentedTree } from './tree.mjs';

/** The time limits of testharness.js, in milliseconds. */
const LIMITS = { normal: 10_000, long: 60_000 };

/** The interval of the messages that show that this program is alive. */
const PULSE = 2_000;

function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * @typedef {object} Job
 * @property {string} root the checkout
 * @property {string} program the path of `selfprof`
 * @property {string} npm the package selfprof, with the polyfill
 * @property {string} selfsigned
 * @property {{ name: 'chromium' | 'firefox' | 'webkit', program: string }} browser
 * @property {number} multiplier of all limits
 * @property {{ id: string, timeout: 'normal' | 'long', secure: boolean }[]} tests `id` is the path and the query
 */

/** @type {Job} */
const { root, program, npm, selfsigned, browser: wanted, multiplier, tests } = await json(process.stdin);
const pulse = setInterval(() => print({ event: 'alive' }), PULSE);
const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'selfprof-wpt-'));
let failure;
try {
  const tree = await instrumentedTree({ root, folder, program, npm, tests });
  const certificate = await makeCertificate(selfsigned, ALL_NAMES);
  const server = new TestServer(tree, await readOverlays(() => multiplier));
  await server.listen(certificate);
  const browser = await launch(wanted);
  try {
    for (const { id, timeout, secure } of tests) {
      print({ event: 'started', id });
      const scheme = secure ? 'https' : 'http';
      const url = `${scheme}://${HOST}:${server.ports[scheme][0]}/${id}`;
      print({ event: 'ended', id, ...(await runTest(browser, url, LIMITS[timeout] * multiplier)) });
    }
  } finally {
    await browser.close();
    await server.close();
  }
} catch (error) {
  failure = error;
}
clearInterval(pulse);
await fs.rm(folder, { recursive: true, force: true });
if (failure) throw failure;
print({ event: 'finished' });
