// Converts traces, and compares what a consumer shows with `selfprof top`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const { SELFPROF_TEST_CLI, SELFPROF_TEST_CONSUMERS } = process.env;
assert(SELFPROF_TEST_CLI && SELFPROF_TEST_CONSUMERS, '`cargo xtask test --only consumers` runs these tests');

const folder = mkdtempSync(join(tmpdir(), 'selfprof-consumers-'));
after(() => rmSync(folder, { recursive: true, force: true }));

// Resolves packages in the folder where xtask installs them.
export const require = createRequire(join(SELFPROF_TEST_CONSUMERS, '..', 'package.json'));
export const packageFolder = (name) => join(SELFPROF_TEST_CONSUMERS, name);

const fixture = (name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** Traces written by Chromium and V8. */
export const traces = {
  'of Chromium': fixture('w3c/chromium-156-small.json'),
  'of Chromium, with markers': fixture('w3c/chromium-156-markers-isolated.json'),
  'of calls': fixture('w3c/polyfill-calls.json'),
  'of V8': fixture('cpuprofile/node-20-small.cpuprofile'),
};

/** A trace with marks and measures. */
export const marks = fileURLToPath(new URL('../../cli/tests/fixtures/marks.json', import.meta.url));

/** Converts a trace to the format of the file name extension, and returns the file. */
export function convert(trace, ending) {
  const out = join(folder, `out${ending}`);
  execFileSync(SELFPROF_TEST_CLI, ['convert', trace, '-o', out], { stdio: ['ignore', 'inherit', 'ignore'] });
  return out;
}

/** The functions in `selfprof top`, as `{ name, resource, line, column, self, total }` with times in milliseconds. */
export function top(trace, atLeast = 6) {
  const json = execFileSync(SELFPROF_TEST_CLI, ['top', '--json', '--top', '100000', trace], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { functions } = JSON.parse(json);
  assert(functions.length >= atLeast);
  return functions.map(({ name, inferredName, resource, line, column, selfTime, totalTime }) => ({
    // What is inferred is marked.
    name: name || (inferredName ? `${inferredName}*` : '(anonymous)'),
    resource,
    line,
    column,
    self: selfTime,
    total: totalTime,
  }));
}

/** The name of a function in `selfprof top`. In V8's formats, selfprof calls the garbage collector `(gc)`. */
export const nameIn = (name) => (name === '(gc)' ? '(garbage collector)' : name);

/** The key that identifies a function. */
export const keyOf = ({ name, resource, line, column }) =>
  `${nameIn(name)}\n${resource || ''}:${line ?? ''}:${column ?? ''}`;

/** The functions with a time above zero. Some consumers omit the others. */
export const withTime = (sums) => new Map([...sums].filter(([, { total }]) => total > 0));

/** Sums up the times of functions with the same key. */
export function sums(functions, key) {
  const sums = new Map();
  for (const row of functions) {
    const sum = sums.get(key(row)) ?? { self: 0, total: 0 };
    sums.set(key(row), { self: sum.self + row.self, total: sum.total + row.total });
  }
  return sums;
}

/** Parses a function in a line of collapsed stacks. */
export function placeOfLine(name) {
  const [, inside, resource, line, column] = /^(.*) \((.*):(\d+):(\d+)\)$/.exec(name) ?? [];
  return inside === undefined
    ? { name, line: null, column: null }
    : { name: inside, resource, line: Number(line), column: Number(column) };
}

/**
 * The functions in `selfprof top`, for a consumer that merges functions with the same key. If such functions call each
 * other, their totals cannot be added, so they are computed from the stacks.
 */
export function merged(trace, key) {
  const rows = top(trace);
  const expected = sums(rows, key);
  const keys = rows.map(key);
  const stacks = readFileSync(convert(trace, '.collapsed'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, path, micros] = /^(.*) (\d+)$/.exec(line);
      return { keys: path.split(';').map((name) => key(placeOfLine(name))), time: micros / 1000 };
    });
  for (const [key, sum] of expected) {
    if (keys.indexOf(key) === keys.lastIndexOf(key)) continue;
    sum.isMerged = true;
    sum.total = stacks.filter(({ keys }) => keys.includes(key)).reduce((total, { time }) => total + time, 0);
  }
  return expected;
}

/** Asserts that the functions and their times are equal, except for rounding and for states. */
export function assertSame(actual, expected, tolerance = 1e-6) {
  const states = new Set(['(idle)', '(script)', '(parse)', '(paint)', '(style)', '(layout)', '(other)', '(root)']);
  const names = (sums) => [...sums.keys()].filter((key) => !states.has(key.split('\n')[0])).sort();
  assert.deepEqual(names(actual), names(expected));
  for (const [key, { self, total }] of expected) {
    const found = actual.get(key);
    assert(Math.abs(found.self - self) <= tolerance, `${key}: self ${found.self}, not ${self}`);
    assert(Math.abs(found.total - total) <= tolerance, `${key}: total ${found.total}, not ${total}`);
  }
}
