// Functions of native addons, which all have the same entry point, have no wrong name.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';

import { PACKAGE, runProgram } from './program.mjs';

// An addon from npm that is made with Node-API. The report's build tool uses it.
const ADDON = createRequire(import.meta.url).resolve('lightningcss');

const LOAD_ADDON = `
  const { transform } = require(${JSON.stringify(ADDON)});
  const code = Buffer.from('.a { color: red; & .b { width: calc(1px + 2px) } }'.repeat(2000));
  transform({ filename: 'a.css', code });
`;
const LOAD_PROFILER = `const { Profiler } = require(${JSON.stringify(PACKAGE)});`;
const START = 'const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10_000 });';

/** Which native functions are on top of the stack while the addon works, and how often. */
const COUNT = `
  const end = performance.now() + 200;
  while (performance.now() < end) for (let round = 0; round < 20; round++) transform({ filename: 'a.css', code });
  profiler.stop().then(({ samples, stacks, frames }) => {
    const counts = {};
    for (const { stackId, marker } of samples) {
      if (stackId === undefined || marker === 'gc') continue;
      const { name, resourceId } = frames[stacks[stackId].frameId];
      if (resourceId === undefined) counts[name] = (counts[name] ?? 0) + 1;
    }
    console.log(JSON.stringify(counts));
  });
`;

const ORDERS = {
  'before the profiler': [LOAD_ADDON, LOAD_PROFILER, START],
  'after the profiler': [LOAD_PROFILER, LOAD_ADDON, START],
  'while it is profiled': [LOAD_PROFILER, START, LOAD_ADDON],
};

suite('functions of an addon', () => {
  for (const [order, parts] of Object.entries(ORDERS)) {
    // A collection moves functions, and with them the one whose name V8 shows.
    for (const collect of ['', 'gc(); gc();']) {
      test(`that is loaded ${order}${collect === '' ? '' : ', after a collection'}`, async () => {
        const program = [...parts.slice(0, -1), collect, parts.at(-1), COUNT].join('\n');
        const { stdout, stderr } = await runProgram(program, { execArgv: ['--expose-gc'] });
        const counts = JSON.parse(stdout || '{}');
        // Others, such as `require` and `readFileSync`, are Node's.
        const [most] = Object.entries(counts).sort(([, a], [, b]) => b - a)[0] ?? [];
        assert.equal(most, '(native addon)', stdout + stderr);
        assert.ok(counts[most] > 10, stdout);
      });
    }
  }
});
