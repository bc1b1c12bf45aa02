// Scripts and modules of pages run like those of node:vm.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

import { PACKAGE, runNode } from '../../../selfprof/test/program.mjs';
import { CONTEXTS, Realm, Session, native, open } from './realm-sessions.mjs';

const REALM = JSON.stringify(fileURLToPath(new URL('../../src/page/scripts/realm.cjs', import.meta.url)));

suite('a classic script', () => {
  for (const [index, makeContext] of CONTEXTS.entries()) {
    test(`has the global scope of its context (${index})`, () => {
      const context = makeContext();
      const realm = new Realm(context);
      const url = 'https://a.example/';
      assert.equal(realm.run('var a = 1; let b = 2; const c = 3; class D {} a + b', url), 3);
      assert.equal(realm.run('a + b + c + D.name', url), '6D');
      assert.equal(realm.run('this === globalThis', url), true);
      assert.equal(vm.runInContext('a + b + c', context), 6);
      assert.equal(realm.run('undefined', url), undefined);
      assert.notEqual(realm.run('Array', url), Array);
      assert.throws(() => realm.run('let b', url), { name: 'SyntaxError', message: /already been declared/ });
      realm.close();
    });
  }

  test('throws the same values, also through scripts of other realms', () => {
    const [a, b] = open({}, {});
    const thrown = [new Error('x'), 5, null, undefined, Symbol('s'), {}];
    for (const value of thrown) {
      a.global.value = b.global.value = value;
      a.global.inner = () => b.run('throw value', 'https://b.example/');
      try {
        a.run('inner()', 'https://a.example/');
        assert.fail('nothing was thrown');
      } catch (error) {
        assert.equal(error, value);
      }
      assert.equal(a.run('try { inner() } catch (error) { error === value }', 'https://a.example/'), true);
    }
    a.close();
    b.close();
  });

  test('has errors of its own realm, with its own positions', () => {
    const [realm] = open({});
    const at = { line: 9, column: 4 };
    const url = 'https://a.example/x.js';
    for (const [source, name, position] of [
      ['throw new RangeError("r")', 'RangeError', '10:11'],
      ['\n\n  nothing()', 'ReferenceError', '12:3'],
    ]) {
      try {
        realm.run(source, url, at);
        assert.fail('nothing was thrown');
      } catch (error) {
        assert.ok(error instanceof realm.run(name, url));
        assert.ok(!(error instanceof Error));
        assert.match(error.stack, new RegExp(`${url}:${position}`));
      }
    }
    assert.throws(
      () => realm.run('let = ;', url),
      (error) => error instanceof realm.run('SyntaxError', url),
    );
    realm.close();
  });

  test('may run another, and outlives its realm', () => {
    const [realm] = open({});
    realm.global.write = (text) => realm.run(text, 'https://a.example/written.js');
    assert.equal(realm.run('write("var x = write(\'7\')"); x', 'https://a.example/'), 7);
    const later = realm.run('(() => x)', 'https://a.example/');
    realm.close();
    assert.equal(later(), 7);
  });
});

/** Compiles modules, given as source texts by URL, and links them by their specifiers. */
function compileAll(realm, sources) {
  const modules = new Map(Object.entries(sources).map(([url, source]) => [url, realm.compileModule(source, url)]));
  for (const module of modules.values()) {
    module.link(module.requests.map(([specifier, ...attributes]) => modules.get([specifier, ...attributes].join(' '))));
  }
  return modules;
}

suite('a module', () => {
  test('imports other modules, also in a cycle', async () => {
    const [realm] = open({});
    const modules = compileAll(realm, {
      a: 'import { b, twice } from "b"; export const a = b + 1; export default () => twice(a);',
      b: 'import { a } from "a"; import * as c from "c"; export const b = c.c; export const twice = (x) => 2 * x; export const late = () => a;',
      c: 'await null; export const c = 20;',
    });
    const a = modules.get('a');
    assert.equal(a.namespace, undefined);
    a.instantiate();
    const promise = a.evaluate();
    assert.equal(a.evaluate(), promise);
    await promise;
    assert.equal(a.namespace.default(), 42);
    assert.equal(modules.get('b').namespace.late(), 21);
    assert.equal(a.namespace[Symbol.toStringTag], 'Module');
    realm.close();
  });

  test('tells import attributes apart', async () => {
    const [realm] = open({});
    const modules = compileAll(realm, {
      a: 'import plain from "x"; import json from "x" with { type: "json" }; export default [plain, json];',
      x: 'export default "plain";',
      'x type json': 'export default "json";',
    });
    assert.deepEqual(modules.get('a').requests, [['x'], ['x', 'type', 'json']]);
    modules.get('a').instantiate();
    await modules.get('a').evaluate();
    assert.deepEqual([...modules.get('a').namespace.default], ['plain', 'json']);
    realm.close();
  });

  test('belongs to its realm', async () => {
    const realms = open({}, {});
    const sessions = realms.map((realm) => new Session(realm));
    for (const [index, realm] of realms.entries()) {
      const modules = compileAll(realm, {
        'https://x.example/m.js': `import { f } from "https://x.example/n.js"; sample(); f(); function g${index}() { sample(); } g${index}();`,
        'https://x.example/n.js': `export function f() { sample(); }`,
      });
      const module = modules.get('https://x.example/m.js');
      module.instantiate();
      await module.evaluate();
    }
    const samples = await Promise.all(sessions.map((session) => session.samples()));
    for (const realm of realms) realm.close();
    assert.deepEqual(samples, [
      ['script ', 'script  f', 'script  g0', '-', '-', '-'],
      ['-', '-', '-', 'script ', 'script  f', 'script  g1'],
    ]);
  });

  test('fails as ECMAScript specifies', async () => {
    const [realm] = open({});
    const error = (name) => (thrown) => thrown instanceof realm.run(name, 'x');
    assert.throws(() => realm.compileModule('import', 'x'), error('SyntaxError'));
    const missing = compileAll(realm, { a: 'import { nothing } from "b";', b: '' });
    assert.throws(() => missing.get('a').instantiate(), error('SyntaxError'));
    assert.throws(() => missing.get('a').instantiate(), error('SyntaxError'));
    const throwing = compileAll(realm, { a: 'import "b";', b: 'throw new RangeError("x")' });
    throwing.get('a').instantiate();
    await assert.rejects(throwing.get('a').evaluate(), error('RangeError'));
    await assert.rejects(throwing.get('a').evaluate(), error('RangeError'));
    assert.throws(() => throwing.get('b').link([]), /imports are not linked/);
    realm.close();
  });

  test('has the import.meta that the host defines', async () => {
    assert.equal(
      native.onImportMeta((meta, url) => Object.assign(meta, { url, of: 'page' })),
      true,
    );
    const [realm] = open({});
    const module = realm.compileModule(
      'export default import.meta; export const same = import.meta === import.meta',
      'https://a.example/m.js',
    );
    module.link([]);
    module.instantiate();
    await module.evaluate();
    assert.equal(module.namespace.default.url, 'https://a.example/m.js');
    assert.equal(module.namespace.default.of, 'page');
    assert.equal(module.namespace.same, true);
    // The program's own modules keep their own import.meta.
    const own = await import('data:text/javascript,export default import.meta');
    assert.match(own.default.url, /^data:/);
    assert.equal(own.default.of, undefined);
    native.onImportMeta(() => {
      throw new Error('of the host');
    });
    const other = realm.compileModule('export default Object.keys(import.meta)', 'https://a.example/n.js');
    other.link([]);
    other.instantiate();
    await other.evaluate();
    assert.deepEqual([...other.namespace.default], []);
    realm.close();
  });
});

suite('the end of a process or a worker', () => {
  const page = (source) => `
    const vm = require('node:vm');
    const { Realm } = require(${REALM});
    const native = require(${JSON.stringify(`${PACKAGE}src/native.cjs`)});
    const realm = new Realm(vm.createContext({}));
    const listener = { onFull() {}, onChunk() {} };
    realm.open({ sampleInterval: 1, maxBufferSize: 1e6 }, listener);
    native.onImportMeta((meta) => { meta.x = 1; });
    globalThis.kept = realm.compileModule('export default import.meta', 'https://a.example/m.js');
    kept.link([]); kept.instantiate(); kept.evaluate();
    Object.assign(realm.run('globalThis', 'setup:'), { process, force: () => realm.forceSample() });
    ${source}`;

  test('process.exit() in a script', async () => {
    const ended = await runNode(['--eval', page('realm.run("force(); process.exit(3)", "https://a.example/")')]);
    assert.deepEqual(ended, { code: 3, signal: null, stdout: '', stderr: '' });
  });

  test('an uncaught error', async () => {
    const { code, stderr } = await runNode([
      '--eval',
      page('realm.run("throw new Error(`lost`)", "https://a.example/x.js")'),
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /lost[\s\S]*https:\/\/a\.example\/x\.js:1:7/);
  });

  test('workers that are terminated while a script runs, that exit in a script, and that end by themselves', async () => {
    const source = `
      const { Worker } = require('node:worker_threads');
      const page = ${JSON.stringify(page(''))};
      const start = (rest) => new Worker(page + rest, { eval: true });
      const ready = (worker) => new Promise((resolve) => worker.once('message', resolve));
      const ended = (worker) => new Promise((resolve) => worker.once('exit', resolve));
      const post = 'require("node:worker_threads").parentPort.postMessage(1);';
      (async () => {
        for (let round = 0; round < 5; round++) {
          const endless = start(post + 'realm.run("for (;;) force();", "https://a.example/")');
          const exiting = start('realm.run("force(); process.exit(3)", "https://a.example/")');
          const ending = start('realm.run("force()", "https://a.example/")');
          const codes = [endless, exiting, ending].map(ended);
          await ready(endless);
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
          await endless.terminate();
          console.log((await Promise.all(codes)).join(' '));
        }
      })();`;
    const ended = await runNode(['--eval', source]);
    assert.deepEqual(ended, { code: 0, signal: null, stdout: '1 3 0\n'.repeat(5), stderr: '' });
  });
});
