// A server over TLS in a thread of its own, so that it goes on while the thread of a test is blocked.

import { once } from 'node:events';
import tls from 'node:tls';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { cert, key } from './certificate.mjs';

/**
 * Starts a server, until the test ends.
 *
 * @param {import('node:test').TestContext} t
 * @param {object} options
 * @param {Record<string, Uint8Array>} options.responses by path; a path that ends in `?close` closes the connection after it, one in `?more`
 *   sends the response once more on it after 50 ms, one in `?end` ends it then, and one in `?reset` resets it
 * @param {import('node:tls').TlsOptions} [options.tls]
 * @param {number} [options.recordSize] bytes in each record
 * @param {boolean} [options.renegotiates] whether it asks for a new handshake before each response
 * @returns {Promise<{ url: string, stats: () => Promise<{ connections: number, renegotiated: number }> }>}
 */
export async function serveTls(t, options) {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  t.after(() => worker.terminate());
  const [port] = await once(worker, 'message');
  const stats = async () => {
    worker.postMessage('stats');
    const [answer] = await once(worker, 'message');
    return answer;
  };
  return { url: `https://localhost:${port}`, stats };
}

if (!isMainThread && workerData?.responses !== undefined) {
  const { responses, tls: options, recordSize, renegotiates } = workerData;
  const stats = { connections: 0, renegotiated: 0 };
  const server = tls.createServer({ key, cert, ...options }, (socket) => {
    stats.connections += 1;
    socket.on('error', () => {});
    socket.on('data', (request) => {
      const path = / (\S*)/.exec(request)[1];
      const respond = () => {
        const response = responses[path];
        const size = recordSize ?? response.length;
        for (let at = 0; at < response.length; at += size) socket.write(response.subarray(at, at + size));
        if (path.endsWith('?close')) socket.end();
        if (path.endsWith('?more')) setTimeout(() => socket.write(response), 50);
        if (path.endsWith('?end')) setTimeout(() => socket.end(), 50);
        if (path.endsWith('?reset')) setTimeout(() => socket.destroy(), 50);
      };
      if (renegotiates)
        socket.renegotiate({}, (error) => {
          if (error === null) stats.renegotiated += 1;
        });
      respond();
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(0, 'localhost');
  await once(server, 'listening');
  parentPort.on('message', () => parentPort.postMessage(stats));
  parentPort.postMessage(server.address().port);
}
