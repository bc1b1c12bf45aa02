// What page threads share of the host's modules.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';

const require = createRequire(import.meta.url);
const { ModuleStore } = require('../src/main-realm/module-store.cjs');

const FILES = {
  'package.json': '{ "name": "one" }',
  'index.js': "'ä €'; function used() { return 1; } used();",
  'lib/data.json': '[1]',
  'node_modules/two/package.json': '{ "name": "two", "type": "module", "exports": { "import": "./two.js" } }',
  'node_modules/two/two.js': 'export {};',
};

/** A folder with these files, and their paths. */
function write(t) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-')));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(FILES)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  return { folder, at: (name) => path.join(folder, name) };
}

const compile = (source, cachedData) => new vm.Script(source, { cachedData });

test('a thread starts with what another has loaded, and reads nothing again', (t) => {
  const { folder, at } = write(t);
  const load = (store) => ({
    source: store.source(at('index.js')),
    kinds: ['index.js', 'lib/data.json', 'node_modules/two/two.js'].map((name) => store.kind(at(name))),
    resolved: store.resolve('./lib/data', at('index.js')),
    script: store.script('dom', at('index.js'), compile),
  });
  const first = new ModuleStore();
  const { script, ...expected } = load(first);
  assert.deepEqual(expected, {
    source: FILES['index.js'],
    kinds: ['cjs', 'json', 'esm'],
    resolved: at('lib/data.json'),
  });
  script.runInThisContext();
  const packed = structuredClone(first.pack());

  fs.rmSync(folder, { recursive: true });
  const second = new ModuleStore(packed);
  const { script: other, ...again } = load(second);
  assert.deepEqual(again, expected);
  assert.equal(other.cachedDataRejected, false);
  assert.throws(() => second.source(at('package.json')), { code: 'ENOENT' });
});

test('realms of a kind share a script, and those of another kind have their own', (t) => {
  const { at } = write(t);
  const store = new ModuleStore();
  const script = store.script('window', at('index.js'), compile);
  assert.equal(store.script('window', at('index.js'), compile), script);
  assert.notEqual(store.script('dom', at('index.js'), compile), script);
});

test('what one thread had no need of is found and read by the next', (t) => {
  const { at } = write(t);
  const store = new ModuleStore(new ModuleStore().pack());
  assert.equal(store.source(at('index.js')), FILES['index.js']);
  assert.equal(store.resolve('two', at('node_modules/two/two.js')), at('node_modules/two/two.js'));
  assert.throws(() => store.resolve('./none', at('index.js')), /there is no file/);
});
