// `npx selfprof`, with a program in place of the real one.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { NATIVE, PACKAGE } from './program.mjs';

const { installHint } = createRequire(import.meta.url)('../src/native-package.cjs');

/** An installation whose program is this script for Node. Returns the path of `bin/selfprof.cjs`. */
function install(t, script) {
  const modules = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-')), 'node_modules');
  t.after(() => fs.rmSync(path.dirname(modules), { recursive: true, force: true }));
  const installed = path.join(modules, 'selfprof');
  for (const folder of ['bin', 'src']) {
    fs.cpSync(path.join(PACKAGE, folder), path.join(installed, folder), { recursive: true });
  }
  if (script !== null) {
    const native = path.join(modules, '@selfprof', path.basename(NATIVE));
    fs.mkdirSync(path.join(native, 'bin'), { recursive: true });
    fs.writeFileSync(path.join(native, 'package.json'), '{}');
    if (script !== '') {
      fs.writeFileSync(path.join(native, 'bin', 'selfprof'), `#!${process.execPath}\n${script}`, { mode: 0o755 });
    }
  }
  return path.join(installed, 'bin', 'selfprof.cjs');
}

/** Starts a command, and collects what it prints. */
function start(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'pipe', ...options });
  const run = { child, stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      run[name] += text;
      child.emit('printed');
    });
  }
  run.printed = async (text) => {
    let isClosed = false;
    void run.closed.then(() => {
      isClosed = true;
    });
    while (!run.stdout.includes(text)) {
      // What it printed may come later than its exit, but not after the pipes are closed.
      if (isClosed) assert.fail(`it ended after printing ${run.stdout}`);
      await Promise.race([once(child, 'printed'), run.closed]);
    }
  };
  run.closed = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return run;
}

const startNode = (file, args = [], options = {}) => start(process.execPath, [file, ...args], options);

/** Ends when its input does, or when a signal says so. */
const UNTIL_INPUT_ENDS = `process.stdin.on('end', () => process.exit(0)).resume(); console.log('ready');`;

for (const code of [0, 1, 2, 77]) {
  test(`the exit code ${code} is the program's`, async (t) => {
    const run = startNode(install(t, `process.exit(${code})`));
    assert.deepEqual(await run.closed, { code, signal: null });
    assert.equal(run.stderr, '');
  });
}

test('arguments, input, output and environment are the program’s', async (t) => {
  const bin = install(
    t,
    `process.stdin.setEncoding('utf8').on('data', (text) => console.log('input', text));
     console.log(JSON.stringify(process.argv.slice(2)), process.env.SELFPROF_NPM, process.env.MINE);
     console.error('talk');`,
  );
  const run = startNode(bin, ['run', '--', 'a b', ''], {
    env: { ...process.env, SELFPROF_NPM: undefined, MINE: 'yes' },
  });
  run.child.stdin.end('from outside');
  await run.closed;
  const npm = path.dirname(path.dirname(fs.realpathSync(bin)));
  assert.equal(run.stdout, `["run","--","a b",""] ${npm} yes\ninput from outside\n`);
  assert.equal(run.stderr, 'talk\n');
});

test('SELFPROF_NPM of the environment is kept', async (t) => {
  const bin = install(t, 'console.log(process.env.SELFPROF_NPM)');
  const run = startNode(bin, [], { env: { ...process.env, SELFPROF_NPM: '/elsewhere' } });
  await run.closed;
  assert.equal(run.stdout, '/elsewhere\n');
});

test('a reader that closes the pipe is no error', async (t) => {
  const bin = install(
    t,
    `process.stdout.on('error', () => process.exit(0)); setInterval(() => console.log('more'), 1)`,
  );
  const run = startNode(bin);
  await run.printed('more');
  run.child.stdout.destroy();
  assert.deepEqual(await run.closed, { code: 0, signal: null });
  assert.equal(run.stderr, '');
});

suite('signals', () => {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR2']) {
    test(`${signal} is forwarded`, async (t) => {
      const run = startNode(install(t, `process.on('${signal}', () => process.exit(5)); ${UNTIL_INPUT_ENDS}`));
      await run.printed('ready');
      run.child.kill(signal);
      assert.deepEqual(await run.closed, { code: 5, signal: null });
    });
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL']) {
    test(`a program that dies of ${signal} is seen to die of it`, async (t) => {
      const run = startNode(install(t, `process.kill(process.pid, '${signal}'); ${UNTIL_INPUT_ENDS}`));
      assert.deepEqual(await run.closed, { code: null, signal });
    });
  }

  test('Ctrl-C at a terminal reaches the program once', async (t) => {
    const bin = install(
      t,
      `let count = 0;
       process.on('SIGINT', () => console.log('interrupt ' + ++count));
       process.on('SIGUSR2', () => { console.log('total ' + count); process.exit(3); });
       console.log('child of ' + process.ppid + ';');
       setInterval(() => {}, 1_000);`,
    );
    // `script` gives its command a terminal. A shell that stays would receive the signal too: dash exits with 130 then.
    const run = start('script', ['-qec', `exec '${process.execPath}' '${bin}'`, '/dev/null']);
    await run.printed(';');
    const parent = Number(run.stdout.match(/child of (\d+)/)[1]);
    for (const count of [1, 2]) {
      run.child.stdin.write('\x03');
      await run.printed(`interrupt ${count}`);
    }
    // Forwarded after whatever was forwarded before.
    process.kill(parent, 'SIGUSR2');
    await run.printed('total 2');
    assert.deepEqual(await run.closed, { code: 3, signal: null });
  });
});

suite('without the program', () => {
  test('the error names the package', async (t) => {
    const run = startNode(install(t, null));
    assert.deepEqual(await run.closed, { code: 1, signal: null });
    assert.match(
      run.stderr,
      /^error: the package @selfprof\/native-\S+, which contains the program, is not installed\n\nhint: .*--omit=optional\n$/,
    );
  });

  test('the error says when the package is incomplete', async (t) => {
    const run = startNode(install(t, ''));
    assert.deepEqual(await run.closed, { code: 1, signal: null });
    assert.match(run.stderr, /^error: the package \S+, which contains the program, lacks bin\/selfprof\n/);
  });

  test('the error says when the program cannot be started', async (t) => {
    const bin = install(t, 'never run');
    fs.chmodSync(path.join(bin, '../../..', '@selfprof', path.basename(NATIVE), 'bin/selfprof'), 0o644);
    const run = startNode(bin);
    assert.deepEqual(await run.closed, { code: 1, signal: null });
    assert.match(run.stderr, /^error: spawn \S+ EACCES\n$/);
  });

  for (const [system, hint] of [
    [{ platform: 'linux', arch: 'x64', isMusl: false }, /without --omit=optional/],
    [{ platform: 'linux', arch: 'x64', isMusl: true }, /needs glibc.* musl/],
    [{ platform: 'linux', arch: 'arm64', isMusl: false }, /runs on Linux x64, not on linux-arm64/],
    [{ platform: 'darwin', arch: 'arm64', isMusl: false }, /runs on Linux x64, not on darwin-arm64/],
  ]) {
    test(`the hint fits ${system.platform}-${system.arch}${system.isMusl ? ' with musl' : ''}`, () => {
      assert.match(installHint(system), hint);
    });
  }
});
