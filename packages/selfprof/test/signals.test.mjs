// Signals that end a program while `selfprof run` records it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { PACKAGE, runNode } from './program.mjs';

const PRELOAD = path.join(PACKAGE, 'run.cjs');
const NATIVE = JSON.stringify(path.join(PACKAGE, 'src/native.cjs'));

function folder(t) {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-')));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Runs a program as `selfprof run` does. The last line of its main journal says how the recording ended: `lastLine`.
 */
async function record(t, source, { env } = {}) {
  const dir = folder(t);
  const options = { dir, interval: 1, limit: null, mode: 'eager', nodeFrames: 'fold' };
  const ended = await runNode(['--require', PRELOAD, '--eval', source], {
    env: { SELFPROF_RUN: JSON.stringify(options), ...env },
  });
  const main = fs.readdirSync(dir).find((name) => name.endsWith('.main.journal'));
  const lines = fs.readFileSync(path.join(dir, main), 'utf8').trimEnd().split('\n');
  return { ...ended, lastLine: JSON.parse(lines.at(-1)) };
}

suite('a signal that ends the program', () => {
  test('waits for no worker that has ended', async (t) => {
    const { stdout, signal } = await record(
      t,
      `const { Worker } = require('node:worker_threads');
       const watchers = () => require(${NATIVE}).liveCounts().signalWatchers;
       const counts = [watchers()];
       const online = (worker) => new Promise((resolve) => worker.once('message', resolve));
       const ended = (worker) => new Promise((resolve) => worker.once('exit', resolve));
       const source = "const { parentPort } = require('node:worker_threads');"
         + "parentPort.on('message', () => process.exit()); parentPort.postMessage('');";
       (async () => {
         const workers = Array.from({ length: 5 }, () => new Worker(source, { eval: true }));
         await Promise.all(workers.map(online));
         counts.push(watchers());
         for (const worker of workers.slice(0, 3)) worker.postMessage('');
         for (const worker of workers.slice(3)) worker.terminate();
         await Promise.all(workers.map(ended));
         counts.push(watchers());
         process.stdout.write(counts.join(' '), () => process.kill(process.pid, 'SIGHUP'));
       })();`,
    );
    assert.equal(stdout, '1 6 1');
    assert.equal(signal, 'SIGHUP');
  });

  test('is not lost when it arrives while the handlers are being installed', async (t) => {
    // Sends SIGTERM as soon as a handler for SIGHUP, the last of the signals, is installed.
    const directory = folder(t);
    const [source, library] = ['early.c', 'early.so'].map((name) => path.join(directory, name));
    fs.writeFileSync(
      source,
      `#define _GNU_SOURCE
       #include <dlfcn.h>
       #include <signal.h>
       #include <unistd.h>
       int sigaction(int number, const struct sigaction* action, struct sigaction* previous) {
         static int sent = 0;
         int (*original)(int, const struct sigaction*, struct sigaction*) = dlsym(RTLD_NEXT, "sigaction");
         int result = original(number, action, previous);
         if (number == SIGHUP && action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN && !sent++) {
           kill(getpid(), SIGTERM);
         }
         return result;
       }`,
    );
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
    const { code, signal, lastLine } = await record(t, `setTimeout(() => process.exit(3), 5_000)`, {
      env: { LD_PRELOAD: library },
    });
    assert.deepEqual({ code, signal }, { code: null, signal: 'SIGTERM' });
    assert.equal(lastLine.end.reason, 'signal');
  });
});
