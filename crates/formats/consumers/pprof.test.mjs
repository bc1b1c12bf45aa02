// pprof, with two readers: pprof-format and `go tool pprof`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { assertSame, convert, merged, require, sums, top, traces } from './conversion.mjs';

const { Profile } = require('pprof-format');

const key = ({ name, resource, line, column }) => `${name}\n${resource ?? ''}:${line ?? 0}:${column ?? 0}`;

for (const [name, trace] of Object.entries(traces)) {
  describe(`pprof, on a trace ${name}`, () => {
    test('pprof-format shows the times of selfprof top', () => {
      const profile = Profile.decode(gunzipSync(readFileSync(convert(trace, '.pb.gz'))));
      const text = (index) => profile.stringTable.strings[Number(index)];
      assert.deepEqual(
        profile.sampleType.map(({ type, unit }) => [text(type), text(unit)]),
        [
          ['samples', 'count'],
          ['wall', 'nanoseconds'],
        ],
      );
      const functions = new Map(profile.function.map((entry) => [entry.id, entry]));
      const names = new Map(
        profile.location.map(({ id, line: [{ functionId, line, column }] }) => {
          const { name, filename } = functions.get(functionId);
          return [id, key({ name: text(name), resource: text(filename), line: Number(line), column: Number(column) })];
        }),
      );
      const rows = profile.sample.flatMap(({ locationId, value }) => {
        const time = Number(value[1]) / 1e6;
        const path = locationId.map((id) => names.get(id));
        return [
          { name: path[0], self: time, total: 0 },
          ...[...new Set(path)].map((name) => ({ name, self: 0, total: time })),
        ];
      });
      assertSame(
        sums(rows, ({ name }) => name),
        sums(top(trace), key),
      );
    });

    for (const [granularity, keyOf] of [
      ['functions', ({ name }) => name],
      // pprof shortens the slashes after the scheme to one.
      ['lines', ({ name, resource, line }) => (resource ? `${name} ${resource.replace(/\/+/g, '/')}:${line}` : name)],
    ]) {
      test(`go tool pprof shows the times of selfprof top by ${granularity}`, () => {
        const words = [
          'tool',
          'pprof',
          '-top',
          '-cum',
          `-${granularity}`,
          '-unit=us',
          '-sample_index=wall',
          '-nodefraction=0',
          '-nodecount=100000',
          '-edgefraction=0',
          convert(trace, '.pb.gz'),
        ];
        const table = execFileSync('go', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
        const number = (text) => Number(text.replace('us', '')) / 1000;
        const rows = [...table.matchAll(/^ *(\S+) +\S+% +\S+% +(\S+) +\S+% +(.*?)$/gm)].map(
          ([, self, total, name]) => ({
            name,
            self: number(self),
            total: number(total),
          }),
        );
        assertSame(
          sums(rows, ({ name }) => name),
          merged(trace, keyOf),
        );
      });
    }
  });
}
