// Real bundles do the same instrumented as plain, whether a profiler has started or not.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';

import { instrumentFolder } from '@selfprof/instrument';

import { temporaryFolder, useCountingRuntime } from './package-folder.mjs';

const require = createRequire(import.meta.url);

const folderOf = (name) => path.dirname(require.resolve(`${name}/package.json`));

/** Loads a CommonJS bundle as a function in this realm, where the runtime may have run. */
function load(file, required = {}) {
  const code = fs.readFileSync(file, 'utf8');
  const wrapped = vm.runInThisContext(`(function (module, exports, require, __filename, __dirname) {${code}\n})`, {
    filename: file,
  });
  const module = { exports: {} };
  const find = (name) => required[name] ?? require(name);
  wrapped.call(module.exports, module, module.exports, find, file, path.dirname(file));
  return module.exports;
}

const MARKDOWN = fs.readFileSync(path.join(import.meta.dirname, '..', '..', '..', 'CONTRIBUTING.md'), 'utf8');

const CASES = {
  marked: {
    files: { 'marked.cjs': [folderOf('marked'), 'lib/marked.umd.js'] },
    run: (folder) => load(path.join(folder, 'marked.cjs')).parse(MARKDOWN),
    atLeast: 5_000,
  },
  'react-dom': {
    files: {
      'react.js': [folderOf('react'), 'cjs/react.production.min.js'],
      'server.js': [folderOf('react-dom'), 'cjs/react-dom-server-legacy.node.production.min.js'],
    },
    run(folder) {
      const react = load(path.join(folder, 'react.js'));
      const { renderToString } = load(path.join(folder, 'server.js'), { react });
      const Row = ({ depth }) =>
        react.createElement('div', { style: { margin: depth } }, `é${depth}`, ...rows(depth > 0 ? depth - 1 : 0));
      const rows = (depth) => (depth > 0 ? [1, 2, 3].map((key) => react.createElement(Row, { key, depth })) : []);
      return renderToString(react.createElement(Row, { depth: 7 }));
    },
    atLeast: 5_000,
  },
  typescript: {
    files: { 'typescript.js': [folderOf('typescript'), 'lib/typescript.js'] },
    run(folder) {
      const ts = load(path.join(folder, 'typescript.js'));
      const source = `
        interface Price<T extends number> { readonly value: T }
        enum Kind { A = 'a', B = 'b' }
        export class Cart { #prices: Price<number>[] = []; add = async (p: Price<number>) => { this.#prices.push(p) } }
        export const total = (prices: Price<number>[]) => prices.reduce((sum, { value }) => sum + value, 0) satisfies number;
        const wrong: string = total([]);
      `.repeat(3);
      const options = { target: ts.ScriptTarget.ES2018, module: ts.ModuleKind.CommonJS, noLib: true };
      const host = {
        ...ts.createCompilerHost(options),
        getSourceFile: (name) => name === 'a.ts' && ts.createSourceFile(name, source, options.target),
        writeFile: () => {},
      };
      const program = ts.createProgram(['a.ts'], options, host);
      const diagnostics = ts.getPreEmitDiagnostics(program).map(({ code, start }) => [code, start]);
      return JSON.stringify([ts.transpileModule(source, { compilerOptions: options }).outputText, diagnostics]);
    },
    atLeast: 2_000,
  },
};

for (const [name, { files, run, atLeast }] of Object.entries(CASES)) {
  test(`${name} does the same`, async (t) => {
    useCountingRuntime(t);
    const folder = temporaryFolder(t);
    for (const [copy, source] of Object.entries(files)) fs.copyFileSync(path.join(...source), path.join(folder, copy));
    const result = await instrumentFolder(folder);
    assert.equal(result.scripts, Object.keys(files).length);
    const growth = result.bytes.instrumented / result.bytes.plain;
    assert.ok(growth > 1.01 && growth < 1.25, `the text grows by a factor of ${growth}`);

    const plain = run(folder);
    assert.ok(plain.length > atLeast, `${plain.length} characters`);
    const code = fs.readFileSync(path.join(result.folder, 'selfprof-polyfill.js'), 'utf8');
    // The bundles of several tests have different names in use, and one global scope.
    const scope = code.replace(/^let /, 'var ');
    assert.equal(run(result.folder), plain, 'without a runtime');
    vm.runInThisContext(scope);
    assert.equal(run(result.folder), plain, 'with the runtime');
    assert.equal(globalThis.counter.ticks(), 0);
    globalThis.counter.start();
    // The next bundle may have some other names, and must find none.
    t.after(() => {
      globalThis.counter.stop();
      for (const [name] of /^.*?;$/ms.exec(code)[0].matchAll(/\$\w+/g)) globalThis[name] = undefined;
    });
    assert.equal(run(result.folder), plain, 'while a profiler runs');
    assert.ok(globalThis.counter.ticks() > 1_000, `${globalThis.counter.ticks()} ticks`);
  });
}
