// `selfprof agent-exporter`, which sends the profiles of servers: each is there once, whoever is killed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { ask, settled } from './collector.mjs';

const { SELFPROF_TEST_COLLECTOR: collectorProgram, SELFPROF_TEST_CLI: cli } = process.env;

const SAMPLES = 20;

/** A journal of some samples, one of them in a function that only this journal has. */
function journal(thread, period) {
  const header = {
    selfprofJournal: 5,
    pid: 4_194_305,
    threadId: thread,
    interval: 10_000,
    mode: 'eager',
    timeOrigin: 1_795_441_500_000.5,
    node: 'v24.1.0',
    entries: false,
    origin: 5_000_000,
    threadName: '',
    command: 'node server.mjs',
  };
  const segment = {
    names: ['handle', `only-${thread}-${period}`],
    resources: ['file:///server.mjs'],
    frames: [
      [0, 0, 1, 1],
      [1, 0, 2, 1],
    ],
    stacks: [
      [-1, 0],
      [0, 1],
    ],
    samples: Array.from({ length: SAMPLES }, (_, index) => [10_000, index === 0 ? 1 : 0, 1]),
    lost: 0,
  };
  return [header, segment, { end: { reason: 'period', full: false } }]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

/** The folder of a recorded process that lives until `end` is called. */
async function record(t, output, format) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-exporter-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify({ output, format, app: 'shop', release: '1.4' }));
  const alive = path.join(folder, '4194305.a.alive');
  fs.writeFileSync(alive, '{"pid":4194305}');
  // Node.js has no locks.
  const holder = spawn('flock', ['--exclusive', alive, 'sh', '-c', 'echo locked; read line'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(readline.createInterface(holder.stdout), 'line');
  t.after(() => holder.kill('SIGKILL'));
  return {
    folder,
    add(thread, period) {
      const name = thread === 0 ? 'main' : `worker-${thread}`;
      const temporary = path.join(folder, '.part');
      fs.writeFileSync(temporary, journal(thread, period));
      fs.renameSync(temporary, path.join(folder, `4194305.a.${name}.${29_924_025 + period}.finished`));
    },
    end: () => holder.stdin.end(),
  };
}

/** Starts an exporter, which is killed with the test. */
function startExporter(t, folder) {
  const exporter = spawn(cli, ['agent-exporter', '--folder', folder], { stdio: ['ignore', 'ignore', 'ignore'] });
  t.after(() => exporter.kill('SIGKILL'));
  return exporter;
}

/** A collector that can be killed and started again at the same address. */
async function collectorOf(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-collector-'));
  let [child, host] = [undefined, '127.0.0.1:0'];
  const start = async () => {
    const options = ['serve', '--listen', host, '--data', path.join(folder, 'data')];
    child = spawn(collectorProgram, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(readline.createInterface(child.stdout), 'line');
    host = new URL(/http:\S+/.exec(line)[0]).host;
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await start();
  t.after(async () => {
    await kill();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return { host: () => host, start, kill };
}

/** Asks until the collector has this many profiles, and checks that each is there once. */
async function assertOnce(host, profiles) {
  for (;;) {
    const { profiles: found } = await ask(host, 'functions', { top: '1' });
    if (found >= profiles) break;
    await sleep(200);
  }
  const answer = await ask(host, 'functions', { top: '10000' });
  assert.equal(answer.profiles, profiles);
  assert.equal(answer.samples, profiles * SAMPLES);
  const own = answer.functions.filter(({ name }) => name.startsWith('only-'));
  assert.equal(own.length, profiles);
}

test('each part is there once, whoever is killed', async (t) => {
  const collector = await collectorOf(t);
  const recording = await record(t, `http://${collector.host()}`);
  let exporter = startExporter(t, recording.folder);
  let [added, kills] = [0, 0];
  for (let period = 0; period < 60; period += 1) {
    for (let thread = 0; thread < 3; thread += 1) {
      recording.add(thread, period);
      added += 1;
    }
    await sleep(Math.random() * 60);
    if (period % 3 === 0) {
      exporter.kill('SIGKILL');
      await once(exporter, 'exit');
      exporter = startExporter(t, recording.folder);
      kills += 1;
    }
    if (period % 20 === 10) {
      await collector.kill();
      await sleep(Math.random() * 500);
      await collector.start();
    }
  }
  recording.end();
  await once(exporter, 'exit');
  assert(!fs.existsSync(recording.folder), 'all is sent');
  assert.equal(kills, 20);
  await assertOnce(collector.host(), added);
});

test('a kill between sending and deleting does no harm', async (t) => {
  const collector = await collectorOf(t);
  let [exporter, passed] = [undefined, 0];
  // What is between them kills the exporter when the collector has the profiles.
  const between = http.createServer(async (request, response) => {
    const { url, method, headers } = request;
    const chunks = await request.toArray();
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => /^content-(type|encoding)$/.test(name)));
    const answer = await fetch(`http://${collector.host()}${url}`, {
      method,
      headers: kept,
      body: Buffer.concat(chunks),
    });
    assert.equal(answer.status, 202);
    passed += 1;
    if (passed % 2 === 1) {
      exporter.kill('SIGKILL');
      response.destroy();
    } else {
      response.writeHead(202).end(await answer.text());
    }
  });
  between.listen(0, '127.0.0.1');
  await once(between, 'listening');
  t.after(() => between.close());
  const recording = await record(t, `http://127.0.0.1:${between.address().port}`);
  for (let period = 0; period < 10; period += 1) for (const thread of [0, 1]) recording.add(thread, period);
  recording.end();
  for (let killed = true; killed; ) {
    exporter = startExporter(t, recording.folder);
    const [, signal] = await once(exporter, 'exit');
    killed = signal !== null;
  }
  assert.equal(passed, 20);
  await settled(collector.host(), 20);
  await assertOnce(collector.host(), 20);
});

test('OTLP that is sent twice is there once', async (t) => {
  const collector = await collectorOf(t);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const recording = await record(t, `http://${collector.host()}`, 'otlp');
    for (const thread of [0, 1]) recording.add(thread, 0);
    recording.end();
    await once(startExporter(t, recording.folder), 'exit');
  }
  await settled(collector.host(), 2);
  await assertOnce(collector.host(), 2);
});
