// Servers of this machine that end with the test.

import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.json': 'application/json' };

/**
 * @param {import('node:test').TestContext} t
 * @param {http.RequestListener} answer
 * @returns {Promise<string>} its URL
 */
export async function listen(t, answer) {
  const server = http.createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/`;
}

/**
 * Serves the files of a folder.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} folder
 * @param {Record<string, string>} [headers] of all of them
 * @param {string[]} [requests] gets the paths that are asked for
 * @returns {Promise<string>} its URL
 */
export async function serveFolder(t, folder, headers = {}, requests = []) {
  return await listen(t, (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    requests.push(pathname);
    const file = path.join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    if (!fs.existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'text/plain', ...headers });
    response.end(fs.readFileSync(file));
  });
}
