// Pages have no more permissions than the program that opens them, and call its listeners in its async contexts.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { runProgram } from './programs.mjs';
import { eventually, host, jsdom, serve } from './server.mjs';

const MAJOR = Number.parseInt(process.versions.node, 10);

test('pages read no file that the program may not read, and reach no server', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const index = path.join(folder, 'index.html');
  fs.writeFileSync(index, '<p>');
  fs.writeFileSync(path.join(folder, 'other.txt'), 'secret');
  const server = await serve(t, { '/': 'served' });
  const readable = [fileURLToPath(new URL('../../..', import.meta.url)), path.dirname(fs.realpathSync(jsdom)), index];
  const flags = ['--permission', '--allow-addons', '--allow-worker', '--allow-child-process'];
  const { stdout, stderr } = await runProgram(
    `const host = new PageHost({ jsdom });
    const page = await host.open(${JSON.stringify(index)});
    const fetched = (url) => page.evaluate((url) => fetch(url, { mode: 'no-cors' }).then((response) => response.text(), String), url);
    console.log(JSON.stringify([await page.evaluate('document.body.innerHTML'), await fetched('other.txt'), await fetched(${JSON.stringify(server.url('/'))})]));
    await host.close();`,
    { timeout: 60_000, flags: [...flags, ...readable.map((file) => `--allow-fs-read=${file}`)] },
  );
  assert.ok(stdout !== '', stderr);
  const [page, other, response] = JSON.parse(stdout);
  assert.equal(page, '<p></p>');
  assert.match(other, /Failed to fetch/);
  // Node 22 and 24 have no permission for the network.
  if (MAJOR >= 26) assert.match(response, /Failed to fetch/);
  assert.equal(server.requests.length, MAJOR >= 26 ? 0 : 1);
});

test('listeners of a page are called in the async context in which it was opened', async (t) => {
  const server = await serve(t, {
    '*': '<script>onload = () => { console.log(location.pathname); setTimeout(() => console.log(location.pathname)); }</script>',
  });
  const storage = new AsyncLocalStorage();
  const pages = host(t);
  const names = ['one', 'two', 'three'];
  const seen = [];
  const openIn = (name) =>
    storage.run(name, () =>
      pages.open(server.url(`/${name}`), {
        on: {
          console: ({ text }) => seen.push(`${text} in ${storage.getStore()}`),
          load: () => seen.push(`load of /${name} in ${storage.getStore()}`),
        },
      }),
    );
  await Promise.all(names.map(openIn));
  await eventually(() => seen.length === 9);
  assert.deepEqual(
    seen.sort(),
    names.flatMap((name) => [`/${name} in ${name}`, `/${name} in ${name}`, `load of /${name} in ${name}`]).sort(),
  );
});
