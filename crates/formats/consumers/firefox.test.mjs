// The Firefox Profiler's command-line program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { assertSame, convert, marks, packageFolder, sums, top, traces } from './conversion.mjs';

const program = join(packageFolder('@firefox-devtools/profiler-cli'), 'dist/profiler-cli.js');
const sessions = mkdtempSync(join(tmpdir(), 'selfprof-firefox-'));
after(() => {
  // Also the daemons that became ready too late for their command.
  stop();
  rmSync(sessions, { recursive: true, force: true });
});

function run(...words) {
  // The daemon has half a second to start, so later tries find its code compiled.
  const env = { ...process.env, PROFILER_CLI_SESSION_DIR: sessions, NODE_COMPILE_CACHE: sessions };
  return execFileSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a command again when the error says that a daemon was not ready, as it happens on a busy machine. */
function persist(words, unready) {
  for (let tries = 100; ; tries--) {
    try {
      return run(...words);
    } catch (error) {
      if (tries === 0 || !unready.test(error.stderr)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
}

/** Loads a profile. The program waits only half a second for its daemon. */
const load = (file) => persist(['load', file], /did not become ready/);

/** Ends the daemons. One that is still starting does not answer. */
const stop = () => persist(['stop', '--all'], /Could not stop/);

/** Queries a profile, and ends the program's daemon. */
function ask(file, ...words) {
  load(file);
  try {
    return JSON.parse(run(...words, '--json'));
  } finally {
    stop();
  }
}

for (const [name, trace] of Object.entries(traces)) {
  describe(`The Firefox Profiler, on a trace ${name}`, () => {
    test('shows the times of selfprof top', () => {
      const { functions } = ask(convert(trace, '.firefox.json'), 'thread', 'functions');
      const rows = functions.map(({ name, library, selfSamples, totalSamples }) => ({
        name: library ? `${name}\n${library}` : name,
        self: selfSamples,
        total: totalSamples,
      }));
      const expected = sums(top(trace), ({ name, resource }) => (resource ? `${name}\n${resource}` : name));
      assertSame(
        sums(rows, ({ name }) => name),
        expected,
      );
    });
  });
}

test('The Firefox Profiler shows marks and measures', () => {
  const { byType } = ask(convert(marks, '.firefox.json'), 'thread', 'markers');
  const timing = byType.find(({ markerName }) => markerName === 'UserTiming');
  // It shows only entries that start between the first and the last sample, which are two here.
  const shown = timing.topMarkers.map(({ label, start, duration }) => `${label} ${start} ${duration ?? '-'}`);
  assert.deepEqual(shown.sort(), ['parse 2 8.5', 'render 1 20.25', 'start 1 -']);
});

test('The Firefox Profiler shows calls', () => {
  const { calls, frames } = JSON.parse(readFileSync(traces['of calls'], 'utf8'));
  const { byType } = ask(convert(traces['of calls'], '.firefox.json'), 'thread', 'markers');
  const shown = byType.find(({ markerName }) => markerName === 'Call');
  const begun = calls.types.filter((type) => type === 0 || type === 3).length;
  assert.equal(shown.count, begun);
  const labels = shown.topMarkers.map(({ label }) => label);
  assert(labels.length > 0 && labels.every((label) => frames.some(({ name }) => name === label)), `${labels}`);
});
