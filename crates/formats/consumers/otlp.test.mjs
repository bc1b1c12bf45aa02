// OTLP, decoded by protobufjs with OpenTelemetry's definitions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { assertSame, convert, require, sums, top, traces } from './conversion.mjs';

const protobuf = require('protobufjs');
const { SELFPROF_TEST_OTLP_PROTOS } = process.env;
assert(SELFPROF_TEST_OTLP_PROTOS, '`cargo xtask test --only consumers` runs these tests');

const root = new protobuf.Root();
root.resolvePath = (_, target) => (target.startsWith('/') ? target : join(SELFPROF_TEST_OTLP_PROTOS, target));
root.loadSync('opentelemetry/proto/profiles/v1development/profiles.proto');
const ProfilesData = root.lookupType('opentelemetry.proto.profiles.v1development.ProfilesData');

const key = ({ name, resource, line, column }) => `${name}\n${resource ?? ''}:${line ?? 0}:${column ?? 0}`;

for (const [name, trace] of Object.entries(traces)) {
  describe(`OTLP, of a trace ${name}`, () => {
    test('has the times of selfprof top', () => {
      const { dictionary, resourceProfiles } = ProfilesData.decode(readFileSync(convert(trace, '.otlp')));
      const [profile] = resourceProfiles[0].scopeProfiles[0].profiles;
      const text = (index) => dictionary.stringTable[index];
      assert.deepEqual(
        [text(profile.sampleType.typeStrindex), text(profile.sampleType.unitStrindex)],
        ['wall', 'nanoseconds'],
      );
      const names = dictionary.locationTable.map(({ lines: [line] }) => {
        if (!line) return undefined;
        const { nameStrindex, filenameStrindex } = dictionary.functionTable[line.functionIndex];
        return key({
          name: text(nameStrindex) || '(anonymous)',
          resource: text(filenameStrindex),
          line: Number(line.line),
          column: Number(line.column),
        });
      });
      const rows = profile.samples.flatMap(({ stackIndex, values, timestampsUnixNano }) => {
        assert.equal(values.length, timestampsUnixNano.length);
        const time = values.reduce((sum, value) => sum + Number(value), 0) / 1e6;
        const path = dictionary.stackTable[stackIndex].locationIndices.map((index) => names[index]);
        if (path.length === 0) return [];
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
  });
}
