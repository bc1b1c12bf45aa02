// `node --import selfprof/register/timing`: the interfaces on globalThis.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { runNode, runProgram } from '../program.mjs';

const REGISTER = fileURLToPath(new URL('../../register/timing.cjs', import.meta.url));
const INDEX = fileURLToPath(new URL('../../index.cjs', import.meta.url));
const preloaded = { execArgv: ['--require', REGISTER] };

/** Runs a program that prints JSON. */
async function run(source, options = preloaded) {
  const { stdout, stderr, code } = await runProgram(source, options);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

suite('the globals', () => {
  test("are the module's, with the attributes of interface objects", async () => {
    const result = await run(`
      const selfprof = require(${JSON.stringify(INDEX)});
      const names = Object.keys(selfprof).filter((name) => /^P.*Performance|^Performance/.test(name));
      const attributes = names.map((name) => {
        const { value, ...rest } = Object.getOwnPropertyDescriptor(globalThis, name);
        return [name, value === selfprof[name], rest];
      });
      console.log(JSON.stringify({ attributes, same: performance === selfprof.performance, enumerated: Object.keys(globalThis).includes('performance') }));
    `);
    assert.deepEqual([result.same, result.enumerated], [true, true]);
    assert.deepEqual(
      result.attributes.map(([name]) => name),
      [
        'Performance',
        'PerformanceEntry',
        'PerformanceMark',
        'PerformanceMeasure',
        'PerformanceObserver',
        'PerformanceObserverEntryList',
      ],
    );
    for (const [name, same, attributes] of result.attributes) {
      assert.ok(same, name);
      assert.deepEqual(attributes, { writable: true, enumerable: false, configurable: true }, name);
    }
  });

  test('performance is a replaceable attribute', async () => {
    const result = await run(`
      'use strict';
      const { get, set, ...attributes } = Object.getOwnPropertyDescriptor(globalThis, 'performance');
      const refused = [];
      for (const foreign of [{}, 1]) for (const accessor of [get, set]) {
        try { accessor.call(foreign, 1); } catch (error) { refused.push(error.name); }
      }
      const unbound = get.call(undefined) === performance;
      const shape = [get.name, get.length, set.name, set.length, attributes];
      performance = 'replaced';
      console.log(JSON.stringify({ shape, refused, unbound, after: Object.getOwnPropertyDescriptor(globalThis, 'performance') }));
    `);
    assert.deepEqual(result.shape, [
      'get performance',
      0,
      'set performance',
      1,
      { enumerable: true, configurable: true },
    ]);
    assert.deepEqual([result.refused, result.unbound], [['TypeError', 'TypeError', 'TypeError', 'TypeError'], true]);
    assert.deepEqual(result.after, { value: 'replaced', writable: true, enumerable: true, configurable: true });
  });

  test('exist for modules and in workers, each with its own timeline', async () => {
    const source = `
      import { Worker, isMainThread, parentPort } from 'node:worker_threads';
      performance.mark(isMainThread ? 'main' : 'worker', { startTime: 5 });
      const marks = performance.getMarks();
      if (isMainThread) {
        const worker = new Worker(new URL(import.meta.url));
        worker.on('message', (message) => console.log(JSON.stringify([marks, message])));
      } else parentPort.postMessage(marks);
    `;
    const url = `data:text/javascript,${encodeURIComponent(source)}`;
    const { stdout, stderr } = await runNode([
      '--import',
      `file://${REGISTER}`,
      '--input-type=module',
      '--eval',
      `await import(${JSON.stringify(url)})`,
    ]);
    assert.deepEqual(JSON.parse(stdout || '0'), [{ main: [5] }, { worker: [5] }], stderr);
  });

  test('begin no profiler', async () => {
    const result = await run(`
      const { readdirSync, readFileSync } = require('node:fs');
      const threads = readdirSync('/proc/self/task').map((task) => readFileSync('/proc/self/task/' + task + '/comm', 'utf8').trim());
      console.log(JSON.stringify([typeof Profiler, threads.filter((name) => name.startsWith('v8:ProfEvntProc'))]));
    `);
    assert.deepEqual(result, ['undefined', []]);
  });

  test('keep to the clock of node:perf_hooks, and profiles to theirs', async () => {
    const result = await run(
      `
      const { performance: node } = require('node:perf_hooks');
      const before = node.now(), now = performance.now(), after = node.now();
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
      const until = performance.now() + 300;
      while (performance.now() < until);
      const stopped = profiler.stop();
      const end = performance.now();
      stopped.then(({ samples }) => {
        const times = samples.map(({ timestamp }) => timestamp);
        console.log(JSON.stringify([before - 0.01 <= now && now <= after + 0.01, times.every((time) => time >= now - 1 && time <= end + 1), times.length > 3]));
      });
      `,
      { execArgv: ['--require', REGISTER, '--require', fileURLToPath(new URL('../../register.cjs', import.meta.url))] },
    );
    assert.deepEqual(result, [true, true, true]);
  });
});

suite('what of Node uses the globals', () => {
  test('still works', async () => {
    const result = await run(`
      const http = require('node:http');
      const server = http.createServer((request, response) => response.end('hello')).listen(0, async () => {
        const text = await (await fetch('http://127.0.0.1:' + server.address().port)).text();
        const signal = AbortSignal.timeout(50);
        signal.addEventListener('abort', () => {
          server.close();
          server.closeAllConnections();
          console.log(JSON.stringify([text, performance.getEntriesByType('resource').length, typeof performance.timerify(() => {})]));
        });
      });
    `);
    assert.deepEqual(result, ['hello', 1, 'function']);
  });
});
