// The entry points of the package, and their errors when it cannot work.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';

import { NATIVE, PACKAGE, runNode, runProgram } from './program.mjs';
import { spin } from './spin.mjs';

const require = createRequire(import.meta.url);
const { NODE_MAJORS } = require('../src/native-package.cjs');
const addonName = (modules) => `selfprof-${process.platform}-${process.arch}-${modules}.node`;
const ADDON = addonName(process.versions.modules);

/** A directory that is removed after the test. */
function temporary(t) {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-')));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * An application that has the package in its node_modules. `addons` are the files of the native package; `null`: it is
 * not installed.
 */
function application(t, addons = { [ADDON]: path.join(NATIVE, ADDON) }) {
  const directory = temporary(t);
  const installed = path.join(directory, 'node_modules', 'selfprof');
  fs.cpSync(PACKAGE, installed, {
    recursive: true,
    filter: (source) => !['test', 'node_modules'].includes(path.relative(PACKAGE, source)),
  });
  if (addons !== null) {
    const native = path.join(directory, 'node_modules', '@selfprof', path.basename(NATIVE));
    fs.mkdirSync(native, { recursive: true });
    fs.copyFileSync(path.join(NATIVE, 'package.json'), path.join(native, 'package.json'));
    for (const [name, source] of Object.entries(addons)) {
      const file = path.join(native, name);
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

/** Prints `true` when it has recorded three samples, however long that takes. */
const PROFILE = `
  const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 3 });
  const alive = setInterval(() => {}, 1_000);
  profiler.addEventListener('samplebufferfull', async () => {
    const { samples } = await profiler.stop();
    console.log(samples.length === 3);
    clearInterval(alive);
  });
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

  test('gets the same class from all entry points', async (t) => {
    const { stdout, stderr } = await runFile(
      application(t),
      'main.mjs',
      `
      import { createRequire } from 'node:module';
      import * as eager from 'selfprof';
      import * as lazy from 'selfprof/lazy';
      import 'selfprof/register';
      const required = createRequire(import.meta.url)('selfprof');
      const names = [eager, lazy, required].map((module) => Object.keys(module).sort().join());
      console.log(new Set(names).size, names[0].includes('Profiler'), names[0].includes('profileThreads'));
      console.log(new Set([eager.Profiler, lazy.Profiler, required.Profiler, globalThis.Profiler]).size);
    `,
    );
    assert.equal(stdout, '1 true true\n1\n', stderr);
  });

  test('has no global Profiler without register', async (t) => {
    const { stdout } = await runFile(
      application(t),
      'main.cjs',
      `require('selfprof'); require('selfprof/lazy'); console.log(typeof globalThis.Profiler);`,
    );
    assert.equal(stdout, 'undefined\n');
  });

  test('cannot load other files', async (t) => {
    const { stdout } = await runFile(
      application(t),
      'main.cjs',
      `
      try { require('selfprof/src/native.cjs'); } catch (error) { console.log(error.code); }
      console.log(require('selfprof/package.json').name);
    `,
    );
    assert.equal(stdout, 'ERR_PACKAGE_PATH_NOT_EXPORTED\nselfprof\n');
  });

  test('can load it from a directory with an unusual name', async (t) => {
    const odd = path.join(temporary(t), "söme dir'#%20");
    fs.cpSync(application(t), odd, { recursive: true });
    const installed = path.join(odd, 'node_modules', 'selfprof');
    const { stdout, stderr } = await runProgram(
      `const { Profiler } = require(${JSON.stringify(installed)}); ${PROFILE}`,
      {
        execArgv: [],
      },
    );
    assert.equal(stdout, 'true\n', stderr);
  });
});

suite('the logging mode', () => {
  /** Prints the mode that the agent was made with. */
  const ask = `
    console.log(require(${JSON.stringify(path.join(PACKAGE, 'src', 'agent.cjs'))}).ensureAgent().mode);
  `;
  const entry = (name) => `require(${JSON.stringify(path.join(PACKAGE, name))});`;
  for (const [what, source, env, expected] of [
    ['is eager by default', entry('index.cjs'), {}, 'eager'],
    ['is lazy at the lazy entry', entry('lazy.cjs'), {}, 'lazy'],
    ['is decided by the first entry point', entry('lazy.cjs') + entry('index.cjs'), {}, 'lazy'],
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
        ${String(spin).replace('spin', 'busy')}
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
      assert.match(stderr, new RegExp(`Error: selfprof: ${variable} is 'brisk'\\n\\nhint: use one of ${values}\\n`));
    });
  }
});

suite('without an addon for this Node', () => {
  const major = process.versions.node.split('.')[0];
  const others = Object.fromEntries(Object.entries(NODE_MAJORS).map(([modules, node]) => [modules, `Node ${node}`]));
  delete others[process.versions.modules];
  const list = Object.values(others).join(', ');

  async function load(directory) {
    const { stderr, stdout, code } = await runFile(directory, 'main.cjs', `require('selfprof');`);
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      new RegExp(`hint: in a checkout of selfprof, \`cargo xtask build --node ${major}\` builds it`),
    );
    return stderr;
  }

  test('the error names the majors with an addon', async (t) => {
    const addons = Object.fromEntries(Object.keys(others).map((modules) => [addonName(modules), null]));
    const stderr = await load(application(t, { ...addons, 'selfprof-plan9-mips-115.node': null, 'notes.txt': null }));
    assert.ok(
      stderr.includes(
        `Error: selfprof: there is no addon for Node ${process.versions.node} on ${process.platform}-${process.arch}. ` +
          `There are prebuilt addons for ${list}.\n`,
      ),
      stderr,
    );
  });

  test('the error says when there is no addon at all', async (t) => {
    assert.match(await load(application(t, {})), /Error: selfprof: there is no addon .* No prebuilt addon was found\./);
  });

  test('the error names the package that is not installed', async (t) => {
    const { code, stdout, stderr } = await runFile(application(t, null), 'main.cjs', `require('selfprof');`);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /the package @selfprof\/native-\S+, which contains the addon for Node .*, is not installed/);
    assert.match(stderr, /hint: install selfprof again, without --omit=optional/);
  });

  test('the error says when the file is not an addon', async (t) => {
    const stderr = await load(application(t, { [ADDON]: null }));
    assert.match(stderr, /Error: selfprof: the addon for Node \S+ on \S+ cannot be loaded \(.*\)\./);
    assert.match(stderr, /No prebuilt addon was found\./);
  });

  test('the error names the supported majors in a Node that has no addon', async (t) => {
    const directory = application(t, {});
    fs.writeFileSync(
      path.join(directory, 'odd.cjs'),
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, modules: '131', node: '23.1.0' } });`,
    );
    const { stderr, code } = await runFile(directory, 'main.cjs', `require('selfprof');`, ['--require', './odd.cjs']);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /Error: selfprof: there is no addon for Node 23\.1\.0 on .*\n\nhint: use Node 20, 22, 24, 26\n/,
    );
  });

  // Node loads some of them without an error, and crashes later.
  for (const [modules, name] of Object.entries(others)) {
    const file = path.join(NATIVE, addonName(modules));
    test(`the addon of ${name} is refused`, { skip: !fs.existsSync(file) && `it was not built` }, async (t) => {
      const stderr = await load(application(t, { [ADDON]: file, [addonName(modules)]: null }));
      assert.match(
        stderr,
        /Error: selfprof: the addon for Node \S+ on \S+ (cannot be loaded|was built for modules \d+)/,
      );
      assert.ok(stderr.includes(`There are prebuilt addons for ${name}.`), stderr);
    });
  }
});

test('package.json lists every file that the entries need', () => {
  const { exports, files, types } = require('selfprof/package.json');
  const entries = JSON.stringify(exports)
    .match(/\.\/[\w.]+/g)
    .filter((entry) => /\.(cjs|mjs|d\.ts|json)$/.test(entry));
  for (const entry of [...entries, types]) assert.ok(fs.existsSync(path.join(PACKAGE, entry)), entry);
  for (const folder of ['src', 'bin']) assert.ok(files.includes(folder));
});
