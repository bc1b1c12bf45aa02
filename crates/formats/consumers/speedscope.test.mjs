// speedscope itself, in headless Chromium: its importer, and the table that it shows.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { convert, packageFolder, sums, top, traces } from './conversion.mjs';

const page = pathToFileURL(join(packageFolder('speedscope'), 'dist/release/index.html'));
const folder = mkdtempSync(join(tmpdir(), 'selfprof-speedscope-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const { SELFPROF_TEST_CHROMIUM: browser } = process.env;
assert(browser, '`cargo xtask test --only consumers` runs these tests');

/** The rows of speedscope's sandwich view: `{ name, self, total }`, as text. */
function rowsOf(file) {
  const script = join(folder, 'profile.js');
  const bytes = readFileSync(file).toString('base64');
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, ${JSON.stringify(bytes)})`);
  const url = `${page}#localProfilePath=${script}&view=sandwich`;
  // Virtual time goes on when nothing is left to do, however slow the machine is.
  const words = ['--headless', '--no-sandbox', '--disable-gpu', '--window-size=1200,4000', '--virtual-time-budget=20000', `--user-data-dir=${folder}/user`, '--dump-dom', url];
  const { stdout } = spawnSync(browser, words, { encoding: 'utf8', maxBuffer: 1 << 26 });
  const cells = [...stdout.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) => [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell.replace(/<[^>]*>/g, '').trim()));
  return cells.filter((row) => row.length === 3).map(([total, self, name]) => ({ name: name.replaceAll('&lt;', '<').replaceAll('&amp;', '&'), self, total }));
}

/** As speedscope shows it: `1.25s (52%)`, `59.02ms (2.4%)`; of collapsed stacks, whose unit it does not know, `1,253,300 (52%)`. */
function millis(text) {
  const [, number, unit] = /^([\d.,]+)(s|ms|µs|ns|) /.exec(text);
  return number.replaceAll(',', '') * { s: 1000, ms: 1, µs: 1e-3, ns: 1e-6, '': 1e-3 }[unit];
}

for (const [name, trace] of Object.entries(traces)) {
  for (const ending of ['.speedscope.json', '.cpuprofile', '.trace.json', '.collapsed']) {
    describe(`speedscope, on a trace ${name}`, () => {
      test(`shows the sums of top for ${ending}`, () => {
        const rows = rowsOf(convert(trace, ending));
        // It shows three digits, and lines of collapsed stacks have names that tell the place.
        const short = (name) => name.replace(/ \(.*:\d+\)$/, '').replace(/^\(anonymous\).*/, '(anonymous)');
        const found = sums(rows.map(({ name, self, total }) => ({ name: short(name), self: millis(self), total: millis(total) })), ({ name }) => name);
        let checked = 0;
        for (const [name, { self, total }] of sums(top(trace), ({ name }) => name)) {
          // What takes no time is not drawn, and rows below the window are not there.
          if (total < 2 || !found.has(name)) continue;
          const close = (a, b) => Math.abs(a - b) <= 0.011 * Math.max(1, a, b);
          assert(close(found.get(name).self, self), `${name}: self ${found.get(name).self}, not ${self}`);
          assert(close(found.get(name).total, total), `${name}: total ${found.get(name).total}, not ${total}`);
          checked += 1;
        }
        assert(checked >= 4, `only ${checked} functions are there`);
      });
    });
  }
}
