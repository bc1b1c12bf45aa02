// Recordings of `selfprof run` say how long threads waited: busy, but not running.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';

import { PACKAGE } from './program.mjs';
import { record } from './recorded.mjs';

/** How long the thread ran, and how long it waited for a processor, in milliseconds, as Linux counts it. */
const SCHEDULER_TIMES = `
  const schedulerTimes = () =>
    require('node:fs').readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 2).map((time) => time / 1e6);
`;

/**
 * The time before the samples of each function and its callees, and how much of it the thread waited, in milliseconds.
 */
function timesOf({ names, frames, stacks, samples, waiting }) {
  const points = [];
  let [at, total] = [0, 0];
  for (const [since, waited] of waiting) {
    at += since;
    total += waited;
    points.push([at, total]);
  }
  const waitedAt = (time) => {
    const next = points.findIndex(([one]) => one > time);
    if (next === 0) return 0;
    if (next === -1) return total;
    const [[from, before], [to, after]] = [points[next - 1], points[next]];
    return before + ((after - before) * (time - from)) / (to - from);
  };
  const functionsOf = (stack) => {
    if (stack === -1) return ['(idle)'];
    const [parent, frame] = stacks[stack];
    return [names[frames[frame][0]], ...(parent === -1 ? [] : functionsOf(parent))];
  };
  const times = {};
  // The file may be the second of a recording.
  const start = samples[0][0];
  let time = start;
  for (const [index, [toNext, stack, , , length = 0]] of samples.entries()) {
    const since = index === 0 ? 0 : toNext;
    for (const name of new Set(functionsOf(stack))) {
      times[name] ??= { wall: 0, waiting: 0 };
      times[name].wall += (since + length) / 1000;
      if (stack !== -1) times[name].waiting += (waitedAt(time + since) - waitedAt(time)) / 1000;
    }
    time += since + length;
  }
  return { ...times, all: { wall: (time - start) / 1000, waiting: (waitedAt(time) - waitedAt(start)) / 1000 } };
}

/** Records a program that ends well. */
async function timesOfProgram(t, source, options) {
  const recorded = await record(t, SCHEDULER_TIMES + source, options);
  assert.deepEqual([recorded.code, recorded.stderr], [0, '']);
  const times = Object.fromEntries(Object.entries(recorded.journals).map(([name, one]) => [name, timesOf(one)]));
  return { ...recorded, times };
}

const isAbout = (value, expected, tolerance) =>
  assert.ok(Math.abs(value - expected) <= tolerance, `${value} is about ${expected}`);

suite('waiting', () => {
  test('for a child process is not work, and a busy loop is', async (t) => {
    const { times, stdout } = await timesOfProgram(
      t,
      `
        require('node:child_process').spawnSync('sleep', ['0.4']);
        const [before] = schedulerTimes();
        spin(400);
        console.log(schedulerTimes()[0] - before);
      `,
    );
    const { spawnSync: child, spin } = times.main;
    assert.ok(child.wall > 350 && child.waiting > 0.9 * child.wall, JSON.stringify(child));
    // The loop waits for a processor if the machine is busy.
    isAbout(spin.wall - spin.waiting, Number(stdout), 60);
  });

  test('for a file is not work', async (t) => {
    const { times } = await timesOfProgram(
      t,
      `
        const { execFileSync, spawn } = require('node:child_process');
        const fifo = __dirname + '/fifo';
        execFileSync('mkfifo', [fifo]);
        spawn('sh', ['-c', 'sleep 0.4; echo x > ' + fifo], { stdio: 'ignore' });
        require('node:fs').readFileSync(fifo);
      `,
    );
    const { readFileSync } = times.main;
    assert.ok(readFileSync.wall > 200 && readFileSync.waiting > 0.9 * readFileSync.wall, JSON.stringify(readFileSync));
  });

  test('in Atomics.wait leaves its samples without a marker', async (t) => {
    const { times, journals } = await timesOfProgram(
      t,
      `
        function wait() {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
        }
        wait();
      `,
    );
    const { wait } = times.main;
    assert.ok(wait.wall > 350 && wait.waiting > 0.9 * wait.wall, JSON.stringify(wait));
    const { names, frames, stacks, samples } = journals.main;
    const markers = samples
      .filter(([, stack]) => stack !== -1 && names[frames[stacks[stack][1]][0]] === 'wait')
      .map(([, , marker]) => marker);
    // On a busy machine, the call begins long before its wait does, and ends long after it.
    const ofWait = markers.slice(markers.indexOf(0), markers.lastIndexOf(0) + 1);
    const others = ofWait.filter((marker) => marker !== 0);
    assert.ok(ofWait.length > 20 && others.length <= 0.05 * ofWait.length, markers.join());
  });

  test('is not idle time', async (t) => {
    const { times } = await timesOfProgram(t, 'setTimeout(() => {}, 500);');
    const { all, ...functions } = times.main;
    const idle = functions['(idle)'].wall;
    // On a busy machine, functions wait for a processor.
    const waitingOfFunctions = Object.values(functions).reduce((sum, { waiting }) => sum + waiting, 0);
    assert.ok(idle > 400 && all.waiting - waitingOfFunctions < 0.2 * idle, JSON.stringify(times.main));
  });

  // Between two samples, such a thread is busy and idle.
  test('is not idle time between short tasks', async (t) => {
    const { times, stdout } = await timesOfProgram(
      t,
      `
        const { Worker, isMainThread, parentPort } = require('node:worker_threads');
        if (isMainThread) {
          const [, before] = schedulerTimes();
          const worker = new Worker(__filename);
          let left = 1500;
          worker.on('message', () => {
            spin(0.2 + 0.6 * Math.random());
            if (--left === 0) worker.terminate();
          });
          worker.on('exit', () => console.log(schedulerTimes()[1] - before));
        } else {
          // Not a timer: the signals of the sampler interrupt the wait for one, and end it at times of their own.
          for (;;) {
            spin(1 + Math.random());
            parentPort.postMessage('');
          }
        }
      `,
    );
    assert.ok(times.main.spin.wall > 20, JSON.stringify(times.main));
    // It waits for nothing but a processor.
    assert.ok(times.main.all.waiting < Number(stdout) + 100, `${times.main.all.waiting} ${stdout}`);
  });

  test('for a processor is waiting', async (t) => {
    if (spawnSync('taskset', ['--version']).error) return t.skip('there is no taskset');
    const { times } = await timesOfProgram(
      t,
      `
        const { Worker, isMainThread } = require('node:worker_threads');
        const share = () => {
          const start = performance.now();
          while (performance.now() < start + 1500);
        };
        if (isMainThread) {
          require('node:child_process').execFileSync('taskset', ['-p', '-c', '0', String(process.pid)]);
          new Worker(__filename).once('online', () => share());
        } else share();
      `,
    );
    for (const name of ['main', 'worker-1']) {
      const { share } = times[name];
      assert.ok(share.wall > 1000, JSON.stringify(share));
      assert.ok(share.waiting > 0.35 * share.wall && share.waiting < 0.9 * share.wall, JSON.stringify(share));
    }
  });

  test('is recorded of a thread that ends in the middle', async (t) => {
    const exits = ['process.exit(0)', 'process.exit(0);', 'new Worker(__filename)'];
    for (const [index, exit] of exits.entries()) {
      const { times } = await timesOfProgram(
        t,
        `
          const { Worker, isMainThread } = require('node:worker_threads');
          const sleep = () => require('node:child_process').spawnSync('sleep', ['0.2']);
          if (${index} === 1 && isMainThread) {
            new Worker(__filename).once('online', () => setTimeout(() => process.exit(0), 800));
          } else if (${index} === 2 && isMainThread) {
            for (let count = 0; count < 4; count++) ${exit};
          } else {
            sleep();
            spin(50);
            if (isMainThread || ${index} === 2) process.exit(0);
            for (;;) sleep();
          }
        `,
      );
      const names = [['main'], ['worker-1'], ['worker-1', 'worker-2', 'worker-3', 'worker-4']][index];
      for (const name of names) {
        assert.ok(times[name].all.waiting > 100, `${exit} ${name} ${JSON.stringify(times[name].all)}`);
      }
    }
  });

  test('is recorded at a long interval, also when a program profiles itself', async (t) => {
    const { times } = await timesOfProgram(
      t,
      `
        const { Profiler } = require(${JSON.stringify(PACKAGE)});
        (async () => {
          for (let round = 0; round < 3; round++) {
            await new Profiler({ sampleInterval: 250, maxBufferSize: 100 }).stop();
            require('node:child_process').spawnSync('sleep', ['1.1']);
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
        })();
      `,
      { settings: { interval: 250 } },
    );
    const { spawnSync: child } = times.main;
    assert.ok(child.wall > 2000 && child.waiting > 0.7 * child.wall, JSON.stringify(child));
  });

  test('is recorded in each file of a recording of the last seconds', async (t) => {
    const { all } = await record(
      t,
      `
        const turn = () => {
          require('node:child_process').spawnSync('sleep', ['0.1']);
          if (performance.now() < 5000) setImmediate(turn);
        };
        turn();
      `,
      { settings: { keep: 1 } },
    );
    assert.equal(all.length, 2);
    for (const journal of all) {
      const { all, spawnSync: child } = timesOf(journal);
      assert.ok(child.wall > 0.9 * all.wall, JSON.stringify(child));
      assert.ok(child.waiting > 0.8 * child.wall, JSON.stringify(child));
    }
  });

  test('is known in each file of a recording of the last seconds if there is none', async (t) => {
    const { all } = await record(t, 'setTimeout(() => {}, 5000);', { settings: { keep: 1 } });
    assert.deepEqual(
      all.map(({ waiting }) => waiting.length > 0),
      [true, true],
    );
  });

  test('is recorded after V8 has removed its handler, and beside other profilers of the same thread', async (t) => {
    const { times } = await timesOfProgram(
      t,
      `
        const { Session } = require('node:inspector');
        const session = new Session();
        session.connect();
        session.post('Profiler.enable');
        session.post('Profiler.start');
        require('node:child_process').spawnSync('sleep', ['0.2']);
        session.post('Profiler.stop', (error, { profile }) => {
          if (error || profile.samples.length < 50) throw error ?? new Error('few samples');
        });
        require('node:child_process').spawnSync('sleep', ['0.2']);
      `,
    );
    const { spawnSync: child } = times.main;
    // On a busy machine, starting the children takes long, too.
    assert.ok(child.wall > 350 && child.waiting > 300, JSON.stringify(child));
  });
});
