// What arrives of pages that are left, hidden, closed, killed, or have no network.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { functionsOf, launch, startCollector, startReceiver, startSite, until } from './site.mjs';

const AS_USERS_DO = { runBeforeUnload: true };

async function visited(t, more = '') {
  const receiver = await startReceiver(t);
  const options = `{ url: '${receiver.url}v1/profiles', app: 'shop', ${more} }`;
  const url = await startSite(t, { options });
  const browser = await launch(t);
  const page = await browser.newPage();
  await page.goto(url);
  return { receiver, url, browser, page };
}

const hasFunction = (receiver, name) => () => functionsOf(receiver.profiles()).has(name);

/** Whether this browser keeps pages for Back. Headless builds do not. */
async function keepsPages(page, url) {
  await page.goto(`${url}app.js`);
  await page.evaluate(() => {
    addEventListener('pageshow', ({ persisted }) => (globalThis.persisted = persisted));
  });
  await page.goto(`${url}selfprof.js`);
  await page.goBack();
  return await page.evaluate(() => globalThis.persisted === true);
}

describe('what a page has recorded', () => {
  it('arrives when another page follows', async (t) => {
    const { receiver, page, url } = await visited(t);
    await page.evaluate(() => busyWork(200));
    await page.goto(`${url}next`);
    await until(hasFunction(receiver, 'busyWork'));
    // The next page does not know whether it arrived, and sends it again. It is the same profile.
    await until(() => receiver.uploads.length > new Set(receiver.uploads.map(({ id }) => id)).size);
    await sleep(500);
    assert.ok(await page.evaluate(() => sessionStorage.getItem('selfprof.unsent') === null));
  });

  it('arrives when its tab is closed', async (t) => {
    const { receiver, page } = await visited(t);
    await page.evaluate(() => busyWork(200));
    await page.close(AS_USERS_DO);
    await until(hasFunction(receiver, 'busyWork'));
  });

  it('arrives when the page is hidden, and goes on when it is shown', async (t) => {
    const { receiver, page } = await visited(t);
    await page.evaluate(() => busyWork(200));
    const session = await page.createCDPSession();
    const { windowId } = await session.send('Browser.getWindowForTarget');
    const set = (windowState) => session.send('Browser.setWindowBounds', { windowId, bounds: { windowState } });
    await set('minimized');
    await until(() => page.evaluate(() => document.hidden));
    await until(hasFunction(receiver, 'busyWork'));
    // Nothing is recorded now.
    await page.evaluate(() => busyWork(200));
    await set('normal');
    await until(() => page.evaluate(() => !document.hidden));
    const [shown, known] = [await page.evaluate(() => performance.now()), receiver.profiles().length];
    await page.evaluate(() => onClick());
    await page.close(AS_USERS_DO);
    await until(hasFunction(receiver, 'onClick'));
    for (const { trace } of receiver.profiles().slice(known)) assert.ok(trace.samples[0].timestamp > shown - 500);
  });

  it('arrives after there was no network', async (t) => {
    const { receiver, page, url } = await visited(t);
    await page.setOfflineMode(true);
    await page.evaluate(() => {
      busyWork(200);
      agent.flush();
    });
    await sleep(2_000);
    assert.deepEqual(receiver.requests, []);
    await page.setOfflineMode(false);
    // Between 2.5 and 7.5 seconds after the failure.
    await until(hasFunction(receiver, 'busyWork'));

    // Pages without a network keep it for those of their tab that have one.
    receiver.answer = 503;
    const other = receiver.requests.length;
    await page.evaluate(() => onClick());
    await page.goto(`${url}next`);
    await until(() => receiver.requests.length > other);
    assert.ok(!hasFunction(receiver, 'onClick')());
    receiver.answer = 202;
    await page.goto(`${url}last`);
    await until(hasFunction(receiver, 'onClick'));
  });

  it('is dropped if the collector does not want it', async (t) => {
    const { receiver, page, url } = await visited(t);
    receiver.answer = 401;
    await page.evaluate(() => agent.flush());
    await until(() => receiver.requests.length === 1);
    await page.evaluate(() => busyWork(100));
    await page.evaluate(() => agent.flush());
    await sleep(1_500);
    receiver.answer = 202;
    await page.goto(`${url}next`);
    await sleep(2_000);
    assert.ok(
      receiver.uploads.every(({ page }) => page === '/next'),
      JSON.stringify(receiver.uploads),
    );
  });

  it('is lost with a page that crashes, if it was not sent', async (t) => {
    const { receiver, page, url, browser } = await visited(t);
    await page.evaluate(() => {
      atStart();
      agent.flush();
    });
    await until(hasFunction(receiver, 'atStart'));
    await page.evaluate(() => onClick());
    page.goto('chrome://crash').catch(() => {});
    await sleep(1_000);
    assert.ok(!hasFunction(receiver, 'onClick')());
    // Other pages are profiled as before.
    const next = await browser.newPage();
    await next.goto(`${url}next`);
    await next.evaluate(() => onClick());
    await next.close(AS_USERS_DO);
    await until(hasFunction(receiver, 'onClick'));
  });

  it('goes on in a page that is restored by Back', async (t) => {
    const { receiver, page, url } = await visited(t);
    if (!(await keepsPages(page, url))) {
      t.skip('this browser keeps no pages');
      return;
    }
    await page.goto(`${url}first`);
    await page.evaluate(() => {
      globalThis.isSame = true;
      busyWork(200);
    });
    // A request of the worker may be on its way.
    await page.evaluate(() => agent.flush());
    await sleep(1_000);
    await page.goto(`${url}second`);
    await until(() => receiver.profiles().some(({ page }) => page === '/first'));
    await page.goBack();
    assert.equal(await page.evaluate(() => globalThis.isSame), true);
    await page.evaluate(() => onClick());
    await page.evaluate(() => agent.flush());
    await until(() => receiver.profiles().some((one) => one.page === '/first' && functionsOf([one]).has('onClick')));
    // No sample is there twice.
    const times = receiver.profiles().filter(({ page }) => page === '/first');
    const all = times.flatMap(({ trace }) => trace.samples.map(({ timestamp }) => timestamp));
    assert.equal(new Set(all).size, all.length);
  });

  it('begins when a page that was rendered in advance is shown', async (t) => {
    const { receiver, page } = await visited(t);
    const isPrerendered = await page.evaluate(async () => {
      const rules = document.createElement('script');
      rules.type = 'speculationrules';
      rules.textContent = JSON.stringify({ prerender: [{ urls: ['/advance'] }] });
      document.head.append(rules);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return HTMLScriptElement.supports('speculationrules');
    });
    assert.ok(isPrerendered);
    assert.ok(receiver.uploads.every(({ page }) => page === '/'));
    await page.evaluate(() => {
      location.href = '/advance';
    });
    await until(() => page.evaluate(() => location.pathname === '/advance').catch(() => false));
    await sleep(500);
    const start = await page.evaluate(() => performance.getEntriesByType('navigation')[0].activationStart);
    if (!start) {
      t.skip('this browser renders no pages in advance');
      return;
    }
    await page.evaluate(() => onClick());
    await page.close(AS_USERS_DO);
    await until(() => receiver.profiles().some(({ page }) => page === '/advance'));
    const shown = receiver.profiles().filter(({ page }) => page === '/advance');
    assert.ok(functionsOf(shown).has('onClick') && !functionsOf(shown).has('atStart'));
    assert.ok(shown.every(({ trace }) => trace.samples[0].timestamp >= start));
    assert.equal(new Set(receiver.profiles().map(({ session }) => session)).size, 1);
  });
});

describe('a collector that is killed and started again and again', () => {
  it('has each profile once that was handed over', async (t) => {
    const collector = await startCollector(t);
    // The collector lists profiles by page, and not by the ids of their senders. All pages share the local storage.
    const options = `{
      url: '${collector.url}v1/profiles', app: 'shop',
      beforeSend(upload) { localStorage[upload.id] = 1; return { ...upload, page: upload.id }; },
    }`;
    const url = await startSite(t, { options });
    const browser = await launch(t);
    let isOver = false;
    const visit = async () => {
      const page = await browser.newPage();
      for (let index = 0; !isOver; index++) {
        await page.goto(`${url}${index}`);
        await page.evaluate(() => busyWork(100));
        if (index % 3 === 1) await page.evaluate(() => agent.flush());
        await sleep(200 + 700 * (index % 4));
      }
      // The last page of a tab sends what earlier ones have kept.
      await page.goto(`${url}last`);
      await until(() => page.evaluate(() => sessionStorage.getItem('selfprof.unsent') === null));
      await page.evaluate(() => agent.flush());
      await sleep(2_000);
    };
    const kill = async () => {
      for (let kills = 0; kills < 5; kills++) {
        await sleep(1_500 + 700 * (kills % 3));
        await collector.end('SIGKILL');
        await sleep(500);
        await collector.start();
      }
      isOver = true;
    };
    await Promise.all([visit(), visit(), visit(), kill()]);
    const [page] = await browser.pages();
    await page.goto(`${url}app.js`);
    const handed = await page.evaluate(() => Object.keys(localStorage).sort());
    assert.ok(handed.length > 20, `${handed.length} profiles`);
    const list = async () => (await collector.ask('profiles', { app: 'shop', top: 100_000 })).profiles;
    await until(async () => (await list()).length >= handed.length).catch(() => {});
    const stored = (await list()).map(({ page }) => page).sort();
    assert.deepEqual(stored, handed);
  });
});
