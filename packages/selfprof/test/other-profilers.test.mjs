// Recordings of `selfprof run` beside @datadog/pprof, which handles the signal of V8's sampler, too. `cargo xtask test`
// downloads it, at the version in xtask/src/packages.rs, and passes its folder in an environment variable.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { record } from './recorded.mjs';

const folder = process.env.SELFPROF_TEST_PPROF;

const PROGRAM = `
  const { Worker, isMainThread } = require('node:worker_threads');
  const { time } = require(${JSON.stringify(folder ?? '')});
  const sleep = () => require('node:child_process').spawnSync('sleep', ['0.2']);
  const start = (withContexts = true) => time.start({ durationMillis: 60000, intervalMicros: 1000, withContexts });
  const stop = () => {
    const count = time.stop().sample.reduce((sum, sample) => sum + Number(sample.value[0]), 0);
    console.log(count > 20);
  };
  const startAndStop = (withContexts) => {
    start(withContexts);
    spin(150);
    stop();
  };
`;

async function check(t, source, expected, waiting) {
  assert.ok(folder, 'SELFPROF_TEST_PPROF names no package; `cargo xtask test --only js` sets it');
  const { code, signal, stdout, journals } = await record(t, PROGRAM + source);
  assert.deepEqual([code, signal], [0, null]);
  assert.deepEqual(stdout.trim().split('\n'), Array(expected).fill('true'));
  for (const [name, journal] of Object.entries(journals)) {
    assert.ok(journal.samples.length > 100, name);
    const waited = journal.waiting.reduce((sum, [, micros]) => sum + micros, 0) / 1000;
    assert.ok(waited > waiting[name.split('-')[0]], `${name}: ${waited}`);
  }
  assert.equal(Object.keys(journals).length > 1, waiting.worker !== undefined);
}

suite('beside another profiler that handles the signal', () => {
  test('both keep their samples when it starts and stops', async (t) => {
    await check(
      t,
      `
        for (let round = 0; round < 3; round++) {
          startAndStop(round % 2 === 0);
          sleep();
        }
      `,
      3,
      { main: 500 },
    );
  });

  test('both keep their samples when it goes on until the end', async (t) => {
    await check(
      t,
      `
        startAndStop();
        start();
        sleep();
      `,
      1,
      { main: 100 },
    );
  });

  test('both keep their samples in several threads', async (t) => {
    await check(
      t,
      `
        startAndStop();
        sleep();
        if (isMainThread) {
          let ended = 0;
          const end = () => {
            if (++ended < 3) return;
            startAndStop();
            sleep();
          };
          for (let count = 0; count < 3; count++) new Worker(__filename).once('exit', end);
        }
      `,
      5,
      { main: 250, worker: 100 },
    );
  });
});
