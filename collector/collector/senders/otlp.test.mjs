// OTLP profiles, encoded by protobufjs with OpenTelemetry's definitions.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { ask, modules, settled, startCollector } from './collector.mjs';

const { SELFPROF_TEST_OTLP_PROTOS: definitions } = process.env;

const protobuf = createRequire(path.join(modules, '..', 'package.json'))('protobufjs');
const root = new protobuf.Root();
root.resolvePath = (_, target) => (target.startsWith('/') ? target : path.join(definitions, target));
root.loadSync('opentelemetry/proto/collector/profiles/v1development/profiles_service.proto');
const collectorTypes = root.lookup('opentelemetry.proto.collector.profiles.v1development');
const Request = collectorTypes.lookupType('ExportProfilesServiceRequest');
const Response = collectorTypes.lookupType('ExportProfilesServiceResponse');

const STRINGS = ['', 'samples', 'count', 'cpu', 'nanoseconds', 'handle', '/srv/shop.py', 'inuse_space', 'bytes'];
const text = (string) => STRINGS.indexOf(string);

/** What a profiler with 100 samples a second sends for ten of them, with and without the memory. */
function request(service, hasMemory = false) {
  const attribute = (key, stringValue) => ({ key, value: { stringValue } });
  const start = 1_800_000_000_000_000_000n;
  const times = Array.from({ length: 10 }, (_, index) => String(start + BigInt(index) * 10_000_000n));
  const cpu = {
    sampleType: { typeStrindex: text('samples'), unitStrindex: text('count') },
    periodType: { typeStrindex: text('cpu'), unitStrindex: text('nanoseconds') },
    period: 10_000_000,
    timeUnixNano: String(start),
    durationNano: 100_000_000,
    samples: [{ stackIndex: 1, timestampsUnixNano: times }],
  };
  const memory = {
    sampleType: { typeStrindex: text('inuse_space'), unitStrindex: text('bytes') },
    samples: [{ stackIndex: 1, values: [4_096] }],
  };
  return {
    resourceProfiles: [
      {
        resource: { attributes: [attribute('service.name', service), attribute('service.version', '1.4')] },
        scopeProfiles: [{ profiles: hasMemory ? [cpu, memory] : [cpu] }],
      },
    ],
    dictionary: {
      stringTable: STRINGS,
      functionTable: [{}, { nameStrindex: text('handle'), filenameStrindex: text('/srv/shop.py'), startLine: 7 }],
      locationTable: [{}, { lines: [{ functionIndex: 1, line: 9 }] }],
      stackTable: [{}, { locationIndices: [1] }],
    },
  };
}

async function send(host, message, isCompressed = false) {
  const encoded = Request.encode(Request.fromObject(message)).finish();
  const response = await fetch(`http://${host}/v1development/profiles`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', ...(isCompressed ? { 'content-encoding': 'gzip' } : {}) },
    body: isCompressed ? gzipSync(encoded) : encoded,
  });
  assert.equal(response.status, 200);
  return Response.toObject(Response.decode(new Uint8Array(await response.arrayBuffer())), { longs: Number });
}

test('profiles of an exporter are taken in', async (t) => {
  const host = await startCollector(t);
  assert.deepEqual(await send(host, request('shop'), true), {});
  assert.deepEqual(await send(host, request('other', true)), {
    partialSuccess: { rejectedProfiles: 1, errorMessage: 'a profile of "inuse_space", which is not a time' },
  });
  await settled(host, 2);
  const { functions } = await ask(host, 'functions');
  assert.deepEqual(functions, [
    {
      name: 'handle',
      resource: '/srv/shop.py',
      line: 7,
      column: null,
      selfTime: 100,
      totalTime: 100,
      selfSamples: 10,
      totalSamples: 10,
    },
  ]);
  const { profiles } = await ask(host, 'profiles');
  assert.deepEqual([profiles[0].release, profiles[0].device], ['1.4', 'server']);
});
