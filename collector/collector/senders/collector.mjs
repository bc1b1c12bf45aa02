// Runs the collector for a test. SELFPROF_TEST_COLLECTOR is the path of the program, SELFPROF_TEST_SENDERS that of the
// packages.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const { SELFPROF_TEST_COLLECTOR: program, SELFPROF_TEST_SENDERS } = process.env;
assert(SELFPROF_TEST_SENDERS, '`cargo xtask test --only collector-senders` runs these tests');

export const modules = SELFPROF_TEST_SENDERS;

export const TOKEN = 'token-of-an-operator';

/**
 * Starts a collector, which is stopped when the test ends, and returns its host. `settings` is the text of its
 * settings.
 */
export async function startCollector(t, settings) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-senders-'));
  const options = ['serve', '--listen', '127.0.0.1:0', '--data', path.join(folder, 'data')];
  if (settings !== undefined) {
    fs.writeFileSync(path.join(folder, 'settings.toml'), settings);
    options.push('--config', path.join(folder, 'settings.toml'));
  }
  const collector = spawn(program, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => {
    collector.kill('SIGTERM');
    await once(collector, 'exit');
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const [line] = await once(readline.createInterface(collector.stdout), 'line');
  return new URL(/http:\S+/.exec(line)[0]).host;
}

const HEADERS = { authorization: `Bearer ${TOKEN}` };

/** What the collector answers. */
export async function ask(host, question, parameters = {}) {
  const query = new URLSearchParams({ app: 'shop', ...parameters });
  const response = await fetch(`http://${host}/api/v1/${question}?${query}`, { headers: HEADERS });
  assert.equal(response.status, 200);
  return await response.json();
}

/** What the collector has counted. */
export async function metricsOf(host) {
  return await (await fetch(`http://${host}/metrics`, { headers: HEADERS })).text();
}

/** Waits until this many profiles can be asked for. */
export async function settled(host, profiles) {
  for (;;) {
    const [, stored] = /^selfprof_profiles_stored_total (\d+)$/m.exec(await metricsOf(host));
    if (Number(stored) >= profiles) return;
    await sleep(100);
  }
}
