// Each bundler writes what it writes without the plugin, and the instrumented output beside it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { instrumentFolder } from '@selfprof/instrument';
import esbuildPlugin from '@selfprof/instrument/esbuild';
import rolldownPlugin from '@selfprof/instrument/rolldown';
import rollupPlugin from '@selfprof/instrument/rollup';
import rspackPlugin from '@selfprof/instrument/rspack';
import vitePlugin from '@selfprof/instrument/vite';
import webpackPlugin from '@selfprof/instrument/webpack';
import { rspack } from '@rspack/core';
import esbuild from 'esbuild';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { build as viteBuild } from 'vite';
import webpack from 'webpack';

import { filesOf, temporaryFolder, useCountingRuntime, write } from './package-folder.mjs';

const SOURCES = {
  'package.json': '{ "type": "module" }',
  'index.html':
    '<!doctype html><html><head><title>é</title></head><body><script type="module" src="/main.js"></script></body></html>',
  'main.js': `import { total } from './prices.js';
    export function show(prices) { const sum = total(prices); document.title = String(sum); return sum }
    show([1, 2, 3]); import('./lazy.js').then(({ lazily }) => lazily());`,
  'prices.js': `export function total(prices) { let sum = 0; for (const price of prices) sum += price; return sum }`,
  'lazy.js': `export async function lazily() { for (const word of 'a b'.split(' ')) await word; console.log('lazy') }`,
  'public/static.txt': 'text',
};

/** Builds in a folder; `plugins` are those of this package, or none. */
const BUNDLERS = {
  async vite(folder, plugins) {
    await viteBuild({ root: folder, logLevel: 'error', configFile: false, plugins });
  },
  async rollup(folder, plugins) {
    const bundle = await rollup({ input: path.join(folder, 'main.js'), plugins });
    await bundle.write({ dir: path.join(folder, 'dist') });
    await bundle.close();
  },
  async rolldown(folder, plugins) {
    const bundle = await rolldown({ input: path.join(folder, 'main.js'), plugins });
    await bundle.write({ dir: path.join(folder, 'dist') });
    await bundle.close();
  },
  async webpack(folder, plugins) {
    await runCompiler(webpack(compilerOptions(folder, plugins)));
  },
  async rspack(folder, plugins) {
    await runCompiler(rspack(compilerOptions(folder, plugins)));
  },
  async esbuild(folder, plugins) {
    const entryPoints = [path.join(folder, 'main.js')];
    const outdir = path.join(folder, 'dist');
    await esbuild.build({
      entryPoints,
      outdir,
      bundle: true,
      splitting: true,
      format: 'esm',
      logLevel: 'error',
      plugins,
    });
  },
};

const compilerOptions = (folder, plugins) => ({
  mode: 'production',
  context: folder,
  entry: './main.js',
  output: { path: path.join(folder, 'dist') },
  plugins,
});

async function runCompiler(compiler) {
  const stats = await promisify(compiler.run.bind(compiler))();
  assert.equal(stats.hasErrors(), false, stats.toString());
  await promisify(compiler.close.bind(compiler))();
}

const PLUGINS = {
  vite: vitePlugin,
  rollup: rollupPlugin,
  rolldown: rolldownPlugin,
  webpack: webpackPlugin,
  rspack: rspackPlugin,
  esbuild: esbuildPlugin,
};

for (const [name, build] of Object.entries(BUNDLERS)) {
  test(name, async (t) => {
    useCountingRuntime(t);
    const folder = temporaryFolder(t);
    write(folder, SOURCES);
    await build(folder, []);
    const plain = filesOf(path.join(folder, 'dist'));
    fs.rmSync(path.join(folder, 'dist'), { recursive: true });

    await build(folder, [PLUGINS[name]({ sampleRate: 1, minStatements: 0 })]);
    const files = filesOf(path.join(folder, 'dist'));
    const isSecond = (file) => file.startsWith(`selfprof${path.sep}`);
    const first = Object.keys(files).filter((file) => !isSecond(file));
    assert.deepEqual(first, Object.keys(plain));
    for (const file of first.filter((file) => !file.endsWith('.html'))) assert.equal(files[file], plain[file], file);

    const scripts = first.filter((file) => file.endsWith('.js'));
    assert.ok(scripts.length >= 2, scripts.join());
    const table = JSON.parse(files['selfprof/selfprof-functions.json']);
    for (const file of scripts) {
      assert.match(files[`selfprof/${file}`], /^(?:"use strict";)?typeof \$\w+=="undefined"/, file);
      assert.ok(table.files[file].functions.length > 0, file);
    }
    assert.ok(files['selfprof/selfprof-polyfill.js'].startsWith('let $'));
    if (name !== 'vite') return;

    assert.equal(files['selfprof/static.txt'], 'text');
    const page = files['index.html'];
    assert.match(page, /<head><script data-selfprof-chooser>/);
    assert.ok(page.includes('/selfprof/selfprof-polyfill.js'), page);
    assert.match(page, /\\u003cscript type=\\"module\\" crossorigin src=\\"\/selfprof\/assets\/index-[^"]*\.js\\">/);
    assert.match(page, /<script type="module" crossorigin src="\/assets\/index-[^"]*\.js"><\/script><!---->/);
  });
}

test('Vite builds for servers and pages that must not change are left alone', async (t) => {
  useCountingRuntime(t);
  const folder = temporaryFolder(t);
  write(folder, SOURCES);
  const root = { root: folder, logLevel: 'error', configFile: false };
  await viteBuild({ ...root, build: { ssr: 'main.js' }, plugins: [vitePlugin()] });
  assert.equal(fs.existsSync(path.join(folder, 'dist/selfprof')), false);
  await viteBuild(root);
  const plain = fs.readFileSync(path.join(folder, 'dist/index.html'), 'utf8');
  await viteBuild({ ...root, plugins: [vitePlugin({ html: false, outDir: 'other/place', exclude: ['lazy-*'] })] });
  const files = filesOf(path.join(folder, 'dist'));
  assert.equal(files['index.html'], plain);
  const lazy = Object.keys(files).find((file) => /other\/place\/assets\/lazy-.*\.js$/.test(file));
  assert.equal(files[lazy], files[lazy.replace('other/place/', '')]);
});

test('compressed copies of pages that choose are named', async (t) => {
  useCountingRuntime(t);
  const folder = temporaryFolder(t);
  write(folder, {
    'index.html': '<head></head><script src="app.js"></script>',
    'app.js': SOURCES['prices.js'].slice(7),
  });
  write(folder, { 'index.html.gz': 'before', 'app.js.br': 'plain' });
  const warn = t.mock.method(console, 'warn', () => {});
  const { choosingPages } = await instrumentFolder(folder);
  assert.deepEqual(choosingPages, ['index.html']);
  assert.deepEqual(warn.mock.calls.length, 1);
  assert.match(warn.mock.calls[0].arguments[0], /index\.html\.gz has the page before it chose/);
  assert.deepEqual((await instrumentFolder(folder)).choosingPages, [], 'the page chooses already');
  assert.equal(fs.existsSync(path.join(folder, 'selfprof/app.js.br')), false);
});

test('an agent that may choose other sessions than the pages is named', async (t) => {
  useCountingRuntime(t);
  const module = createRequire(import.meta.url).resolve('@selfprof/browser');
  const agent = fs.readFileSync(module, 'utf8').replace('export const', 'const');
  const warn = t.mock.method(console, 'warn', () => {});
  const warnings = async (script, options) => {
    const folder = temporaryFolder(t);
    write(folder, { 'index.html': '<head></head><script src="app.js"></script>', 'app.js': script });
    warn.mock.resetCalls();
    await instrumentFolder(folder, options);
    return warn.mock.calls.map(({ arguments: [text] }) => text);
  };
  const app = `${SOURCES['prices.js'].slice(7)}\n`;
  const [warning, ...others] = await warnings(app + agent);
  assert.match(warning, /set `app` to that of @selfprof\/browser/);
  assert.deepEqual(others, []);
  assert.deepEqual(await warnings(app + agent, { app: 'shop' }), []);
  assert.deepEqual(await warnings(app + agent, { html: false }), []);
  assert.deepEqual(await warnings(app), []);
});

test('options that do not exist are errors before the build', async (t) => {
  useCountingRuntime(t);
  const folder = temporaryFolder(t);
  write(folder, SOURCES);
  const check = async (options, message) => {
    const expected = { name: 'TypeError', message: `@selfprof/instrument: ${message}` };
    assert.throws(() => vitePlugin(options), expected);
    await assert.rejects(instrumentFolder(folder, options), expected);
  };
  for (const [name, option] of Object.entries({
    samplerate: 'sampleRate',
    sampelRate: 'sampleRate',
    rate: 'sampleRate',
    outdir: 'outDir',
    excludes: 'exclude',
    'source-map': 'sourceMap',
    sourcemaps: 'sourceMap',
    'min-statements': 'minStatements',
    function: 'functions',
    mod: 'mode',
    apps: 'app',
  }))
    await check({ [name]: 1 }, `there is no option \`${name}\`; did you mean \`${option}\`?`);
  await check(
    { app: 'shop', verbose: true },
    'there is no option `verbose`; there are outDir, sampleRate, when, app, html, include, exclude, mode, functions, minStatements, sourceMap',
  );
  await check({ when: 'allways' }, "`when` must be 'no-api' or 'always', not \"allways\"");
  await check({ mode: 'calls' }, "`mode` must be 'sample' or 'trace', not \"calls\"");
  await check({ sampleRate: 5 }, '`sampleRate` must be a number from 0 to 1, not 5');
  await check({ exclude: 'vendor.js' }, '`exclude` must be an array of patterns');
  await check('dist', 'the options must be an object');
  assert.equal(fs.existsSync(path.join(folder, 'selfprof')), false);
  // An option may be there without a value.
  assert.ok(vitePlugin({ app: undefined, sampleRate: 1, when: 'always', mode: 'trace' }));
});

test('patterns that match no function are named', async (t) => {
  useCountingRuntime(t);
  const folder = temporaryFolder(t);
  write(folder, { 'app.js': 'function known(a) { for (;;) return a }' });
  const warn = t.mock.method(console, 'warn', () => {});
  await instrumentFolder(folder, { mode: 'trace', functions: ['known', 'unknown*'] });
  assert.deepEqual(
    warn.mock.calls.map(({ arguments: [text] }) => text),
    ['@selfprof/instrument: no function matches `unknown*` of `functions`'],
  );
  await assert.rejects(
    instrumentFolder(folder, { mode: 'trace', functions: [''] }),
    /--functions has an empty pattern/,
  );
});

test('what goes wrong ends the build, and is said', async (t) => {
  useCountingRuntime(t);
  const folder = temporaryFolder(t);
  write(folder, SOURCES);
  const build = (options) =>
    viteBuild({ root: folder, logLevel: 'silent', configFile: false, plugins: [vitePlugin(options)] });
  await assert.rejects(build({ outDir: '../other' }), /outDir must be inside of/);
  await assert.rejects(build({ exclude: ['{'] }), /--exclude has a bad pattern/);
  process.env.SELFPROF_NPM = folder;
  await assert.rejects(build(), /SELFPROF_NPM is .*, which is not the npm package `selfprof`/);
});
