// Pages with @sentry/browser, whose DSN names the collector, in headless Chromium.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { ask, metricsOf, startCollector, TOKEN } from './collector.mjs';
import { launch, newPage, serveSentryPage, TIMEOUT } from './pages.mjs';

/**
 * What profiles are made with, by the SDK's major. Up to 10, transactions have profiles; from 10 on, profiles go on by
 * themselves.
 */
const OF_TRANSACTIONS = { tracesSampleRate: 1, profilesSampleRate: 1 };
const WITH_TRACES = { tracesSampleRate: 1, profileSessionSampleRate: 1, profileLifecycle: 'trace' };
const BY_HAND = { profileSessionSampleRate: 1, profileLifecycle: 'manual' };
const CASES = [
  { major: 8, options: OF_TRANSACTIONS, item: 'profile', isOfPage: true },
  { major: 9, options: OF_TRANSACTIONS, item: 'profile', isOfPage: true },
  { major: 10, options: OF_TRANSACTIONS, item: 'profile', isOfPage: true },
  { major: 10, options: WITH_TRACES, item: 'profile_chunk' },
  { major: 11, options: WITH_TRACES, item: 'profile_chunk' },
  { major: 11, options: BY_HAND, item: 'profile_chunk' },
];

async function open(t, url) {
  const { page, faults } = await newPage(await launch(t));
  await page.goto(url);
  return faults;
}

/** Waits until a function of the page can be asked for, and returns all. */
async function functionsOf(host, faults) {
  for (;;) {
    const { functions } = await ask(host, 'functions');
    if (functions.some(({ name }) => name === 'tokenize')) return functions;
    assert.deepEqual(faults, []);
    await sleep(200);
  }
}

for (const { major, options, item, isOfPage = false } of CASES) {
  const how = options.profileLifecycle ?? 'transactions';
  test(`the SDK's major ${major}, profiling by ${how}`, { timeout: TIMEOUT }, async (t) => {
    const host = await startCollector(t);
    const url = await serveSentryPage(t, { major, options }, `http://shop@${host}/42`);
    const faults = await open(t, url);
    const tokenize = (await functionsOf(host, faults)).find(({ name }) => name === 'tokenize');
    assert.equal(tokenize.resource, new URL('/shop.js', url).href);
    assert.ok(tokenize.line > 1 && tokenize.column > 1, JSON.stringify(tokenize));
    assert.ok(tokenize.selfTime > 250 && tokenize.selfTime < 2_000, JSON.stringify(tokenize));
    const { profiles } = await ask(host, 'profiles');
    const [profile] = profiles;
    assert.deepEqual([profile.release, profile.environment, profile.device], ['1.4', 'test', 'desktop']);
    assert.match(profile.browser, /^Chrome \d+$/);
    if (isOfPage) {
      assert.equal(profile.page, '/cart');
      const during = await ask(host, 'functions', { where: "span = 'checkout'" });
      const { selfTime } = during.functions.find(({ name }) => name === 'tokenize');
      assert.ok(selfTime > 200 && selfTime < 400, `${selfTime}`);
      const order = await ask(host, 'functions', { where: "span = 'order'" });
      assert.ok(order.functions.some(({ name }) => name === 'tokenize'));
    }
    const metrics = await metricsOf(host);
    const [, count] = new RegExp(`selfprof_envelope_items_total\\{type="${item}"\\} (\\d+)`).exec(metrics);
    assert.ok(Number(count) >= 1, metrics);
    assert.deepEqual(faults, []);
  });
}

test('with settings, the key says which application it is', { timeout: TIMEOUT }, async (t) => {
  const key = '0123456789abcdef0123456789abcdef';
  const host = await startCollector(t, `tokens = ['${TOKEN}']\n[apps.shop]\nkeys = ['${key}']\n`);
  const url = await serveSentryPage(t, { major: 11, options: BY_HAND }, `http://${key}@${host}/1`);
  await functionsOf(host, await open(t, url));
});
