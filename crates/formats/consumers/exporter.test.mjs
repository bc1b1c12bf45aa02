// What `selfprof agent-exporter` sends to Pyroscope and by OTLP, decoded by pprof-format and protobufjs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { require } from './conversion.mjs';

const { Profile } = require('pprof-format');
const protobuf = require('protobufjs');
const { SELFPROF_TEST_CLI, SELFPROF_TEST_OTLP_PROTOS } = process.env;

const root = new protobuf.Root();
root.resolvePath = (_, target) => (target.startsWith('/') ? target : join(SELFPROF_TEST_OTLP_PROTOS, target));
root.loadSync('opentelemetry/proto/collector/profiles/v1development/profiles_service.proto');
const Request = root.lookupType('opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest');

/** When the process started, in milliseconds since 1970. */
const START = 1_795_441_500_000;

/** A journal of 10 samples at 10 ms: 6 of `handle`, 2 garbage collections in it, and 2 idle ones. */
function journal(thread) {
  const header = {
    selfprofJournal: 5,
    pid: 4_194_305,
    threadId: thread,
    interval: 10_000,
    mode: 'eager',
    timeOrigin: START + thread,
    node: 'v24.1.0',
    entries: false,
    origin: 5_000_000 + thread * 1_000,
    threadName: '',
    command: 'node server.mjs',
  };
  const segment = {
    names: [`handle-${thread}`],
    resources: ['file:///server.mjs'],
    frames: [[0, 0, 7, 9]],
    stacks: [[-1, 0]],
    samples: [...Array(6).fill([10_000, 0, 1]), ...Array(2).fill([10_000, 0, 2]), [10_000, -1, 0, 2, 10_000]],
    lost: 0,
  };
  return [header, segment].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Exports a process with a worker, and returns the request. */
async function exported(t, path, settings) {
  const folder = mkdtempSync(join(tmpdir(), 'selfprof-exporter-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const received = [];
  const server = http.createServer(async (request, response) => {
    received.push({ url: request.url, headers: request.headers, body: Buffer.concat(await request.toArray()) });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const output = `http://127.0.0.1:${server.address().port}${path}`;
  const all = { output, app: 'shop', release: '1.4', environment: 'test', key: 'secret', ...settings };
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(all));
  writeFileSync(join(folder, '4194305.a.alive'), '{"pid":4194305}');
  for (const [thread, name] of ['main', 'worker-1'].entries()) {
    writeFileSync(join(folder, `4194305.a.${name}.journal`), journal(thread));
  }
  const exporter = spawn(SELFPROF_TEST_CLI, ['agent-exporter', '--folder', folder], { stdio: 'inherit' });
  const [code] = await once(exporter, 'exit');
  assert.equal(code, 0);
  assert.equal(received.length, 1);
  assert.equal(received[0].headers.authorization, 'Bearer secret');
  return received[0];
}

test('Pyroscope gets pprof', async (t) => {
  const { url, headers, body } = await exported(t, '/ingest', {});
  assert.equal(headers['content-type'], 'application/octet-stream');
  const { pathname, searchParams } = new URL(url, 'http://a');
  assert.equal(pathname, '/ingest');
  assert.deepEqual(Object.fromEntries(searchParams), {
    format: 'pprof',
    from: String(START / 1000),
    until: String(START / 1000 + 1),
    name: `shop{environment=test,hostname=${hostname()},release=1.4}`,
    spyName: 'nodespy',
    sampleRate: '100',
  });
  const profile = Profile.decode(gunzipSync(body));
  const text = (index) => profile.stringTable.strings[Number(index)];
  assert.deepEqual(
    profile.sampleType.map(({ type, unit }) => [text(type), text(unit)]),
    [
      ['samples', 'count'],
      ['wall', 'nanoseconds'],
    ],
  );
  assert.equal(Number(profile.timeNanos) / 1e6, START);
  const functions = new Map(profile.function.map((entry) => [entry.id, text(entry.name)]));
  const names = new Map(profile.location.map(({ id, line: [{ functionId }] }) => [id, functions.get(functionId)]));
  const rows = profile.sample.map(({ locationId, value, label }) => [
    locationId.map((id) => names.get(id)).join(' < '),
    ...value.map(Number),
    label.filter(({ key }) => text(key) === 'thread').map(({ str }) => text(str))[0],
  ]);
  assert.deepEqual(rows.sort(), [
    ['(garbage collector) < handle-0', 2, 20e6, 'main-thread'],
    ['(garbage collector) < handle-1', 2, 20e6, 'worker-1'],
    ['handle-0', 6, 60e6, 'main-thread'],
    ['handle-1', 6, 60e6, 'worker-1'],
  ]);
});

test('OTLP has the resource, the threads and the times', async (t) => {
  const resource = { 'service.name': 'shop-api', 'service.namespace': 'web' };
  const { url, headers, body } = await exported(t, '', { format: 'otlp', resource });
  assert.equal(url, '/v1development/profiles');
  assert.equal(headers['content-type'], 'application/x-protobuf');
  assert.equal(headers['content-encoding'], 'gzip');
  const { dictionary, resourceProfiles } = Request.decode(gunzipSync(body));
  const textOf = ({ stringValue, intValue }) => stringValue || Number(intValue);
  const attributes = resourceProfiles[0].resource.attributes.map(({ key, value }) => [key, textOf(value)]);
  assert.deepEqual(Object.fromEntries(attributes), {
    'service.name': 'shop-api',
    'service.namespace': 'web',
    'service.version': '1.4',
    'deployment.environment.name': 'test',
    'host.name': hostname(),
    'process.command_line': 'node server.mjs',
    'process.runtime.name': 'nodejs',
    'process.runtime.version': '24.1.0',
    'process.pid': 4_194_305,
  });
  const text = (index) => dictionary.stringTable[index];
  const { profiles } = resourceProfiles[0].scopeProfiles[0];
  assert.equal(profiles.length, 2);
  const ids = new Set(profiles.map(({ profileId }) => Buffer.from(profileId).toString('hex')));
  assert(ids.size === 2 && [...ids].every((id) => /^[0-9a-f]{32}$/.test(id)));
  for (const [thread, profile] of profiles.entries()) {
    const ofProfile = profile.attributeIndices.map((index) => dictionary.attributeTable[index]);
    const named = Object.fromEntries(ofProfile.map(({ keyStrindex, value }) => [text(keyStrindex), textOf(value)]));
    assert.equal(named['thread.name'], ['main-thread', 'worker-1'][thread]);
    const millis = (nanos) => Number(BigInt(nanos) / 1_000n) / 1e3;
    assert.equal(millis(profile.timeUnixNano), START + thread);
    const times = profile.samples.flatMap(({ timestampsUnixNano }) => timestampsUnixNano.map(millis)).sort();
    assert.deepEqual(
      times,
      Array.from({ length: 10 }, (_, index) => START + thread + 10 * (index + 1)),
    );
    const stackOf = ({ stackIndex }) =>
      dictionary.stackTable[stackIndex].locationIndices
        .map((index) =>
          text(dictionary.functionTable[dictionary.locationTable[index].lines[0].functionIndex].nameStrindex),
        )
        .join(' < ');
    assert.deepEqual(profile.samples.map(stackOf).sort(), [
      '',
      `(garbage collector) < handle-${thread}`,
      `handle-${thread}`,
    ]);
  }
});
