// What a page has to load.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';

const DIST = path.join(import.meta.dirname, '..', 'dist');

/** In bytes, gzipped. */
const LIMIT = 4_000;

for (const name of ['index.js', 'selfprof.js']) {
  it(`${name} has at most ${LIMIT} bytes`, () => {
    const code = fs.readFileSync(path.join(DIST, name));
    const { length } = gzipSync(code, { level: 9 });
    assert.ok(length <= LIMIT, `${length} bytes`);
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
