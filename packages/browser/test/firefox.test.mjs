// The agent in Firefox, which has no Profiler. SELFPROF_TEST_FIREFOX is its path; without it, this is skipped.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import puppeteer from 'puppeteer-core';

import { functionsOf, startReceiver, startSite, TIMEOUT, until } from './site.mjs';

const { SELFPROF_TEST_FIREFOX: firefox } = process.env;
const skip = firefox ? false : 'SELFPROF_TEST_FIREFOX is not set';

async function launch(t) {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: firefox,
    headless: true,
    timeout: TIMEOUT,
    protocolTimeout: TIMEOUT,
  });
  t.after(() => browser.close());
  return browser;
}

it('says that there is no Profiler in Firefox, and nothing breaks', { skip }, async (t) => {
  const receiver = await startReceiver(t);
  const url = await startSite(t, { options: `{ url: '${receiver.url}v1/profiles', app: 'shop' }` });
  const browser = await launch(t);
  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(url);
  await page.click('button');
  await page.evaluate(() => {
    performance.mark('mark');
    history.pushState({}, '', '/cart');
    agent.flush();
  });
  await until(() => receiver.coverage().length > 0);
  await page.goto(`${url}next`);
  await sleep(1_500);
  await page.close();
  await sleep(500);
  const coverage = new Map(receiver.coverage().map((report) => [report.id, report]));
  assert.deepEqual(
    [...coverage.values()].map(({ page, coverage }) => [page, coverage]),
    [['/', 'no-api']],
  );
  assert.deepEqual([receiver.profiles(), faults, receiver.preflights], [[], [], 0]);
});

it('profiles pages in Firefox by a polyfill, by route', { skip }, async (t) => {
  const receiver = await startReceiver(t);
  const polyfill = `{ url: '${receiver.url}v1/profiles', app: 'shop', Profiler: class {
    #start = performance.now();
    sampleInterval = 10;
    addEventListener() {}
    async stop() {
      const samples = [];
      for (let time = this.#start; time < performance.now(); time += 10) samples.push({ timestamp: time, stackId: 0 });
      return { resources: [], frames: [{ name: 'polyfilled' }], stacks: [{ frameId: 0 }], samples };
    }
  } }`;
  const url = await startSite(t, { options: polyfill });
  const browser = await launch(t);
  const page = await browser.newPage();
  await page.goto(url);
  await sleep(200);
  await page.evaluate(() => history.pushState({}, '', '/cart/17'));
  await sleep(200);
  await page.evaluate(() => agent.flush());
  await until(() => receiver.profiles().length >= 2);
  assert.deepEqual(
    receiver.profiles().map(({ page }) => page),
    ['/', '/cart/:id'],
  );
  assert.deepEqual([...functionsOf(receiver.profiles())], ['polyfilled']);
  assert.ok(receiver.requests.some(({ isGzip }) => isGzip));
  assert.deepEqual(
    receiver.coverage().map(({ coverage }) => coverage),
    ['polyfill'],
  );
});
