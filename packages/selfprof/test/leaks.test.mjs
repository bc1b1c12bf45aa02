// What copies of the package leave behind. Test runners load it anew for each file, in the same thread.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { PACKAGE, runProgram } from './program.mjs';

/**
 * Loads the package ten times and counts the copies that are left. `use` is a function of the program that uses one.
 */
async function copiesLeft(use) {
  const { code, stdout, stderr } = await runProgram(
    `const { createRequire } = require('node:module');
     const folder = ${JSON.stringify(path.resolve(PACKAGE))};
     const copies = [];
     function unload() {
       for (const file of Object.keys(require.cache)) {
         if (file.startsWith(folder) && !file.endsWith('.node')) delete require.cache[file];
       }
     }
     async function load() {
       // A loader of its own, since a module holds all that it has loaded.
       const copy = createRequire(folder + '/')(folder);
       copies.push(new WeakRef(copy.Profiler));
       await (${use})(copy);
     }
     const alive = () => copies.filter((copy) => copy.deref() !== undefined).length;
     (async () => {
       for (let i = 0; i < 10; i++) {
         await load();
         unload();
       }
       // What a collection finds is released by tasks and finalizers, which further collections need.
       for (let i = 0; i < 50 && alive() > 1; i++) {
         await new Promise((resolve) => setTimeout(resolve, 10));
         gc();
       }
       console.log(alive());
     })();`,
    { execArgv: ['--expose-gc'] },
  );
  assert.equal(code, 0, stderr);
  return Number(stdout);
}

const USES = {
  'that were loaded': '() => {}',
  'whose profiler was stopped': '({ Profiler }) => new Profiler({ sampleInterval: 1, maxBufferSize: 100 }).stop()',
  'whose profiler was cancelled': '({ Profiler }) => new Profiler({ sampleInterval: 1, maxBufferSize: 100 }).cancel()',
  'whose profiler was forgotten': '({ Profiler }) => { new Profiler({ sampleInterval: 1, maxBufferSize: 100 }) }',
  'whose profiler has told of a full buffer': `({ Profiler }) => new Promise((resolve) => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1 });
    profiler.addEventListener('samplebufferfull', resolve);
    while (!profiler.stopped && performance.now() % 20 < 19);
  })`,
  'whose chunks were read': `async ({ Profiler }) => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1, bufferPolicy: 'chunks' });
    setTimeout(() => profiler.stop(), 20);
    for await (const chunk of profiler);
  }`,
  'that profiled all threads': `async ({ profileThreads }) =>
    (await profileThreads({ sampleInterval: 1, maxBufferSize: 100, includeEntries: true })).stop()`,
};
for (const [name, use] of Object.entries(USES)) {
  test(`copies of the package ${name} are collected, but for the one that made the agent`, async () => {
    assert.ok((await copiesLeft(use)) <= 1);
  });
}
