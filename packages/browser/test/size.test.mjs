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
    const code = fs.readFileSync(path.join(DIST, name));
    const { length } = gzipSync(code, { level: 9 });
    assert.ok(length <= limit, `${length} bytes`);
    assert.doesNotMatch(code.toString(), /\bimport\b|\brequire\b/);
  });
}

it('the module has the same functions as the script', async () => {
  const module = await import(path.join(DIST, 'index.js'));
  const context = vm.createContext();
  vm.runInContext(fs.readFileSync(path.join(DIST, 'selfprof.js'), 'utf8'), context);
  const names = vm.runInContext('Object.keys(selfprof)', context);
  assert.deepEqual(Object.keys(module), [...names]);
});

it('the template of the runtime has the words that are replaced', () => {
  const code = fs.readFileSync(path.join(DIST, 'polyfill.js'), 'utf8');
  const words = ['ACTIVE', 'COUNTDOWN', 'ENTER', 'CHECK', 'NATIVE', 'FUNCTIONS'].map((word) => `SELFPROF_${word}`);
  assert.deepEqual(new Set(code.match(/\bSELFPROF_\w+/g)), new Set(words));
  assert.equal(code.match(/[`'"]SELFPROF_FUNCTIONS[`'"]/g).length, 1);
  assert.ok(
    code.startsWith('let SELFPROF_ACTIVE=false,SELFPROF_COUNTDOWN=0,SELFPROF_ENTER,SELFPROF_CHECK,SELFPROF_NATIVE;'),
  );
});

it('the template of the tracing runtime has the words that are replaced', () => {
  const code = fs.readFileSync(path.join(DIST, 'tracing.js'), 'utf8');
  const words = ['ACTIVE', 'ENTER', 'EXIT', 'FIRST', 'FUNCTIONS'].map((word) => `SELFPROF_${word}`);
  assert.deepEqual(new Set(code.match(/\bSELFPROF_\w+/g)), new Set(words));
  assert.equal(code.match(/[`'"]SELFPROF_FUNCTIONS[`'"]/g).length, 1);
  assert.ok(code.startsWith('let SELFPROF_ACTIVE=false,SELFPROF_ENTER,SELFPROF_EXIT,SELFPROF_FIRST;'));
});
