// `selfprof run` follows child processes and workers, and neither they nor the program notice.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { PACKAGE } from './program.mjs';
import { OPTION, record } from './recorded.mjs';

const children = { children: true };

/** The commands of the recorded processes, sorted, without the folder of the script. */
function commands({ all, script }) {
  const folder = script.slice(0, -'main.cjs'.length);
  const mains = all.filter(({ header }) => header.threadId === 0);
  return mains
    .map(({ header }) =>
      header.command
        .replaceAll(folder, '')
        .replaceAll('"', '')
        .replace(/ -e .*/s, ' -e'),
    )
    .sort();
}

/** A program that starts itself with each way of starting a process, and prints what the child says. */
const STARTS = `
  const childProcess = require('node:child_process');
  const { NODE_OPTIONS, SELFPROF_RUN, MINE } = process.env;
  const says = JSON.stringify([process.argv[2], NODE_OPTIONS, SELFPROF_RUN, MINE, process.execArgv]);
  spin(20);
  if (process.argv[2] !== undefined) console.log(says);
  else {
    const [file, node, mine] = [__filename, process.execPath, { ...process.env, MINE: '1' }];
    const print = (error, stdout) => process.stdout.write(error ? String(error) : stdout);
    const piped = (child) => child.stdout.pipe(process.stdout, { end: false });
    (async () => {
      const ended = (child) => new Promise((resolve) => child.once('close', resolve));
      const spawned = childProcess.spawn(node, [file, 'spawn']);
      piped(spawned);
      await ended(spawned);
      await ended(childProcess.exec('"' + node + '" "' + file + '" exec', print));
      await ended(childProcess.execFile(node, [file, 'execFile'], { env: mine }, print));
      const fork = childProcess.fork(file, ['fork'], { silent: true, execArgv: ['--no-warnings'] });
      piped(fork);
      await ended(fork);
      const own = childProcess.spawn(node, [file, 'own options'], { env: { NODE_OPTIONS: '--no-deprecation' } });
      piped(own);
      await ended(own);
      const empty = childProcess.spawn(node, [file, 'empty'], { env: {} });
      piped(empty);
      await ended(empty);
      process.stdout.write(childProcess.spawnSync(node, [file, 'spawnSync'], { env: {} }).stdout);
      process.stdout.write(childProcess.execSync('"' + node + '" "' + file + '" execSync'));
      process.stdout.write(childProcess.execFileSync(node, [file, 'execFileSync'], { env: mine }));
    })();
  }
`;

suite('child processes', () => {
  test('are recorded however they are started, and see what they would see without selfprof', async (t) => {
    const recorded = await record(t, STARTS, { settings: children });
    assert.deepEqual([recorded.code, recorded.stderr], [0, '']);
    const plain = await record(t, STARTS, { env: { SELFPROF_RUN: undefined } });
    const lines = (text) => text.trim().split('\n').sort();
    assert.deepEqual(lines(recorded.stdout), lines(plain.stdout));
    assert.equal(lines(recorded.stdout).length, 9);
    const names = ['empty', 'exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'own options'];
    const expected = ['', ...names.map((name) => ` ${name}`), ' spawn', ' spawnSync'];
    assert.deepEqual(commands(recorded), expected.map((name) => `node main.cjs${name}`).sort());
    for (const { header, samples, end, names: functions } of recorded.all) {
      assert.ok(samples.length > 0 && functions.includes('spin'), header.command);
      assert.equal(end.reason, 'exit');
    }
    const origins = recorded.all.map(({ header }) => header.origin);
    assert.ok(Math.max(...origins) - Math.min(...origins) < 60e6);
    assert.deepEqual(recorded.failures, []);
  });

  test('of clusters and of children are recorded', async (t) => {
    const recorded = await record(
      t,
      `const cluster = require('node:cluster');
       const { execFileSync } = require('node:child_process');
       spin(20);
       if (process.argv[2]) return;
       if (cluster.isPrimary) {
         for (let index = 0; index < 2; index++) cluster.fork();
       } else {
         execFileSync(process.execPath, [__filename, 'below ' + cluster.worker.id]);
         process.exit();
       }`,
      { settings: children },
    );
    assert.deepEqual([recorded.code, recorded.stderr], [0, '']);
    assert.deepEqual(commands(recorded), [
      'node main.cjs',
      'node main.cjs',
      'node main.cjs',
      'node main.cjs below 1',
      'node main.cjs below 2',
    ]);
  });

  test('are not recorded unless that is asked for', async (t) => {
    const recorded = await record(t, STARTS);
    assert.equal(recorded.code, 0);
    assert.deepEqual(commands(recorded), ['node main.cjs']);
  });

  test('keep the behavior of the functions that start them', async (t) => {
    const source = `
      const childProcess = require('node:child_process');
      const attempt = (what) => { try { return what(); } catch (error) { return error.code; } };
      const { spawn } = childProcess.ChildProcess.prototype;
      console.log(JSON.stringify([
        attempt(() => childProcess.spawn('')),
        attempt(() => childProcess.spawnSync('a\\0b')),
        attempt(() => new childProcess.ChildProcess().spawn()),
        attempt(() => new childProcess.ChildProcess().spawn({ file: 'true', envPairs: 7 })),
        childProcess.spawnSync('/nowhere').error.code,
        spawn.name, spawn.length,
      ]));
      childProcess.spawn('/nowhere').on('error', (error) => console.log(error.code));`;
    const execArgv = { env: { NODE_PENDING_DEPRECATION: '1' } };
    const recorded = await record(t, source, { settings: children, ...execArgv });
    const plain = await record(t, source, { env: { ...execArgv.env, SELFPROF_RUN: undefined } });
    assert.deepEqual([recorded.stdout, recorded.stderr], [plain.stdout, plain.stderr]);
  });

  test('that Node restricts run as they would without selfprof', async (t) => {
    const [major] = process.versions.node.split('.').map(Number);
    const option = major < 22 ? '--experimental-permission' : '--permission';
    const recorded = await record(
      t,
      `const { spawnSync } = require('node:child_process');
       const { status, stdout } = spawnSync(
         process.execPath,
         ['${option}', '--no-warnings', '--allow-fs-read=' + __filename, '-p', 'process.permission.has("fs.read", "/")'],
       );
       console.log(status, String(stdout).trim());`,
      { settings: children },
    );
    assert.equal(recorded.stdout, '0 false\n');
    assert.deepEqual(commands(recorded), ['node main.cjs']);
  });

  test('that replace the program of their process are recorded', async (t) => {
    if (typeof process.execve !== 'function') return;
    const recorded = await record(
      t,
      `spin(20);
       if (!process.argv[2]) process.execve(process.execPath, ['node', __filename, 'replaced'], { MINE: '1' });
       console.log(Object.keys(process.env).join());`,
      { settings: children, env: { NODE_NO_WARNINGS: '1' } },
    );
    assert.deepEqual([recorded.code, recorded.stderr, recorded.stdout], [0, '', 'MINE\n']);
    assert.ok(commands(recorded).includes('node main.cjs replaced'));
  });

  test('run even if they cannot be recorded', async (t) => {
    const recorded = await record(
      t,
      `const { spawnSync } = require('node:child_process');
       if (!process.argv[2]) spawnSync(process.execPath, [__filename, 'child'], { stdio: 'inherit' });
       console.log('ran');`,
      { settings: children, env: { SELFPROF_NODE_FRAMES: 'wrong' } },
    );
    assert.deepEqual([recorded.code, recorded.stdout, recorded.stderr], [0, 'ran\nran\n', '']);
    assert.deepEqual(recorded.all, []);
    assert.equal(recorded.failures.length, 2);
    assert.match(recorded.failures[0].message, /^selfprof: SELFPROF_NODE_FRAMES is 'wrong'$/);
  });
});

suite('workers', () => {
  const SOURCE = `
    const { isMainThread, parentPort, SHARE_ENV, Worker, workerData } = require('node:worker_threads');
    spin(20);
    if (!isMainThread) {
      const { NODE_OPTIONS, SELFPROF_RUN, MINE } = process.env;
      parentPort.postMessage([workerData, NODE_OPTIONS, SELFPROF_RUN, MINE, process.execArgv]);
    } else (async () => {
      class Mine extends Worker {}
      const said = [];
      for (const [name, options] of Object.entries({
        plain: {},
        'own options': { execArgv: ['--no-warnings'] },
        'own environment': { env: { MINE: '1' } },
        'own options of Node': { env: { MINE: '1', NODE_OPTIONS: '--no-deprecation' } },
        both: { env: {}, execArgv: [] },
        shared: { env: SHARE_ENV },
        'shared with options': { env: SHARE_ENV, execArgv: [] },
        nothing: { env: null },
        'the same options of Node': { env: { ...process.env } },
        inherited: Object.create({ execArgv: [] }),
      })) {
        const worker = new Mine(__filename, Object.assign(options, { workerData: name }));
        worker.on('message', (message) => said.push(message));
        await new Promise((resolve) => worker.once('exit', resolve));
        if (!(worker instanceof Worker) || worker.constructor !== Mine) said.push('not a worker');
      }
      const { Worker: imported } = await import('node:worker_threads');
      console.log(JSON.stringify([said, imported === Worker, Worker.name, Worker.prototype.constructor === Worker]));
    })();`;

  test('are recorded, whatever options and environment they get, and see nothing of it', async (t) => {
    // Node allows an option that is for a whole process only if the worker's options equal those of the process.
    const own = '--title=mine';
    const recorded = await record(t, SOURCE, { settings: children, env: { NODE_OPTIONS: `${OPTION} ${own}` } });
    assert.deepEqual([recorded.code, recorded.stderr], [0, '']);
    const plain = await record(t, SOURCE, { env: { SELFPROF_RUN: undefined, NODE_OPTIONS: own } });
    assert.equal(recorded.stdout, plain.stdout);
    assert.equal(plain.stderr, '');
    const names = ['main', ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((id) => `worker-${id}`)];
    assert.deepEqual(Object.keys(recorded.journals).sort(), names.sort());
    for (const { header, names: functions } of recorded.all) {
      assert.equal(header.command, `node ${recorded.script}`);
      assert.ok(functions.includes('spin'));
    }
  });
});

suite('the connection to the recorder', () => {
  /** Accepts connections until the program prints a line, then closes them. */
  async function recordUntilLine(t, source, options = {}) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const connection = path.join(folder, 'connection');
    const sockets = [];
    let closed = 0;
    const server = net.createServer((socket) => {
      sockets.push(socket.on('error', () => {}).on('close', () => closed++));
      socket.resume();
    });
    await new Promise((resolve) => server.listen(connection, resolve));
    t.after(() => server.close());
    const close = () => {
      for (const socket of sockets) socket.end();
    };
    const onStart = (child) => child.stdout.once('data', close);
    const recorded = await record(t, source, { settings: { children: true, connection }, onStart, ...options });
    return { ...recorded, connections: sockets.length, closed };
  }

  test('ends the recordings of all threads when it closes, and the program goes on', async (t) => {
    const { code, stdout, stderr, journals, connections, closed } = await recordUntilLine(
      t,
      `const { isMainThread, Worker, parentPort } = require('node:worker_threads');
       const { setTimeout: sleep } = require('node:timers/promises');
       const counts = () => require(${JSON.stringify(path.join(PACKAGE, 'src/native.cjs'))}).liveCounts();
       const before = () => spin(60), after = () => spin(60);
       before();
       (async () => {
         if (!isMainThread) {
           parentPort.postMessage('ready');
           await sleep(600);
           after();
           return;
         }
         const worker = new Worker(__filename);
         await new Promise((resolve) => worker.once('message', resolve));
         console.log('ready');
         while (counts().signalWatchers > 0) await sleep(10);
         after();
         // Neither later workers nor later children are recorded.
         const late = new Worker(__filename);
         await new Promise((resolve) => late.once('exit', resolve));
         console.log(counts().signalWatchers);
       })();`,
    );
    assert.deepEqual([code, stdout, stderr], [0, 'ready\n0\n', '']);
    assert.deepEqual(Object.keys(journals).sort(), ['main', 'worker-1']);
    for (const { names, end } of Object.values(journals)) {
      assert.ok(names.includes('before') && !names.includes('after'), names.join());
      assert.equal(end.reason, 'stopped');
    }
    assert.deepEqual([connections, closed], [1, 1]);
  });

  test('ends what happens when the heap is full, too', async (t) => {
    const { signal, stderr, journals } = await recordUntilLine(
      t,
      `const { setTimeout: sleep } = require('node:timers/promises');
       const counts = () => require(${JSON.stringify(path.join(PACKAGE, 'src/native.cjs'))}).liveCounts();
       const kept = [];
       (async () => {
         console.log('ready');
         while (counts().signalWatchers > 0) await sleep(10);
         for (;;) kept.push(new Array(10_000).fill(1.1));
       })();`,
      { env: { NODE_OPTIONS: `${OPTION} --max-old-space-size=20` } },
    );
    assert.equal(signal, 'SIGABRT');
    assert.match(stderr, /FATAL ERROR: .* JavaScript heap out of memory/);
    assert.equal(journals.main.end.reason, 'stopped');
  });

  test('is not waited for when it has closed before', async (t) => {
    const { code, stdout, stderr, all, failures } = await record(t, `console.log('ran');`, {
      settings: { children: true, connection: '/nowhere/connection' },
    });
    assert.deepEqual([code, stdout, stderr, all, failures], [0, 'ran\n', '', [], []]);
  });
});

suite('scripts that were compiled in memory', () => {
  test('may be collected after they were sampled', async (t) => {
    const map = Buffer.from('{"version":3,"sources":["a.ts"],"mappings":"AAAA"}').toString('base64');
    const { code, stdout, stderr } = await record(
      t,
      `const { setTimeout: sleep } = require('node:timers/promises');
       const compile = (index) => new Function('spin',
         'spin(2); return ' + index + ';\\n//# sourceURL=/memory/' + index + '.js\\n'
           + '//# sourceMappingURL=data:application/json;base64,${map}#' + index);
       (async () => {
         let functions = Array.from({ length: 50 }, (_, index) => compile(index));
         for (const run of functions) run(() => {});
         // Until their URLs need not stay alive for the recording.
         await sleep(9300);
         for (const run of functions) run(spin);
         functions = undefined;
         for (let round = 0; round < 12; round++) {
           gc();
           await sleep(20);
         }
         await sleep(3000);
         console.log('went on');
       })();`,
      { settings: { children: true }, file: 'main.cjs', args: [], env: { NODE_OPTIONS: `${OPTION} --expose-gc` } },
    );
    assert.deepEqual([code, stdout, stderr], [0, 'went on\n', '']);
  });
});

suite('a recording of the last seconds', () => {
  test('has two files, and the source maps in a third', async (t) => {
    const map = Buffer.from('{"version":3,"sources":["x.ts"],"mappings":"AAAA"}').toString('base64');
    const { code, stderr, all } = await record(
      t,
      `const vm = require('node:vm');
       vm.runInThisContext('globalThis.mapped = (spin) => spin(2500);\\n//# sourceMappingURL=data:application/json;base64,${map}', 'mapped.js');
       mapped(spin);
       for (let round = 0; round < 4; round++) { const turn = () => spin(700); turn(); }`,
      { settings: { keep: 1 } },
    );
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(all.length, 3);
    assert.equal(new Set(all.map(({ header }) => JSON.stringify(header))).size, 1);
    assert.deepEqual(all.map(({ sourceMaps }) => sourceMaps.length).sort(), [0, 0, 1]);
    const samples = all.reduce((sum, { samples }) => sum + samples.length, 0);
    assert.ok(samples < 5000, String(samples));
  });
});
