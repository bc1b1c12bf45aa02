// The Firefox Profiler's own command line program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { assertSame, convert, marks, packageFolder, sums, top, traces } from './conversion.mjs';

const program = join(packageFolder('@firefox-devtools/profiler-cli'), 'dist/profiler-cli.js');
const sessions = mkdtempSync(join(tmpdir(), 'selfprof-firefox-'));
after(() => rmSync(sessions, { recursive: true, force: true }));

function run(...words) {
  const env = { ...process.env, PROFILER_CLI_SESSION_DIR: sessions };
  return execFileSync(process.execPath, [program, ...words], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Loads a profile. The program gives its own daemon half a second to begin, which a busy machine may not manage. */
function load(file, tries = 20) {
  try {
    run('load', file);
  } catch (error) {
    if (tries === 0 || !/did not become ready/.test(error.stderr)) throw error;
    load(file, tries - 1);
  }
}

/** Asks about a profile, and lets the program's daemon go. */
function ask(file, ...words) {
  load(file);
  try {
    return JSON.parse(run(...words, '--json'));
  } finally {
    run('stop', '--all');
  }
}

for (const [name, trace] of Object.entries(traces)) {
  describe(`The Firefox Profiler, on a trace ${name}`, () => {
    test('shows the sums of top', () => {
      const { functions } = ask(convert(trace, '.firefox.json'), 'thread', 'functions');
      const rows = functions.map(({ name, library, selfSamples, totalSamples }) => ({
        name: library ? `${name}\n${library}` : name, self: selfSamples, total: totalSamples,
      }));
      const expected = sums(top(trace), ({ name, resource }) => (resource ? `${name}\n${resource}` : name));
      assertSame(sums(rows, ({ name }) => name), expected);
    });
  });
}

test('The Firefox Profiler shows marks and measures', () => {
  const { byType } = ask(convert(marks, '.firefox.json'), 'thread', 'markers');
  const timing = byType.find(({ markerName }) => markerName === 'UserTiming');
  // It shows those that begin while samples were taken, which are two here.
  const shown = timing.topMarkers.map(({ label, start, duration }) => `${label} ${start} ${duration ?? '-'}`);
  assert.deepEqual(shown.sort(), ['parse 2 8.5', 'render 1 20.25', 'start 1 -']);
});
