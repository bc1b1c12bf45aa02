// A site that reports to Sentry: @sentry/browser with browserProfilingIntegration, as ES modules with an import map,
// sends the profile that it makes from our trace to a server of the test.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open, serve } from '../server.mjs';
import { modulesOf, packageRoute } from './packages.mjs';

const IMPORTS = {
  '@sentry/browser': '@sentry/browser/build/npm/esm/prod/index.js',
  '@sentry/browser-utils': '@sentry/browser-utils/build/esm/index.js',
  '@sentry/conventions/attributes': '@sentry/conventions/dist/attributes.mjs',
  '@sentry/conventions/metrics': '@sentry/conventions/dist/metrics.mjs',
  '@sentry/conventions/op': '@sentry/conventions/dist/op.mjs',
  '@sentry/core': '@sentry/core/build/esm/index.js',
  '@sentry/core/browser': '@sentry/core/build/esm/browser.js',
  '@sentry/feedback': '@sentry/feedback/build/npm/esm/index.js',
  '@sentry/replay': '@sentry/replay/build/npm/esm/index.js',
  '@sentry/replay-canvas': '@sentry/replay-canvas/build/npm/esm/index.js',
  'web-vitals': 'web-vitals/dist/web-vitals.js',
};
const IMPORT_MAP = JSON.stringify({
  imports: Object.fromEntries(Object.entries(IMPORTS).map(([name, file]) => [name, `/npm/${file}`])),
});

const APP = `
import * as Sentry from '@sentry/browser';

function spin(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

Sentry.init({
  dsn: location.origin.replace('//', '//public@') + '/42',
  release: 'shop@1.2.3',
  environment: 'test',
  integrations: [Sentry.browserProfilingIntegration()],
  tracesSampleRate: 1,
  profileSessionSampleRate: 1,
  profileLifecycle: 'manual',
});

window.checkout = async function checkout() {
  Sentry.uiProfiler.startProfiler();
  spin(100);
  Sentry.uiProfiler.stopProfiler();
};

window.fail = function fail() {
  throw new RangeError('out of stock');
};
`;

/** Starts a site, and returns the page and a function that waits for an item of a type. */
async function site(t, headers = {}) {
  const items = [];
  const waiting = new Set();
  const modules = modulesOf('SELFPROF_TEST_SENTRY');
  const server = await serve(t, {
    '/': {
      body: `<!doctype html><title>Shop</title><script type="importmap">${IMPORT_MAP}</script><script type="module" src="/app.js"></script>`,
      headers,
    },
    '/app.js': APP,
    '*': packageRoute(modules),
  });
  server.routes['/api/42/envelope/'] = () => {
    const {
      body,
      headers: sent,
      url,
    } = server.requests.findLast(({ url: asked }) => asked.startsWith('/api/42/envelope/'));
    // https://develop.sentry.dev/sdk/data-model/envelopes/: a header, then a header and a payload for each item.
    const lines = body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    for (let at = 1; at < lines.length; at += 2)
      items.push({ type: lines[at].type, payload: lines[at + 1], envelope: lines[0], sent, url });
    for (const wake of waiting) wake();
    return { body: '{}', headers: { 'content-type': 'application/json' } };
  };
  const page = await open(t, server.url('/'));
  const item = async (type) => {
    for (;;) {
      const found = items.find((one) => one.type === type);
      if (found !== undefined) return found;
      await new Promise((resolve) => waiting.add(resolve));
    }
  };
  return { page, server, item, items };
}

test('a profile of the page reaches the server', async (t) => {
  const { page, server, item } = await site(t, { 'document-policy': 'js-profiling' });
  const before = Date.now() / 1_000;
  await page.evaluate('checkout()');
  const { payload, url } = await item('profile_chunk');
  const after = Date.now() / 1_000;
  assert.match(url, /sentry_key=public/);
  assert.equal(payload.platform, 'javascript');
  assert.equal(payload.version, '2');
  assert.deepEqual([payload.release, payload.environment], ['shop@1.2.3', 'test']);
  for (const id of [payload.profiler_id, payload.chunk_id]) assert.match(id, /^[0-9a-f]{32}$/);

  const { frames, stacks, samples } = payload.profile;
  assert.ok(samples.length > 3, `${samples.length} samples`);
  let last = before - 1;
  for (const sample of samples) {
    assert.ok(sample.timestamp >= last && sample.timestamp <= after + 1, `${before} ${sample.timestamp} ${after}`);
    last = sample.timestamp;
    assert.ok(sample.stack_id in stacks);
    assert.equal(payload.profile.thread_metadata[sample.thread_id].name, 'main');
  }
  for (const stack of stacks) for (const id of stack) assert.ok(id in frames);
  const named = (id) => frames[id].function;
  const spinning = stacks.find((stack) => stack.map(named).join().includes('spin,checkout'));
  assert.ok(spinning !== undefined, JSON.stringify(stacks.map((stack) => stack.map(named))));
  const checkout = frames.find((frame) => frame.function === 'checkout');
  const line = APP.split('\n').findIndex((text) => text.includes('function checkout('));
  assert.deepEqual(
    [checkout.abs_path, checkout.lineno, checkout.colno],
    [server.url('/app.js'), line + 1, APP.split('\n')[line].indexOf('checkout()') + 9],
  );
  // Sentry's own frames are in its modules.
  for (const frame of frames) {
    const path = frame.abs_path?.slice(server.origin.length);
    assert.ok(
      path === undefined || path === '/app.js' || path.startsWith('/npm/@sentry/') || frame.abs_path === 'evaluate',
      frame.abs_path,
    );
  }
  assert.deepEqual(page.errors, []);
  assert.deepEqual(page.problems, []);
});

test('errors are reported with their stack', async (t) => {
  const { page, server, item } = await site(t, { 'document-policy': 'js-profiling' });
  await page.evaluate('setTimeout(fail); 0');
  const { payload } = await item('event');
  const [exception] = payload.exception.values;
  assert.deepEqual([exception.type, exception.value], ['RangeError', 'out of stock']);
  const frame = exception.stacktrace.frames.findLast(({ filename }) => filename === server.url('/app.js'));
  assert.match(frame.function, /fail/);
});

test('without the policy, nothing is profiled and the page works', async (t) => {
  const { page, item, items } = await site(t);
  await page.evaluate('checkout()');
  // Reports arrive in order.
  await page.evaluate('setTimeout(fail); 0');
  await item('event');
  assert.ok(!items.some(({ type }) => type === 'profile_chunk'));
});
