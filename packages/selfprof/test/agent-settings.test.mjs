// The settings of selfprof/agent.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { PACKAGE } from './program.mjs';

const { default: settings } = await import(`${PACKAGE}/src/continuous/settings.cjs`);
const { readSettings } = settings;

test('environment variables override the program, and the program the file', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'agent.json');
  fs.writeFileSync(file, JSON.stringify({ out: 'http://file:1', app: 'file', period: 30, labels: false }));
  const env = { SELFPROF_AGENT_CONFIG: file, SELFPROF_AGENT_OUT: 'http://env:1', SELFPROF_AGENT_LABELS: '' };
  const { out, app, period, labels, interval } = readSettings({ app: 'program', out: 'http://program:1' }, env);
  assert.deepEqual([out, app, period, labels, interval], ['http://env:1', 'program', 30, false, 10]);
});

test('OpenTelemetry names the service', () => {
  const attributes = 'service.version=2.1,deployment.environment.name=stage%20a,broken,=x,team=shop,bad=%zz';
  const env = { OTEL_SERVICE_NAME: '@acme/shop api', OTEL_RESOURCE_ATTRIBUTES: attributes, NODE_ENV: 'production' };
  const { app, release, environment, resource } = readSettings({}, env);
  assert.deepEqual([app, release, environment, resource.team], ['acme-shop-api', '2.1', 'stage a', 'shop']);
  assert.equal(readSettings({}, { OTEL_RESOURCE_ATTRIBUTES: 'service.name=cart' }).app, 'cart');
});

test('defaults', () => {
  const { out, app, period, interval, spool, children } = readSettings({}, {});
  assert.equal(out, path.resolve('selfprof-profiles'));
  assert.match(app, /^[A-Za-z0-9_-]{1,64}$/);
  assert.deepEqual([period, interval, spool, children], [60, 10, undefined, true]);
});

test('what is wrong is named, with what would be right', () => {
  const check = (options, env, message) =>
    assert.throws(() => readSettings(options, env), { name: 'TypeError', message });
  check({ perod: 1 }, {}, /has the unknown member "perod"\n\nhint: it may have out, format/);
  check({ period: 0 }, {}, /period is 0\n\nhint: use a number from 1 to 86400/);
  check({}, { SELFPROF_AGENT_INTERVAL: 'fast' }, /SELFPROF_AGENT_INTERVAL is "fast"/);
  check({}, { SELFPROF_AGENT_LABELS: 'yes' }, /use true or false/);
  check({ out: 'ftp://x/y' }, {}, /profiles cannot be sent to ftp:\/\/x\/y/);
  check({ out: 'http://' }, {}, /is not a URL/);
  check({ format: 'jfr' }, {}, /use one of collector, folder, pyroscope, otlp/);
  check({ headers: [1] }, {}, /is not an object of strings/);
  check('x', {}, /is not an object/);
  check({}, { SELFPROF_AGENT_CONFIG: '/nowhere.json' }, /cannot read SELFPROF_AGENT_CONFIG/);
});
