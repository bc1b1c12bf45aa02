// Servers of the tests, one a port, which is an origin each, and hosts of pages that are closed when a test ends.

import { once } from 'node:events';
import http from 'node:http';

import { PageHost } from 'selfprof/page';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.css': 'text/css',
  '.txt': 'text/plain',
};

function typeOf(pathname) {
  return TYPES[/\.\w+$/.exec(pathname)?.[0]] ?? TYPES['.html'];
}

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
    requests.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() });
    let answer = routes[pathname] ?? routes['*'];
    if (typeof answer === 'function') answer = await answer(request);
    if (answer === undefined) answer = { status: 404, body: 'not found' };
    if (typeof answer === 'string') answer = { body: answer };
    response.writeHead(answer.status ?? 200, { 'content-type': typeOf(pathname), ...answer.headers });
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

/** Where the tests have jsdom from. */
export const jsdom = process.env.SELFPROF_TEST_JSDOM;

/** A page host that is closed when the test ends. */
export function host(t, options = {}) {
  const pages = new PageHost({ jsdom, ...options });
  t.after(() => pages.close());
  return pages;
}

/** Opens a page and notes down what it says. */
export async function open(t, url, { host: pages = host(t), ...options } = {}) {
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
  return Object.assign(page, { log, errors, problems });
}

/** Opens a page that consists of this HTML alone. */
export async function openHtml(t, html, { routes = {}, headers = {}, ...options } = {}) {
  const server = await serve(t, { ...routes, '/': { body: html, headers } });
  const page = await open(t, server.url('/'), options);
  return Object.assign(page, { server });
}

/** Resolves when the condition holds. The page's own time passes meanwhile. */
export async function until(page, condition) {
  while (!condition()) await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
}

/** Resolves when the page and its frames have logged these lines. */
export function logged(page, ...lines) {
  return until(page, () => lines.every((line) => page.log.includes(line)));
}
