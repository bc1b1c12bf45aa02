// Serves the probes, and what they load, on two ports: two origins of one site.

import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
};

/** The headers of the documents in each variant. */
export const VARIANTS = {
  policy: { 'document-policy': 'js-profiling' },
  isolated: {
    'document-policy': 'js-profiling',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  },
  none: {},
};

/** The names of the files of probes, without their ending. */
export const FILES = fs
  .readdirSync(path.join(import.meta.dirname, 'probes'))
  .filter((name) => name.endsWith('.mjs'))
  .map((name) => path.basename(name, '.mjs'))
  .sort();

/** A document that has the probes of a file. */
function probeDocument(file) {
  return `<!doctype html><title>Probes</title><body><script type="module">\nimport '/probes/${file}.mjs';\nimport '/page/main.mjs';\n</script>`;
}

/** @param {URLSearchParams} query */
function answer(pathname, query) {
  const file = path.join(import.meta.dirname, pathname);
  if (pathname === '/probes.html') {
    return { body: probeDocument(query.get('file')), headers: VARIANTS[query.get('variant')] };
  }
  // What a probe asks for, in its own words.
  if (pathname.startsWith('/answer/')) {
    const headers = Object.fromEntries(query.getAll('header').map((header) => header.split(/: (.*)/, 2)));
    return {
      status: Number(query.get('status') ?? 200),
      body: query.get('body') ?? '',
      headers: { ...VARIANTS[query.get('variant')], ...headers },
    };
  }
  if (/^\/(?:page|probes)\/[\w-]+\.mjs$/.test(pathname)) return { body: fs.readFileSync(file) };
  return { status: 404, body: 'not found' };
}

/** @returns {Promise<{ origin: string, other: string, close(): void }>} */
export async function serve() {
  const servers = [];
  const origins = [];
  for (let index = 0; index < 2; index++) {
    const server = http.createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url, 'http://any.test');
      const { status = 200, body, headers = {} } = answer(pathname, searchParams);
      const type = TYPES[path.extname(pathname)] ?? 'text/plain';
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers });
      request.resume().on('end', () => response.end(body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    origins.push(`http://127.0.0.1:${server.address().port}`);
  }
  const close = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  return { origin: origins[0], other: origins[1], close };
}
