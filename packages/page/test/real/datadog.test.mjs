// A site that reports to Datadog: the bundle of @datadog/browser-rum with profiling loads its profiler as a separate
// script, and uploads our trace to an intake of the test.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open, serve } from '../server.mjs';
import { modulesOf, packageRoute } from './packages.mjs';
import { assertTraceOf, namesOf } from './traces.mjs';

const RUM = '/npm/@datadog/browser-rum/bundle/datadog-rum.js';

const APP = `
function spin(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
document.getElementById('buy').addEventListener('click', function buy() {
  spin(80);
});
DD_RUM.init({
  applicationId: '11111111-1111-1111-1111-111111111111',
  clientToken: 'pub0123456789',
  site: 'datadoghq.com',
  proxy: location.origin + '/intake',
  service: 'shop',
  env: 'test',
  version: '1.2.3',
  sessionSampleRate: 100,
  profilingSampleRate: 100,
  telemetrySampleRate: 0,
  sessionReplaySampleRate: 0,
  trackLongTasks: true,
  trackUserInteractions: true,
});
`;

async function site(t, headers) {
  const waiting = new Set();
  const html = `<!doctype html><title>Shop</title><button id="buy">Buy</button><script src="${RUM}"></script><script src="/app.js"></script>`;
  const server = await serve(t, {
    '/': { body: html, headers },
    '/app.js': APP,
    '*': packageRoute(modulesOf('SELFPROF_TEST_DATADOG')),
  });
  server.routes['/intake'] = () => {
    for (const wake of waiting) wake();
    return { status: 202, body: '{}', headers: { 'content-type': 'application/json' } };
  };
  const page = await open(t, server.url('/'));
  /** The first request to a path of Datadog's intake for which the condition holds. */
  const upload = async (path, accept = () => true) => {
    for (;;) {
      const found = server.requests.find(
        ({ url, body }) => url.startsWith(`/intake?ddforward=${encodeURIComponent(path)}`) && accept(body),
      );
      if (found !== undefined) return found;
      await new Promise((resolve) => waiting.add(resolve));
    }
  };
  return { page, server, upload };
}

/** The parts of a multipart form by name. https://www.rfc-editor.org/rfc/rfc7578 */
function partsOf({ headers, body }) {
  const [, boundary] = /boundary=(.+)$/.exec(headers['content-type']);
  return new Map(
    body
      .split(`--${boundary}`)
      .slice(1, -1)
      .map((part) => {
        const [head, ...content] = part.split('\r\n\r\n');
        return [/name="(\w[^"]*)"/.exec(head)[1], content.join('\r\n\r\n').trim()];
      }),
  );
}

test('a trace of the page is uploaded, with the long tasks in it', async (t) => {
  const { page, server, upload } = await site(t, { 'document-policy': 'js-profiling' });
  // Profiling has begun when the SDK has asked for permission.
  await upload('/api/v2/profiling/quota');
  await page.evaluate(() => document.getElementById('buy').click());
  // Long tasks are reported in a separate task, the SDK reads them when idle, and discards profiles without one that
  // are shorter than five seconds.
  await page.evaluate(
    () =>
      new Promise((resolve) => {
        const hear = (list) =>
          list.getEntries().some(({ duration }) => duration >= 50) &&
          requestIdleCallback(() => requestIdleCallback(() => setTimeout(resolve)));
        new PerformanceObserver(hear).observe({ type: 'longtask', buffered: true });
      }),
  );
  // In the background it sends what it has collected.
  await page.setVisible(false);
  const parts = partsOf(await upload('/api/v2/profile?'));
  assert.deepEqual([...parts.keys()], ['event', 'wall-time.json']);

  const event = JSON.parse(parts.get('event'));
  assert.equal(event.application.id, '11111111-1111-1111-1111-111111111111');
  assert.match(event.session.id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(event.view.name, ['/']);
  assert.ok(event.long_task.id.length > 0);
  assert.ok(Date.parse(event.start) <= Date.parse(event.end));

  const { frames, resources, samples, stacks, longTasks, sampleInterval, views } = JSON.parse(
    parts.get('wall-time.json'),
  );
  const trace = { frames, resources, samples, stacks };
  const script = (path) => packageRoute(modulesOf('SELFPROF_TEST_DATADOG'))({ url: path })?.body.toString();
  const sources = { [server.url('/app.js')]: APP };
  for (const url of resources)
    if (url.startsWith(server.url('/npm/'))) sources[url] = script(url.slice(server.origin.length));
  assertTraceOf(trace, sources);
  assert.equal(sampleInterval, 10);
  assert.equal(views.length, 1);
  assert.ok(
    longTasks.some(({ duration, entryType }) => duration >= 80 && entryType === 'longtask'),
    JSON.stringify(longTasks),
  );
  const paths = samples.map((sample) => namesOf(trace, sample).join(' > '));
  assert.ok(
    paths.some((path) => /\[click\] > buy > spin/.test(path)),
    paths.join('\n'),
  );
  assert.deepEqual([page.errors, page.problems], [[], []]);

  // Its other events say that the page is profiled.
  const { body } = await upload('/api/v2/rum', (text) => text.includes('"type":"long_task"'));
  const events = body.split('\n').map((line) => JSON.parse(line));
  const tasks = events.filter(({ type }) => type === 'long_task');
  const buying = tasks.find(({ long_task: { id } }) => event.long_task.id.includes(id));
  assert.ok(buying !== undefined, body);
  assert.ok(
    tasks.some(({ _dd: { profiling } }) => profiling.status === 'running'),
    body,
  );
});

test('without the policy, it reports the missing header', async (t) => {
  const { page, upload } = await site(t, {});
  await upload('/api/v2/profiling/quota');
  await page.evaluate("DD_RUM.addAction('probe')");
  await page.setVisible(false);
  const { body } = await upload('/api/v2/rum', (text) => text.includes('"probe"'));
  const action = body
    .split('\n')
    .map((line) => JSON.parse(line))
    .find(({ type }) => type === 'action');
  assert.deepEqual(action._dd.profiling, { status: 'error', error_reason: 'missing-document-policy-header' });
  assert.ok(
    page.log.some((text) => text.includes('Document-Policy: js-profiling')),
    page.log.join('\n'),
  );
});
