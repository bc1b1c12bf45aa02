// src/native.d.ts declares what the addon exports, and the tables of Node majors agree.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';

const require = createRequire(import.meta.url);
const native = require('../src/native.cjs');
const { NODE_MAJORS } = require('../src/native-package.cjs');

const DECLARATIONS = fs.readFileSync(new URL('../src/native.d.ts', import.meta.url), 'utf8');

/** The members that an interface of native.d.ts declares, sorted. */
function declared(name) {
  const body = DECLARATIONS.match(new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms'))?.[1];
  assert.ok(body, `native.d.ts declares ${name}`);
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?(:<]/gm)].map(([, member]) => member).sort();
}

const methods = (prototype) => Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');

suite('native.d.ts', () => {
  test('declares what the addon exports', () => {
    assert.deepEqual(declared('Addon'), Object.keys(native).sort());
  });

  for (const name of ['Timeline', 'ScriptModule']) {
    test(`declares the members of ${name}`, () => {
      assert.deepEqual(declared(name), methods(native[name].prototype).sort());
    });
  }

  test('declares the functions of a timeline that run once per entry', () => {
    const fastCalls = new native.Timeline(native.now(), 5).fastCalls();
    const names = [...Object.getOwnPropertyNames(fastCalls), ...methods(Object.getPrototypeOf(fastCalls))];
    assert.deepEqual(declared('FastCalls'), names.sort());
  });

  test('declares the columns of a trace', async () => {
    require('../src/agent.cjs').ensureAgent();
    const listener = { onFull() {}, onChunk() {} };
    const { id } = native.open({ sampleInterval: 1, maxBufferSize: 10, bufferPolicy: 'stop' }, listener);
    const { trace } = await native.close(id, 'object');
    const optional = ['entries'];
    assert.deepEqual(
      declared('TraceColumns').filter((name) => !optional.includes(name)),
      Object.keys(trace).sort(),
    );
  });
});

test('the command-line program supports the same Node majors', () => {
  const sources = new URL('../../../crates/cli/src/', import.meta.url);
  const tables = fs
    .readdirSync(sources, { recursive: true })
    .filter((name) => name.endsWith('.rs'))
    .flatMap((name) => fs.readFileSync(new URL(name, sources), 'utf8').match(/const MAJORS.*?;$/gm) ?? []);
  assert.equal(tables.length, 1);
  const pairs = [...tables[0].matchAll(/\((\d+), (\d+)\)/g)].map(([, modules, major]) => [modules, Number(major)]);
  assert.deepEqual(Object.fromEntries(pairs), NODE_MAJORS);
});
