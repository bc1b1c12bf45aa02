// The agent in pages of Chromium.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { functionsOf, launch, startReceiver, startSite, until } from './site.mjs';

/** A page with the agent, and what it sends. `more` is the text of further options. */
async function visited(t, { more = '', path = '', before = () => {}, args, ...site } = {}) {
  const receiver = await startReceiver(t);
  const options = `{ url: '${receiver.url}v1/profiles', app: 'shop', release: '1.4', ${more} }`;
  const url = await startSite(t, { options, ...site });
  const browser = await launch(t, { args });
  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await before(page, receiver);
  await page.goto(url + path);
  const flush = async (count = 1) => {
    const known = receiver.profiles().length;
    await page.evaluate(() => agent.flush());
    await until(() => receiver.profiles().length >= known + count);
  };
  return { receiver, url, browser, page, faults, flush };
}

describe('a page with the agent', () => {
  it('is profiled by route, from its start', async (t) => {
    const { receiver, page, faults, flush } = await visited(t, { path: 'product/123?token=secret#part' });
    await page.click('button');
    await page.evaluate(() => {
      history.pushState({}, '', '/cart?token=secret');
      const start = performance.now();
      busyWork(200);
      performance.measure('checkout', { start, end: performance.now() });
      history.replaceState({}, '', '/cart#other');
    });
    await flush(2);
    const [product, cart] = receiver.profiles();
    assert.deepEqual([product.page, cart.page], ['/product/:id', '/cart']);
    const started = functionsOf([product]);
    // The code in its HTML.
    assert.ok(product.trace.resources.includes(new URL('/product/:id', page.url()).href));
    assert.ok(receiver.requests.every(({ text }) => !text.includes('/123')));
    assert.ok(['atStart', 'busyWork', 'onClick'].every((name) => started.has(name)));
    assert.ok(!functionsOf([cart]).has('atStart'));
    for (const { app, release, session, rate } of [product, cart])
      assert.deepEqual([app, release, session, rate], ['shop', '1.4', product.session, 1]);
    assert.equal(await page.evaluate(() => agent.session), product.session);

    // A click is several events, of which the longest is sent.
    const interactions = product.entries.filter(({ entryType }) => entryType === 'event');
    assert.equal(interactions.length, 1);
    assert.ok(interactions[0].interactionId > 0 && interactions[0].duration >= 296);
    const types = new Set(product.entries.map(({ entryType }) => entryType));
    assert.ok(types.has('longtask') && types.has('long-animation-frame'), [...types].join());
    assert.deepEqual(
      cart.entries.filter(({ entryType }) => entryType === 'measure').map(({ name }) => name),
      ['checkout'],
    );

    for (const { text, isGzip, headers } of receiver.requests) {
      assert.ok(!/secret|token|\?|#part/.test(text), text);
      assert.ok(isGzip);
      assert.deepEqual(
        [headers.referer, headers.cookie, headers['content-encoding']],
        [undefined, undefined, undefined],
      );
    }
    assert.equal(receiver.preflights, 0);
    assert.deepEqual(
      receiver.coverage().map(({ coverage }) => coverage),
      ['native'],
    );
    assert.deepEqual(faults, []);
  });

  it('has no gap and no sample twice where one profiler follows another', async (t) => {
    // Each profiler is full after half a second, or a quarter of one passes.
    const { receiver, page } = await visited(t, { more: 'maxBufferSize: 50' });
    const busyEnd = await page.evaluate(async () => {
      for (const end = performance.now() + 6_000; performance.now() < end; ) {
        busyWork(30);
        await new Promise((resolve) => setTimeout(resolve));
      }
      return performance.now();
    });
    // The agent may have sent everything by itself.
    await page.evaluate(() => agent.flush());
    const isLast = ({ trace }) => trace.samples.at(-1).timestamp > busyEnd - 500;
    await until(() => receiver.profiles().some(isLast));
    const profiles = receiver.profiles();
    assert.ok(profiles.length > 3, `${profiles.length} profiles`);
    const times = profiles.map(({ trace }) => trace.samples.map(({ timestamp }) => timestamp));
    times.sort(([a], [b]) => a - b);
    const all = times.flat();
    for (let index = 1; index < all.length; index++)
      assert.ok(all[index] > all[index - 1], `${all[index]} is there twice`);
    // The distance between the last sample of one and the first of the next is not greater than others are. Afterwards
    // nothing runs, and what has only that is not sent.
    const busy = times.filter(([first]) => first < busyEnd);
    const gaps = busy.slice(1).map(([first], index) => first - busy[index].at(-1));
    const others = busy.flatMap((list) => list.slice(1).map((time, index) => time - list[index]));
    const longest = Math.max(50, ...others);
    assert.ok(gaps.length > 3 && Math.max(...gaps) < 1.5 * longest, `${gaps.join()}; longest other: ${longest}`);
  });

  it('is not profiled if its session was not chosen, and stays so', async (t) => {
    const { receiver, page, url } = await visited(t, { more: 'sampleRate: globalThis.rate ?? 0' });
    await page.evaluateOnNewDocument(() => {
      globalThis.rate = 1;
    });
    await page.goto(`${url}next`);
    assert.equal(await page.evaluate(() => agent.session), undefined);
    await page.evaluate(() => agent.flush());
    await page.close();
    await sleep(1_500);
    assert.deepEqual(receiver.requests, []);
  });

  it('is in one session with the other pages of its tab, and has the rate at which that was chosen', async (t) => {
    const { receiver, page, url, flush } = await visited(t, { more: 'sampleRate: globalThis.rate ?? 1' });
    await page.evaluateOnNewDocument(() => {
      globalThis.rate = 0.000001;
    });
    await flush();
    await page.goto(`${url}next`);
    await flush();
    const sessions = new Set(receiver.profiles().map(({ session, rate }) => `${session} ${rate}`));
    assert.equal(sessions.size, 1);
    assert.match([...sessions][0], /^[\da-z]{20,28} 1$/);
    assert.equal(receiver.coverage().length, 1);
  });

  it('is left alone if its user objects, by Global Privacy Control', async (t) => {
    const { receiver, page } = await visited(t, {
      before: (page) =>
        page.evaluateOnNewDocument(() => {
          Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true });
        }),
    });
    assert.equal(await page.evaluate(() => agent.session), undefined);
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await page.close();
    await sleep(1_500);
    assert.deepEqual(receiver.requests, []);
  });

  it('has the last word on what is sent', async (t) => {
    const { receiver, page, faults, flush } = await visited(t, {
      more: `beforeSend(upload) {
        if (upload.page === '/private') return null;
        if (upload.page === '/broken') throw new Error('broken');
        upload.entries = upload.entries.filter(({ name }) => name !== 'secret');
        return { ...upload, page: upload.page + '!' };
      }`,
    });
    await page.evaluate(() => {
      performance.mark('secret');
      for (const path of ['/private', '/broken', '/public']) {
        history.pushState({}, '', path);
        busyWork(100);
      }
    });
    await flush(2);
    assert.deepEqual(
      receiver.profiles().map(({ page }) => page),
      ['/!', '/public!'],
    );
    assert.ok(receiver.requests.every(({ text }) => !text.includes('"secret"')));
    assert.deepEqual(faults, []);
  });

  it('names its routes itself', async (t) => {
    const { receiver, page, faults, flush } = await visited(t, {
      more: `route({ pathname }) { return pathname.split('/').length > 5 ? missing : pathname.replace(/^\\/p\\/.*/, '/p/:name'); }`,
      path: 'p/blue-shoe',
    });
    await page.evaluate(() => {
      history.pushState({}, '', '/a/b/c/d/e/f');
      busyWork(100);
    });
    await flush(2);
    assert.deepEqual(
      receiver.profiles().map(({ page }) => page),
      ['/p/:name', ''],
    );
    assert.deepEqual(faults, []);
  });

  it('sends what is too large for one request of a page that ends in several pieces', async (t) => {
    const names = Array.from({ length: 400 }, (_, index) => `function_${index}_${'x'.repeat(300)}`);
    const code = (name) =>
      `function ${name}() { for (const end = performance.now() + 25; performance.now() < end; ); }`;
    const { receiver, page, url } = await visited(t, { files: { '/many.js': names.map(code).join('\n') } });
    await page.addScriptTag({ url: '/many.js' });
    await page.evaluate((all) => {
      for (const name of all) globalThis[name]();
    }, names);
    await sleep(1_000);
    await page.goto(`${url}next`);
    await until(() => receiver.profiles().some(({ page }) => page === '/' || page === ''));
    const atEnd = receiver.requests.filter(({ isGzip }) => !isGzip);
    assert.ok(atEnd.length > 0);
    const bytes = atEnd.reduce((sum, request) => sum + request.bytes, 0);
    assert.ok(bytes <= 65_536, `${bytes} bytes`);
    // The next page sends the others. A busy machine misses some functions; what one request can have is less than half
    // of these.
    await until(
      () => [...functionsOf(receiver.profiles())].filter((name) => name.startsWith('function_')).length > 300,
    );
    assert.ok(receiver.profiles().every((profile) => JSON.stringify(profile).length <= 60_000));
  });

  it('sends without a worker if its policy forbids one', async (t) => {
    const { receiver, page, faults, flush } = await visited(t, {
      headers: () => ({
        'document-policy': 'js-profiling',
        'content-security-policy': "worker-src 'none'",
      }),
    });
    await page.evaluate(() => busyWork(100));
    await flush();
    assert.ok(functionsOf(receiver.profiles()).has('busyWork'));
    assert.ok(receiver.requests.every(({ isGzip }) => !isGzip));
    assert.deepEqual(faults, []);
  });
});

describe('the agent', () => {
  it('sends to a relative address from its worker', async (t) => {
    const receiver = await startReceiver(t);
    const address = `${receiver.url.slice('http:'.length)}v1/profiles`;
    const url = await startSite(t, { options: `{ url: '${address}', app: 'shop' }` });
    const browser = await launch(t);
    const page = await browser.newPage();
    await page.goto(url);
    await until(() => receiver.requests.length > 0);
    assert.ok(receiver.requests[0].isGzip);
  });

  it('takes the measurements of web-vitals', async (t) => {
    const vitals = fs.readFileSync(new URL('./web-vitals.iife.js', import.meta.resolve('web-vitals')), 'utf8');
    const { receiver, page } = await visited(t, {
      files: { '/vitals.js': vitals },
      body: () =>
        '<button>Click</button><p>Text of some length</p><script src="/vitals.js"></script><script>agent.addVitals(webVitals)</script>',
    });
    // Those that listen later are told later than the agent.
    await page.evaluate(() => {
      globalThis.seen = new Set();
      for (const name of ['FCP', 'INP', 'LCP', 'TTFB'])
        webVitals[`on${name}`](() => seen.add(name), { reportAllChanges: true });
    });
    await page.click('button');
    await page.waitForFunction(() => seen.size === 4);
    await page.close({ runBeforeUnload: true });
    const measured = () => {
      const entries = receiver.profiles().flatMap((profile) => profile.entries);
      return new Map(entries.filter(({ entryType }) => entryType === 'measure').map((entry) => [entry.name, entry]));
    };
    await until(() => measured().size >= 4);
    const { INP, LCP, ...rest } = Object.fromEntries(measured());
    assert.deepEqual(Object.keys(rest).sort(), ['FCP', 'TTFB']);
    assert.ok(INP.duration >= 296 && INP.startTime > 0, JSON.stringify(INP));
    assert.ok(LCP.duration > 0 && LCP.startTime === 0, JSON.stringify(LCP));
  });

  it('does nothing in a worker of Chromium, which has no Profiler, and works with a polyfill', async (t) => {
    const polyfill = `Profiler: class {
      addEventListener() {}
      async stop() {
        const samples = [{ timestamp: performance.now() - 2, stackId: 0 }, { timestamp: performance.now() - 1, stackId: 0 }];
        return { resources: [], frames: [{ name: 'inWorker' }], stacks: [{ frameId: 0 }], samples };
      }
    }`;
    const worker = (more) => `importScripts('/selfprof.js');
      onmessage = ({ data: [url, session] }) => {
        const agent = selfprof.init({ url, session, app: 'shop', ${more} });
        agent.flush();
        postMessage([typeof Profiler, agent.session]);
      };`;
    const { receiver, page, flush } = await visited(t, {
      files: { '/plain-worker.js': worker(''), '/polyfilled-worker.js': worker(polyfill) },
    });
    await flush();
    const start = (script) =>
      page.evaluate(
        (path, url) =>
          new Promise((resolve, reject) => {
            const worker = new Worker(path);
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = ({ message }) => reject(new Error(message));
            worker.postMessage([url, agent.session]);
          }),
        script,
        `${receiver.url}v1/profiles`,
      );
    const [{ session }] = receiver.profiles();
    assert.deepEqual(await start('/plain-worker.js'), ['undefined', session]);
    assert.deepEqual(await start('/polyfilled-worker.js'), ['undefined', session]);
    await until(() => functionsOf(receiver.profiles()).has('inWorker'));
    assert.deepEqual([...new Set(receiver.profiles().map((profile) => profile.session))], [session]);
    assert.deepEqual(
      receiver.profiles().map((profile) => profile.page),
      ['/', '/polyfilled-worker.js'],
    );
    // The page has said for both how it is profiled.
    const kinds = new Set(receiver.coverage().map(({ coverage }) => coverage));
    assert.ok(!kinds.has('no-api'), [...kinds].join());
  });
});

describe('a page that cannot be profiled', () => {
  it('says so once in a session', async (t) => {
    const { receiver, page, url, faults } = await visited(t, { headers: () => ({}), path: 'a' });
    await until(() => receiver.coverage().length === 1);
    await page.goto(`${url}b`);
    await sleep(2_000);
    assert.deepEqual(
      receiver.coverage().map(({ app, page, rate, coverage }) => ({ app, page, rate, coverage })),
      [{ app: 'shop', page: '/a', rate: 1, coverage: 'not-allowed' }],
    );
    assert.deepEqual([receiver.profiles(), faults], [[], []]);
  });

  it('is profiled by a polyfill if it has one', async (t) => {
    const polyfill = `globalThis.ProfilerPolyfill = class {
      sampleInterval = 10;
      addEventListener() {}
      async stop() {
        const now = performance.now();
        return { resources: [], frames: [{ name: 'polyfilled' }], stacks: [{ frameId: 0 }],
          samples: [{ timestamp: now - 20, stackId: 0 }, { timestamp: now - 10, stackId: 0 }] };
      }
    };`;
    const { receiver, flush } = await visited(t, {
      headers: () => ({}),
      before: (page) => page.evaluateOnNewDocument(polyfill),
    });
    await flush();
    assert.deepEqual([...functionsOf(receiver.profiles())], ['polyfilled']);
    assert.deepEqual(
      receiver.coverage().map(({ coverage }) => coverage),
      ['polyfill'],
    );
  });

  it('works as before if the profiler fails', async (t) => {
    const { receiver, page, faults } = await visited(t, {
      before: (page) =>
        page.evaluateOnNewDocument(() => {
          globalThis.Profiler = class {
            constructor() {
              throw new Error('broken');
            }
          };
        }),
    });
    await until(() => receiver.coverage().length === 1);
    assert.equal(receiver.coverage()[0].coverage, 'failed');
    assert.equal(await page.evaluate(() => typeof agent.flush), 'function');
    assert.deepEqual(faults, []);
  });
});
