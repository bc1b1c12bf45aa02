// How jsdom is found, and the errors when it is missing or not supported.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { PageHost } from '@selfprof/page';

import { jsdom } from './server.mjs';

const require = createRequire(import.meta.url);
const { checkNode, findLibrary } = require('../src/client/find-jsdom.cjs');
const { packageFolders } = require('../src/host/package-folders.cjs');
const run = promisify(execFile);

/** A folder that is removed when the test ends. */
async function folder(t) {
  const made = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'selfprof-library-')));
  t.after(() => fs.rm(made, { recursive: true }));
  return made;
}

/** A program in a folder of its own, with or without jsdom. */
async function program(t, version) {
  const home = await folder(t);
  if (version === 'real') {
    await fs.mkdir(path.join(home, 'node_modules'));
    await fs.symlink(jsdom, path.join(home, 'node_modules', 'jsdom'));
  } else if (version !== undefined) {
    await fs.mkdir(path.join(home, 'node_modules', 'jsdom'), { recursive: true });
    await fs.writeFile(
      path.join(home, 'node_modules', 'jsdom', 'package.json'),
      JSON.stringify({ name: 'jsdom', version }),
    );
  }
  const file = path.join(home, 'program.cjs');
  const { href } = new URL('../index.cjs', import.meta.url);
  await fs.writeFile(
    file,
    `const { PageHost } = require(${JSON.stringify(decodeURI(new URL(href).pathname))});
     try { new PageHost(); console.log('found'); } catch (error) { console.log(error.message); }`,
  );
  return { file, home };
}

async function say(file, cwd) {
  const { NODE_PATH, ...env } = process.env;
  return (await run(process.execPath, [file], { cwd, env })).stdout.trim();
}

suite('jsdom', () => {
  test('is resolved from the running program', async (t) => {
    const { file } = await program(t, 'real');
    assert.equal(await say(file, os.tmpdir()), 'found');
  });

  test('is otherwise resolved from the working directory', async (t) => {
    const { file } = await program(t);
    const { home } = await program(t, 'real');
    assert.equal(await say(file, home), 'found');
  });

  test('is named with how to install it when it is not found', async (t) => {
    const { file } = await program(t);
    const said = await say(file, os.tmpdir());
    // In an installation, jsdom is found beside the package itself.
    if (said === 'found') return;
    assert.equal(said, '@selfprof/page: jsdom was not found\n\nhint: npm install --save-dev jsdom@31.0.1');
  });

  test('is refused in an unsupported version', async (t) => {
    for (const version of ['30.9.9', '31.1.0', '32.0.0']) {
      const { file, home } = await program(t, version);
      const said = await say(file, home);
      assert.match(said, new RegExp(`jsdom ${version.replaceAll('.', '\\.')} in .* is not supported`));
      assert.match(said, /hint: npm install --save-dev jsdom@31\.0\.1$/);
    }
  });

  test('can be given by its folder, by a URL, or by a file or folder from which it is resolved', async (t) => {
    const { file, home } = await program(t, 'real');
    const real = await fs.realpath(jsdom);
    const found = { folder: real, version: '31.0.1' };
    assert.ok(packageFolders(real).includes(real + path.sep));
    for (const wish of [jsdom, pathToFileURL(jsdom).href, pathToFileURL(jsdom), file, home])
      assert.deepEqual(findLibrary(wish), found);
    // That in a folder, not one around it.
    const { home: around } = await program(t, '30.9.9');
    const inside = path.join(around, 'inside');
    await fs.mkdir(path.join(inside, 'node_modules'), { recursive: true });
    await fs.symlink(jsdom, path.join(inside, 'node_modules', 'jsdom'));
    assert.deepEqual(findLibrary(inside), found);
    const empty = await folder(t);
    assert.throws(() => findLibrary(empty), { message: new RegExp(`was not found at ${empty}`) });
    assert.throws(() => new PageHost({ jsdom: empty }), /was not found/);
  });
});

suite('Node', () => {
  test('must be a version that jsdom supports', () => {
    for (const version of ['22.22.2', '22.23.0', '24.15.0', '24.21.0', '26.0.0', '27.1.0']) checkNode(version);
    for (const version of ['20.20.2', '22.22.1', '22.9.0', '23.11.0', '24.14.9', '25.9.0']) {
      assert.throws(() => checkNode(version), { message: new RegExp(`this is Node ${version}\\n\\nhint: `) });
    }
  });

  test("versions agree with package.json and with jsdom's package.json", async () => {
    const read = async (file) => JSON.parse(await fs.readFile(file, 'utf8'));
    const own = await read(new URL('../package.json', import.meta.url));
    const { engines } = await read(path.join(jsdom, 'package.json'));
    assert.equal(own.engines.node, engines.node.replace('>=26.0.0', '>=26'));
  });
});
