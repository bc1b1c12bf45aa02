// What pages in Chromium send is in the collector's page, in Chromium too, within ten seconds.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { startCollector } from './collector.mjs';
import { launch, newPage, servePage, serveSentryPage, TIMEOUT } from './pages.mjs';

/** In milliseconds. */
const LIMIT = 10_000;

/** Works again and again, as a busy page does. */
const WORK = `
function tokenize(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
setInterval(() => tokenize(20), 50);
`;

/** The script that docs/collector.md shows, but every visit is profiled. */
function scriptOf(host) {
  const text = fs.readFileSync(path.join(import.meta.dirname, '../../../docs/collector.md'), 'utf8');
  const [script] = /^<script type="module">\n[\s\S]*?^<\/script>$/m.exec(text);
  const changed = script.replace('const rate = 0.1;', 'const rate = 1;').replace('127.0.0.1:4319', host);
  assert.ok(changed.includes('const rate = 1;') && changed.includes(`http://${host}/v1/profiles`), changed);
  return changed;
}

const SENDERS = {
  'the ten lines of the documentation': (t, host) =>
    servePage(t, `<script src="/shop.js"></script>${scriptOf(host)}`, WORK),
  '@sentry/browser': (t, host) => {
    const options = { profileSessionSampleRate: 1, profileLifecycle: 'manual' };
    return serveSentryPage(t, { major: 11, options }, `http://shop@${host}/42`);
  },
};

/** When a page sends a profile, in milliseconds. */
function sent(page, host) {
  const { promise, resolve } = Promise.withResolvers();
  page.on('request', async (request) => {
    const { host: receiver, pathname } = new URL(request.url());
    if (receiver !== host || request.method() !== 'POST') return;
    const time = Date.now();
    if (pathname === '/v1/profiles') return resolve(time);
    const body = request.postData() ?? (await request.fetchPostData());
    if (/"type":"profile(_chunk)?"/.test(body)) resolve(time);
  });
  return promise;
}

/** Whether the collector's page has a function in its table. */
async function shows(page, name) {
  await page.waitForFunction(
    () =>
      document.querySelector('main:not([aria-busy]) .views > *') !== null &&
      document.querySelector('.views .progress') === null,
  );
  return await page.$$eval(
    '.rows .row',
    (rows, name) => rows.some((row) => [...row.querySelectorAll('.cell')].some((cell) => cell.textContent === name)),
    name,
  );
}

for (const [sender, serve] of Object.entries(SENDERS)) {
  test(`what a page with ${sender} sends`, { timeout: TIMEOUT }, async (t) => {
    const host = await startCollector(t);
    const url = await serve(t, host);
    const browser = await launch(t);
    const { page: ours, faults: oursFaults } = await newPage(browser);
    await ours.goto(`http://${host}/?app=shop`);
    assert.equal(await shows(ours, 'tokenize'), false);
    const { page, faults } = await newPage(browser);
    const whenSent = sent(page, host);
    await page.goto(url);
    const begin = await whenSent;
    await ours.bringToFront();
    do {
      await sleep(200);
      await ours.reload();
    } while (!(await shows(ours, 'tokenize')) && Date.now() - begin < 6 * LIMIT);
    const time = Date.now() - begin;
    t.diagnostic(`${time} ms`);
    assert.ok(time <= LIMIT, `${time} ms`);
    assert.deepEqual([...faults, ...oursFaults], []);
  });
}
