// Servers for tests, each on a port of its own and so an origin, and page hosts that are closed when a test ends.

import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { PageHost } from '@selfprof/page';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.css': 'text/css',
  '.txt': 'text/plain',
};

/**
 * Serves pages from an object: by path a text, `{ body, status, headers }`, or a function of the request that returns
 * one of them. `*` is for all other paths.
 *
 * @param {import('node:test').TestContext} t closes the server when it ends
 * @param {Record<string, unknown>} routes
 */
export async function serve(t, routes) {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://any.test');
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    });
    let answer = routes[pathname] ?? routes['*'];
    if (typeof answer === 'function') answer = await answer(request);
    if (answer === undefined) answer = { status: 404, body: 'not found' };
    if (typeof answer === 'string') answer = { body: answer };
    const type = TYPES[/\.\w+$/.exec(pathname)?.[0]] ?? TYPES['.html'];
    response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers });
    response.end(answer.body ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, requests, routes, url: (path) => origin + path, port: server.address().port };
}

/** The folder of the jsdom that tests use. */
export const jsdom = process.env.SELFPROF_TEST_JSDOM;

let Host = PageHost;

/** Has `host` open pages in this process, for tests that look inside. */
export function openInThisProcess() {
  Host = createRequire(import.meta.url)('./in-process-host.mjs').PageHost;
}

/** A page host that is closed when the test ends. */
export function host(t, options = {}) {
  const pages = new Host({ jsdom, ...options });
  t.after(() => pages.close());
  return pages;
}

/** The host of tests that need none of their own. Its pages are closed when their tests end. */
let shared;
after(() => shared?.close());

function sharedHost() {
  shared ??= new Host({ jsdom });
  return shared;
}

/** Opens a page, which is closed when the test ends, and records its events. */
export async function open(t, url, { host: pages = sharedHost(), ...options } = {}) {
  const log = [];
  const errors = [];
  const problems = [];
  const page = await pages.open(url, {
    on: {
      console: ({ method, text }) => log.push(method === 'log' ? text : `${method}: ${text}`),
      pageerror: (error) => errors.push(error),
      problem: (problem) => problems.push(problem),
    },
    ...options,
  });
  // A test can check that a page is collected.
  const reference = new WeakRef(page);
  t.after(() => reference.deref()?.close());
  return Object.assign(page, { log, errors, problems });
}

/** Serves this HTML and opens it. */
export async function openHtml(t, html, { routes = {}, headers = {}, ...options } = {}) {
  const server = await serve(t, { ...routes, '/': { body: html, headers } });
  const page = await open(t, server.url('/'), options);
  return Object.assign(page, { server });
}

/** How many threads this process and its children have, among them those of pages. */
export function countThreads(pid = process.pid) {
  try {
    const tasks = fs.readdirSync(`/proc/${pid}/task`);
    const children = tasks.flatMap((task) =>
      fs.readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    );
    return children.reduce((sum, child) => sum + countThreads(child), tasks.length);
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

/** How long a test waits for something before it fails, in milliseconds. */
const MAX_WAIT = 60_000;

/**
 * Resolves when the condition holds, which may be async.
 *
 * @param {() => unknown} condition
 * @throws {Error} when it does not hold within a minute
 */
export async function eventually(condition) {
  const end = performance.now() + MAX_WAIT;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${MAX_WAIT} ms passed without: ${condition}`);
    await setTimeout(10);
  }
}

/** Resolves when the condition holds, while the page's event loop runs. */
export async function until(page, condition) {
  await eventually(async () => {
    if (await condition()) return true;
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    return await condition();
  });
}

/** Resolves when the page and its frames have logged these lines. */
export async function logged(page, ...lines) {
  await until(page, () => lines.every((line) => page.log.includes(line)));
}
