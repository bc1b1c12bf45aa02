// The program that `cargo xtask wpt` starts: reads what to run from stdin, as JSON, and prints a line of JSON for each
// thing that happens. Tests run in threads of this process. If the process crashes, its parent knows which tests were
// running.

import { createRequire } from 'node:module';
import { json } from 'node:stream/consumers';

import { makeCertificate } from './server/certificate.mjs';
import { ALL_NAMES, HOST } from './server/hosts.mjs';
import { TestServer, readOverlays } from './server/server.mjs';
import { runPage } from './run-page.mjs';

/** The time limits of testharness.js, in milliseconds. */
const LIMITS = { normal: 10_000, long: 60_000 };

/** The factor on the time limit of tests that are known to be slow here. */
const SLOWNESS = 12;

/** How long an empty page may take to open on a busy machine. */
const OPENING = 60_000;

/** The memory limit of a page in megabytes. No test needs much, and several run at a time. */
const MEMORY = 512;

/** The interval of the messages that show that this program is alive. */
const PULSE = 2_000;

function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * @typedef {object} Job
 * @property {string} root the checkout
 * @property {string} npm the package selfprof
 * @property {string} jsdom
 * @property {string} selfsigned
 * @property {number} jobs how many pages at a time
 * @property {number} multiplier of all limits
 * @property {{ id: string, timeout: 'normal' | 'long', secure: boolean, slow: boolean }[]} tests `id` is the path and
 *   the query
 */

/** @type {Job} */
const { root, npm, jsdom, selfsigned, jobs, multiplier, tests } = await json(process.stdin);
const { PageHost } = createRequire(`${npm}/package.json`)('@selfprof/page');
const certificate = await makeCertificate(selfsigned, ALL_NAMES);
const slow = new Set(tests.filter((test) => test.slow).map(({ id }) => id));
const multiplierOf = (id) => (slow.has(id) ? SLOWNESS : 1) * multiplier;
const server = new TestServer(root, await readOverlays(multiplierOf));
await server.listen(certificate);
const hosts = Object.fromEntries(ALL_NAMES.map((name) => [name, '127.0.0.1']));
const pulse = setInterval(() => print({ event: 'alive' }), PULSE);

async function run({ id, timeout, secure }) {
  print({ event: 'started', id });
  const scheme = secure ? 'https' : 'http';
  const url = `${scheme}://${HOST}:${server.ports[scheme][0]}/${id}`;
  const limit = LIMITS[timeout] * multiplierOf(id);
  // Each test has its own cookies.
  const host = new PageHost({
    jsdom,
    hosts,
    ca: certificate.cert,
    timeout: OPENING,
    memoryLimit: MEMORY,
  });
  const result = await runPage(host, url, limit);
  await host.close();
  print({ event: 'ended', id, ...result });
}

async function runAll(batch, atOnce) {
  const waiting = [...batch];
  const work = async () => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) await run(test);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
await runAll(
  tests.filter((test) => !test.slow),
  jobs,
);
// Slow tests use much of the machine, so they run alone.
await runAll(
  tests.filter((test) => test.slow),
  1,
);

clearInterval(pulse);
await server.close();
print({ event: 'finished' });
// A page that did not close in time keeps its thread.
process.stdout.write('', () => process.exit());
