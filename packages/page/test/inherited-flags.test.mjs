// What the program of the user may do, whom it trusts, and the async contexts in which it runs.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { cert, key } from './certificate.mjs';
import { runProgram } from './programs.mjs';
import { host, jsdom, serve } from './server.mjs';

const MAJOR = Number.parseInt(process.versions.node, 10);

suite('threads of pages', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));

  /** A folder with a page, and a file that a program may not read. */
  function folderOf(t) {
    // A comma separates paths of some flags.
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof "quoted" '));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.writeFileSync(path.join(folder, 'index.html'), '<p>');
    fs.writeFileSync(path.join(folder, 'other.txt'), 'secret');
    return folder;
  }

  /** What a program and its page read. */
  const program = (folder, url) => `
    import fs from 'node:fs';
    const read = (name) => { try { return String(fs.readFileSync(${JSON.stringify(folder)} + name)); } catch ({ code }) { return code; } };
    const host = new PageHost({ jsdom });
    const page = await host.open(${JSON.stringify(path.join(folder, 'index.html'))});
    const fetched = (url) => page.evaluate((url) => fetch(url, { mode: 'no-cors' }).then((response) => response.text(), String), url);
    console.log(JSON.stringify([read('/index.html'), read('/other.txt'), await page.evaluate('document.body.innerHTML'), await fetched('other.txt'), await fetched(${JSON.stringify(url)})]));
    await host.close();`;

  const readable = (folder) => [
    ...[root, path.dirname(fs.realpathSync(jsdom)), path.join(folder, 'index.html')].map(
      (file) => `--allow-fs-read=${file}`,
    ),
  ];

  for (const way of ['flags', 'NODE_OPTIONS'])
    test(`read no file that the program may not read, and reach no server: ${way}`, async (t) => {
      const folder = folderOf(t);
      const server = await serve(t, { '/': 'served' });
      const flags = ['--permission', '--allow-addons', '--allow-child-process', '--allow-worker', ...readable(folder)];
      const quoted = (flag) => `"${flag.replace(/["\\]/g, '\\$&')}"`;
      const options =
        way === 'flags' ? { flags } : { env: { ...process.env, NODE_OPTIONS: flags.map(quoted).join(' ') } };
      const { stdout, stderr } = await runProgram(program(folder, server.url('/')), { timeout: 60_000, ...options });
      assert.ok(stdout !== '', stderr);
      const [own, other, page, otherOfPage, response] = JSON.parse(stdout);
      assert.deepEqual([own, other, page], ['<p>', 'ERR_ACCESS_DENIED', '<p></p>']);
      assert.match(otherOfPage, /Failed to fetch/);
      // Node 22 and 24 have no permission for the network.
      if (MAJOR >= 26) assert.match(response, /Failed to fetch/);
      assert.equal(server.requests.length, MAJOR >= 26 ? 0 : 1);
    });

  test('trust no older version of TLS than the program', async (t) => {
    const source = `
      import tls from 'node:tls';
      const server = tls.createServer({ key: ${JSON.stringify(key)}, cert: ${JSON.stringify(cert)}, maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' }, (socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\\r\\nAccess-Control-Allow-Origin: *\\r\\nContent-Length: 4\\r\\n\\r\\nbody'));
      }).on('tlsClientError', () => {});
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
      const host = new PageHost({ jsdom, ignoreCertificateErrors: true });
      const page = await host.open();
      console.log(await page.evaluate((url) => fetch(url).then((response) => response.text(), String), 'https://127.0.0.1:' + server.address().port));
      await host.close();
      server.close();`;
    assert.equal((await runProgram(source, { timeout: 60_000 })).stdout, 'body\n');
    const { stdout } = await runProgram(source, { timeout: 60_000, flags: ['--tls-min-v1.3'] });
    assert.equal(stdout, 'TypeError: Failed to fetch\n');
  });
});

test('listeners of a page are called in the async context in which it was opened', async (t) => {
  const server = await serve(t, {
    '*': '<script>setInterval(() => { for (let n = 0; n < 1; n++) console.log(location.pathname); }, 1)</script>',
  });
  const storage = new AsyncLocalStorage();
  const pages = host(t);
  const seen = new Set();
  const open = (name) =>
    storage.run(name, () =>
      pages.open(server.url(`/${name}`), {
        on: {
          console: ({ text }) => seen.add(`${text} in ${storage.getStore()}`),
          load: () => seen.add(`load of /${name} in ${storage.getStore()}`),
        },
      }),
    );
  const names = ['one', 'two', 'three'];
  await Promise.all(names.map(open));
  await setTimeout(2_000);
  assert.deepEqual(
    [...seen].sort(),
    names.flatMap((name) => [`/${name} in ${name}`, `load of /${name} in ${name}`]).sort(),
  );
});
