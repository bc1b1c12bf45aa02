// What a page has to load.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';

const DIST = path.join(import.meta.dirname, '..', 'dist');

/** In bytes, gzipped. */
const LIMITS = { 'index.js': 4_000, 'selfprof.js': 4_000, 'polyfill.js': 3_000, 'tracing.js': 3_000 };

for (const [name, limit] of Object.entries(LIMITS)) {
  it(`${name} has at most ${limit} bytes`, () => {
    // The words of the template become names of two letters.
    const code = fs
      .readFileSync(path.join(DIST, name), 'utf8')
      .replace(/\bSELFPROF_(?!FUNCTIONS)([A-Z])[A-Z]+/g, '$$$1');
    const { length } = gzipSync(code, { level: 9 });
    assert.ok(length <= limit, `${length} bytes`);
    assert.doesNotMatch(code, /\bimport\b|\brequire\b/);
  });
}

it('the module has the same functions as the script', async () => {
  const module = await import(path.join(DIST, 'index.js'));
  const context = vm.createContext();
  vm.runInContext(fs.readFileSync(path.join(DIST, 'selfprof.js'), 'utf8'), context);
  const names = vm.runInContext('Object.keys(selfprof)', context);
  // It says to the instrumenter that it is the agent.
  assert.deepEqual(['checks', ...Object.keys(module)], [...names]);
});

it('the template of the runtime has the words that are replaced', () => {
  const code = fs.readFileSync(path.join(DIST, 'polyfill.js'), 'utf8');
  const words = ['ENTER', 'CHECK', 'LEAVE', 'NATIVE', 'SCAN', 'RESUME', 'FUNCTIONS'].map((word) => `SELFPROF_${word}`);
  assert.deepEqual(new Set(code.match(/\bSELFPROF_\w+/g)), new Set(words));
  assert.equal(code.match(/[`'"]SELFPROF_FUNCTIONS[`'"]/g).length, 1);
  assert.ok(code.startsWith('let SELFPROF_LEAVE=v=>'));
});

it('the template of the tracing runtime has the words that are replaced', () => {
  const code = fs.readFileSync(path.join(DIST, 'tracing.js'), 'utf8');
  const words = ['ACTIVE', 'ENTRY', 'EXIT', 'FIRST', 'FUNCTIONS'].map((word) => `SELFPROF_${word}`);
  assert.deepEqual(new Set(code.match(/\bSELFPROF_\w+/g)), new Set(words));
  assert.equal(code.match(/[`'"]SELFPROF_FUNCTIONS[`'"]/g).length, 1);
  assert.ok(code.startsWith('let SELFPROF_ACTIVE=false,SELFPROF_ENTRY,SELFPROF_EXIT,SELFPROF_FIRST;'));
});
