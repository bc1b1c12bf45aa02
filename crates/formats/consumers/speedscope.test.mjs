// speedscope in headless Chromium: the model that its importer creates, and the table that it shows.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { inPage } from './chromium.mjs';
import { assertSame, convert, keyOf, packageFolder, placeOfLine, sums, top, traces, withTime } from './conversion.mjs';

const page = `${pathToFileURL(join(packageFolder('speedscope'), 'dist/release/index.html'))}#view=sandwich`;

/** Records speedscope's profiles when they are created, because no global variable refers to them. */
function noteProfiles() {
  globalThis.profiles = [];
  Object.defineProperty(Object.prototype, 'groupedCalltreeRoot', {
    configurable: true,
    set(value) {
      Object.defineProperty(this, 'groupedCalltreeRoot', {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
      globalThis.profiles.push(this);
    },
  });
}

/**
 * Opens a file as a user would. Returns `{ unit, frames, shown }`: the weights of the model, and the rows of the
 * sandwich view as text.
 */
function open(file) {
  return inPage(
    page,
    async (page) => {
      await (await page.waitForSelector('input[type=file]')).uploadFile(file);
      const rows = await page.waitForFunction(() => {
        if (document.body.innerText.includes('Something went wrong')) return 'speedscope does not open it';
        const rows = [...document.querySelectorAll('tr')].map((row) =>
          [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim()),
        );
        const shown = rows.filter(({ length }) => length === 3).map(([total, self, name]) => ({ name, self, total }));
        let count = 0;
        for (const profile of globalThis.profiles) profile.forEachFrame(() => (count += 1));
        return count > 0 && shown.length === count && shown;
      });
      const shown = await rows.jsonValue();
      const [profile, ...others] = await page.evaluate(() =>
        globalThis.profiles.map((profile) => {
          const frames = [];
          profile.forEachFrame((frame) => {
            const { name, file, line, col } = frame;
            frames.push({ name, file, line, column: col, self: frame.getSelfWeight(), total: frame.getTotalWeight() });
          });
          return { unit: profile.getWeightUnit(), frames };
        }),
      );
      assert.deepEqual(others, [], 'one profile is all there is');
      return { ...profile, shown };
    },
    { first: noteProfiles },
  );
}

/** The function of a frame. In collapsed stacks, and for anonymous functions, the location is part of the name. */
function place({ name, file, line, column }) {
  const inName = placeOfLine(name);
  if (inName.resource !== undefined) return inName;
  return {
    name: name.replace(/^\(anonymous .*/, '(anonymous)'),
    resource: file,
    line: line || null,
    column: column || null,
  };
}

/**
 * Parses a cell, such as `1.25s (52%)`, `59.02ms (2.4%)` or, without a unit, `1,253,300 (52%)`, into the value and its
 * precision.
 */
function weight(text) {
  const [, number, unit] = /^([\d.,]+)(s|ms|µs|ns|) /.exec(text);
  const step = { s: 1e6, ms: 1e3, µs: 1, ns: 1e-3, '': 1 }[unit];
  const digits = number.split('.')[1]?.length ?? 0;
  return { value: number.replaceAll(',', '') * step, within: (step * 10 ** -digits) / 2 + 1e-3 };
}

for (const [name, trace] of Object.entries(traces)) {
  describe(`speedscope, on a trace ${name}`, () => {
    for (const ending of ['.speedscope.json', '.cpuprofile', '.trace.json', '.collapsed']) {
      test(`shows the times of selfprof top for ${ending}`, async () => {
        const { unit, frames, shown } = await open(convert(trace, ending));
        assert.equal(unit, ending === '.collapsed' ? 'none' : 'microseconds');
        const rows = frames.map((frame) => ({
          key: keyOf(place(frame)),
          self: frame.self / 1000,
          total: frame.total / 1000,
        }));
        // Times in a .cpuprofile are off by at most a microsecond, see cpuprofile/devtools_time.rs.
        const tolerance = ending === '.cpuprofile' ? 0.02 : 1e-6;
        assertSame(withTime(sums(rows, ({ key }) => key)), withTime(sums(top(trace), keyOf)), tolerance);

        // Several functions of the same name have as many rows.
        const left = [...frames];
        for (const row of shown) {
          const says = (text, time) => Math.abs(weight(text).value - time) <= weight(text).within;
          const index = left.findIndex(
            ({ name, self, total }) => name === row.name && says(row.self, self) && says(row.total, total),
          );
          assert(
            index !== -1,
            `${row.name} is shown with ${row.self} of its own and ${row.total} in total, which no function has`,
          );
          left.splice(index, 1);
        }
      });
    }
  });
}
