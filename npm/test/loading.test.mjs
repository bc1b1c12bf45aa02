// The ways into the package, and what they say when it cannot work.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';

import { PACKAGE, runNode, runProgram } from './program.mjs';

const require = createRequire(import.meta.url);
const addonName = (modules) => `selfprof-${process.platform}-${process.arch}-${modules}.node`;
const ADDON = addonName(process.versions.modules);

/** A directory that is removed after the test. */
function temporary(t) {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-')));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** An application that has the package in its node_modules. `addons` become the files of its `native`. */
function application(t, addons = { [ADDON]: path.join(PACKAGE, 'native', ADDON) }) {
  const directory = temporary(t);
  const installed = path.join(directory, 'node_modules', 'selfprof');
  fs.cpSync(PACKAGE, installed, {
    recursive: true,
    filter: (source) => !['native', 'test', 'node_modules'].includes(path.relative(PACKAGE, source)),
  });
  if (addons !== null) {
    fs.mkdirSync(path.join(installed, 'native'));
    for (const [name, source] of Object.entries(addons)) {
      const file = path.join(installed, 'native', name);
      if (source === null) fs.writeFileSync(file, '');
      else fs.copyFileSync(source, file);
    }
  }
  return directory;
}

/** Runs `node ...args FILE` in an application, where FILE holds `source`. */
function runFile(directory, file, source, args = [], env = {}) {
  fs.writeFileSync(path.join(directory, file), source);
  return runNode([...args, file], { cwd: directory, env });
}

const PROFILE = `
  const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
  for (const end = performance.now() + 100; performance.now() < end; );
  profiler.stop().then(({ samples }) => console.log(samples.length > 2));
`;

suite('an application', () => {
  for (const [what, file, source, args] of [
    ['requires it', 'main.cjs', `const { Profiler } = require('selfprof'); ${PROFILE}`],
    ['imports it', 'main.mjs', `import { Profiler } from 'selfprof'; ${PROFILE}`],
    ['requires it lazily', 'main.cjs', `const { Profiler } = require('selfprof/lazy'); ${PROFILE}`],
    ['imports it lazily', 'main.mjs', `import { Profiler } from 'selfprof/lazy'; ${PROFILE}`],
    ['registers it by --import', 'main.mjs', PROFILE, ['--import', 'selfprof/register']],
    ['registers it by --require', 'main.cjs', PROFILE, ['--require', 'selfprof/register']],
    ['registers it in its code', 'main.mjs', `import 'selfprof/register'; ${PROFILE}`],
    ['requires its directory', 'main.cjs', `const { Profiler } = require('./node_modules/selfprof'); ${PROFILE}`],
  ]) {
    test(what, async (t) => {
      const { stdout, stderr, code } = await runFile(application(t), file, source, args);
      assert.deepEqual({ stdout, stderr, code }, { stdout: 'true\n', stderr: '', code: 0 });
    });
  }

  test('gets the same from all entries', async (t) => {
    const { stdout, stderr } = await runFile(
      application(t),
      'main.mjs',
      `
      import { createRequire } from 'node:module';
      import * as eager from 'selfprof';
      import * as lazy from 'selfprof/lazy';
      import 'selfprof/register';
      const required = createRequire(import.meta.url)('selfprof');
      const [names, ...others] = [eager, lazy, required].map((entry) => Object.keys(entry).sort().join(' '));
      console.log(names);
      console.log(others.every((other) => other === names));
      console.log(names.split(' ').every((name) => new Set([eager[name], lazy[name], required[name]]).size === 1));
      console.log(globalThis.Profiler === eager.Profiler, globalThis.performance === eager.performance);
    `,
    );
    const performance = ['', 'Entry', 'Mark', 'Measure', 'Observer', 'ObserverEntryList'].map((end) => `Performance${end}`);
    assert.equal(stdout, `${performance.join(' ')} Profiler performance\ntrue\ntrue\ntrue false\n`, stderr);
  });

  test('finds no Profiler on the global object unless it registers it', async (t) => {
    const { stdout } = await runFile(
      application(t),
      'main.cjs',
      `require('selfprof'); require('selfprof/lazy'); console.log(typeof globalThis.Profiler);`,
    );
    assert.equal(stdout, 'undefined\n');
  });

  test('reaches nothing but the entries', async (t) => {
    const { stdout } = await runFile(
      application(t),
      'main.cjs',
      `
      try { require('selfprof/lib/native.cjs'); } catch (error) { console.log(error.code); }
      console.log(require('selfprof/package.json').name);
    `,
    );
    assert.equal(stdout, 'ERR_PACKAGE_PATH_NOT_EXPORTED\nselfprof\n');
  });

  test('may load it in a directory with an odd name', async (t) => {
    const directory = path.join(application(t), 'node_modules', 'selfprof');
    const odd = path.join(temporary(t), "söme dir'#%20");
    fs.cpSync(directory, odd, { recursive: true });
    const { stdout, stderr } = await runProgram(`const { Profiler } = require(${JSON.stringify(odd)}); ${PROFILE}`, { execArgv: [] });
    assert.equal(stdout, 'true\n', stderr);
  });
});

suite('the logging mode', () => {
  /** Prints the mode that the agent was made with. */
  const ask = `
    console.log(require(${JSON.stringify(path.join(PACKAGE, 'lib', 'agent.cjs'))}).begin().mode);
  `;
  const entry = (name) => `require(${JSON.stringify(path.join(PACKAGE, name))});`;
  for (const [what, source, env, expected] of [
    ['is eager by default', entry('index.cjs'), {}, 'eager'],
    ['is lazy at the lazy entry', entry('lazy.cjs'), {}, 'lazy'],
    ['is what the first entry said', entry('lazy.cjs') + entry('index.cjs'), {}, 'lazy'],
    ['does not change later', entry('index.cjs') + entry('lazy.cjs'), {}, 'eager'],
    ['is lazy when the environment says so', entry('index.cjs'), { SELFPROF_PROFILING_MODE: 'lazy' }, 'lazy'],
    ['is eager when the environment says so', entry('lazy.cjs'), { SELFPROF_PROFILING_MODE: 'eager' }, 'eager'],
    ['ignores an empty variable', entry('lazy.cjs'), { SELFPROF_PROFILING_MODE: '' }, 'lazy'],
  ]) {
    test(what, async () => {
      const { stdout, stderr } = await runProgram(source + ask, { execArgv: [], env });
      assert.equal(stdout, `${expected}\n`, stderr);
    });
  }

  for (const [mode, warmUp, what] of [
    ['eager', 50, 'optimised'],
    // What lazy logging cannot name is a loop that was optimised while it ran.
    ['lazy', 0, 'compiled'],
  ]) {
    test(`${mode} names functions that were ${what} before the profiler came`, async () => {
      const { stdout, stderr } = await runProgram(
        `
        function busy(ms) { for (const end = performance.now() + ms; performance.now() < end; ); }
        busy(${warmUp});
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
        busy(100);
        profiler.stop().then(({ frames }) => console.log(frames.some(({ name }) => name === 'busy')));
      `,
        { env: { SELFPROF_PROFILING_MODE: mode } },
      );
      assert.equal(stdout, 'true\n', stderr);
    });
  }

  for (const [variable, values] of [
    ['SELFPROF_PROFILING_MODE', 'eager, lazy'],
    ['SELFPROF_NODE_FRAMES', 'fold, full'],
  ]) {
    test(`${variable} must have a known value`, async () => {
      const { stderr, code } = await runProgram('', { env: { [variable]: 'brisk' } });
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`Error: selfprof: ${variable} is 'brisk'\\n\\nhint: it is one of ${values}\\n`));
    });
  }
});

suite('without an addon for this Node', () => {
  const major = process.versions.node.split('.')[0];
  const others = { 115: 'Node 20', 127: 'Node 22', 137: 'Node 24', 147: 'Node 26' };
  delete others[process.versions.modules];
  const list = Object.values(others).join(', ');

  async function load(directory) {
    const { stderr, stdout, code } = await runFile(directory, 'main.cjs', `require('selfprof');`);
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, new RegExp(`hint: in a checkout of selfprof, \`cargo xtask build --node ${major}\` builds it`));
    return stderr;
  }

  test('the error names the majors that are there', async (t) => {
    const addons = Object.fromEntries(Object.keys(others).map((modules) => [addonName(modules), null]));
    const stderr = await load(application(t, { ...addons, 'selfprof-plan9-mips-115.node': null, 'notes.txt': null }));
    assert.ok(
      stderr.includes(
        `Error: selfprof: there is no addon for Node ${process.versions.node} on ${process.platform}-${process.arch}. ` +
          `It is there for ${list}.\n`,
      ),
      stderr,
    );
  });

  test('the error says when there is none', async (t) => {
    for (const addons of [{}, null]) {
      assert.match(await load(application(t, addons)), /Error: selfprof: there is no addon .* It is there for no Node at all\./);
    }
  });

  test('a file that is no addon is told from none', async (t) => {
    const stderr = await load(application(t, { [ADDON]: null }));
    assert.match(stderr, /Error: selfprof: the addon cannot be loaded \(.*\), so there is none for Node/);
    assert.match(stderr, /It is there for no Node at all\./);
  });

  // Node loads some of them without a word, and crashes later.
  for (const [modules, name] of Object.entries(others)) {
    const file = path.join(PACKAGE, 'native', addonName(modules));
    test(`the addon of ${name} is refused`, { skip: !fs.existsSync(file) && `it was not built` }, async (t) => {
      const stderr = await load(application(t, { [ADDON]: file, [addonName(modules)]: null }));
      assert.match(stderr, /Error: selfprof: the addon (cannot be loaded|was built for modules \d+)/);
      assert.ok(stderr.includes(`It is there for ${name}.`), stderr);
    });
  }
});

test('package.json lists every file that the entries need', () => {
  const { exports, files, types } = require('selfprof/package.json');
  const entries = JSON.stringify(exports).match(/\.\/[\w.]+/g).filter((entry) => /\.(cjs|mjs|d\.ts|json)$/.test(entry));
  for (const entry of [...entries, types]) assert.ok(fs.existsSync(path.join(PACKAGE, entry)), entry);
  for (const folder of ['lib', 'native']) assert.ok(files.includes(folder));
});
