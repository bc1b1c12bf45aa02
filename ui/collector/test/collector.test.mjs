// The collector's page in a browser, with the profiles of the shop in fixtures/shop.

import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, it } from 'node:test';

import {
  andSettled,
  ask,
  launch,
  open,
  rowsOf,
  send,
  sendShop,
  settled,
  startCollector,
  textOf,
} from './collector.mjs';

const TRACE = {
  resources: ['https://a.test/app.js'],
  frames: [
    { name: 'main', resourceId: 0, line: 1, column: 1 },
    { name: '<img src=x onerror=alert(1)>', resourceId: 0, line: 2, column: 1 },
  ],
  stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }],
  samples: Array.from({ length: 50 }, (_, time) => ({ timestamp: time * 10, stackId: time % 2 })),
};

/** The rows of the function table. */
async function functionsOf(page) {
  return await rowsOf(page, '.rows .row', '.cell');
}

describe('the page of a collector with the profiles of the shop', () => {
  it('shows all of it', async (t) => {
    const collector = await startCollector(t);
    const browser = await launch(t);
    await sendShop(collector);

    await t.test('functions, as the API has them', async () => {
      const { page, faults, response } = await open(browser, collector);
      const { functions, sessions, profiles } = await ask(collector, 'functions', { app: 'shop' });
      const rows = await functionsOf(page);
      assert.equal(rows[0][3], functions[0].name);
      assert.ok(rows[0][0].startsWith(`${(functions[0].selfTime / sessions).toFixed(1)} ms`), rows[0][0]);
      assert.match(
        await textOf(page, '.summary'),
        new RegExp(`^${profiles.toLocaleString('en')} profiles · ${sessions} sessions`),
      );
      assert.equal(new URL(page.url()).search, '?app=shop');
      const policy = response.headers()['content-security-policy'];
      assert.match(policy, /default-src 'none'.*connect-src 'self'.*frame-ancestors 'none'/);
      const own = await page.$eval('meta[http-equiv=Content-Security-Policy]', (meta) => meta.content);
      assert.match(own, /script-src 'sha256-[^']+';/);
      const isBlocked = await page.evaluate(() => {
        const script = document.createElement('script');
        script.textContent = 'globalThis.injected = true';
        document.body.append(script);
        return globalThis.injected === undefined;
      });
      assert.ok(isBlocked);
      assert.deepEqual(
        faults.filter((fault) => !fault.includes('Content Security Policy')),
        [],
      );
    });

    await t.test('filters, which are in the URL', async () => {
      const { page, faults } = await open(browser, collector);
      await page.waitForFunction(() => document.querySelectorAll('.filters option[value="=/cart"]').length === 1);
      await andSettled(page, () =>
        page.$eval('.filters option[value="=/cart"]', (option) => {
          const select = option.closest('select');
          select.value = option.value;
          select.dispatchEvent(new Event('change'));
        }),
      );
      await page.focus('.where input');
      await page.type('.where input', "release = '1.4'");
      await andSettled(page, () => page.keyboard.press('Enter'));
      await page.waitForFunction(() => location.search.includes('where'));
      await settled(page);
      const parameters = { app: 'shop', where: "page = '/cart' and (release = '1.4')" };
      const { profiles, functions } = await ask(collector, 'functions', parameters);
      assert.ok((await textOf(page, '.summary')).startsWith(`${profiles} profiles`));
      assert.equal((await functionsOf(page))[0][3], functions[0].name);
      // Another tab shows the same.
      const copy = await open(browser, collector, new URL(page.url()).search);
      assert.deepEqual(await functionsOf(copy.page), await functionsOf(page));
      await andSettled(page, () => page.goBack());
      await page.waitForFunction(() => !location.search.includes('where'));
      assert.equal(await page.$eval('.where input', (input) => input.value), '');
      assert.deepEqual([...faults, ...copy.faults], []);
    });

    await t.test('a filter that cannot be read, and one that nothing meets', async () => {
      const { page, faults } = await open(browser, collector, '?app=shop&where=weight%20%3E%205');
      assert.match(await textOf(page, '.state'), /a filter cannot have the operator >/);
      const click = (title) =>
        andSettled(page, () =>
          page.evaluate(
            (text) => [...document.querySelectorAll('.state button')].find((one) => one.textContent === text).click(),
            title,
          ),
        );
      await click('Clear filters');
      assert.ok((await functionsOf(page)).length > 10);
      const other = await open(browser, collector, '?app=shop&release=9');
      assert.match(await textOf(other.page, '.state'), /No profile in this period meets all filters/);
      const unknown = await open(browser, collector, '?app=nothing');
      assert.match(await textOf(unknown.page, '.state'), /no profiles of “nothing”/);
      assert.deepEqual([...faults, ...other.faults, ...unknown.faults], []);
    });

    await t.test('a flame graph, which a click zooms, and Esc zooms out', async () => {
      const { page, faults } = await open(browser, collector, '?app=shop&view=flamegraph');
      await page.mouse.click(200, 190);
      await page.waitForSelector('.zoom-out:not([hidden])');
      await page.waitForFunction(() => location.search.includes('function='));
      await page.keyboard.press('Escape');
      await page.waitForSelector('.zoom-out[hidden]');
      await andSettled(page, () => page.keyboard.press('3'));
      assert.match(await textOf(page, '.sandwich h2'), /total time\. Callers above/);
      assert.deepEqual(faults, []);
    });

    await t.test('keys', async () => {
      const { page, faults } = await open(browser, collector);
      await page.keyboard.press('/');
      await page.keyboard.type('tokenize');
      await page.waitForFunction(() => document.querySelectorAll('.rows .row').length === 1);
      await page.keyboard.press('Escape');
      await page.focus('.grid');
      await page.keyboard.press('ArrowDown');
      await andSettled(page, () => page.keyboard.press('Enter'));
      assert.match(await textOf(page, '.sandwich h2'), /^tokenize /);
      await page.keyboard.press('?');
      assert.match(await textOf(page, 'dialog'), /Keyboard shortcuts/);
      assert.deepEqual(faults, []);
    });

    await t.test('both releases side by side, with the planted regression and nothing else', async () => {
      const { page, faults } = await open(browser, collector, '?view=compare');
      assert.match(
        await textOf(page, '.verdicts'),
        /^cartDiscount is slower: \+\d+\.\d ms per session \(95% interval \+[\d.]+ ms to \+[\d.]+ ms\), p ≤ 0\.001\.68 functions/,
      );
      const rows = await rowsOf(page, '.changes tbody tr', 'td');
      assert.deepEqual(
        rows.filter(([verdict]) => verdict !== 'no evidence').map(([verdict, name]) => [verdict, name]),
        [['slower', 'cartDiscount']],
      );
      const captions = await page.$$eval('figcaption', (all) => all.map((one) => one.textContent));
      assert.deepEqual(
        captions.map((caption) => caption.split(' · ')[0]),
        ['Base: 1.3', 'New: 1.4'],
      );
      await andSettled(page, () => page.click('.sides .icon'));
      assert.match(await textOf(page, '.verdicts'), /^cartDiscount is faster: −/);
      const same = await open(browser, collector, "?view=compare&base=release = '1.4'");
      assert.match(await textOf(same.page, '.verdicts'), /Base and new are the same/);
      assert.deepEqual([...faults, ...same.faults], []);
    });

    await t.test('on a phone, in both themes, without a sideways scroll', async () => {
      for (const view of ['functions', 'flamegraph', 'callers', 'compare'])
        for (const scheme of ['light', 'dark']) {
          const { page, faults } = await open(browser, collector, `?view=${view}`, {
            width: 360,
            height: 740,
            scheme,
            isPhone: true,
          });
          const { width, channel, small } = await page.evaluate(() => ({
            width: document.documentElement.scrollWidth,
            channel: Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]),
            small: [...document.querySelectorAll('button, select, .tabs a')]
              .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 40)
              .map((one) => one.outerHTML),
          }));
          assert.equal(width, 360, view);
          assert.equal(channel > 128, scheme === 'light');
          assert.deepEqual(small, []);
          assert.deepEqual(faults, []);
          await page.close();
        }
    });
  });
});

describe('the page of a collector', () => {
  it('without profiles says how one is sent, and shows it when it is there', async (t) => {
    const collector = await startCollector(t);
    const browser = await launch(t);
    const { page, faults } = await open(browser, collector);
    assert.match(await textOf(page, '.state'), /No profiles yet/);
    const script = await textOf(page, '.state pre');
    const server = http.createServer((_, response) => {
      response.setHeader('document-policy', 'js-profiling');
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><script>${script}
        function busyWork() { for (const end = performance.now() + 300; performance.now() < end; ); }
        setInterval(busyWork, 500);</script>`);
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const visited = await browser.newPage();
    await visited.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.bringToFront();
    await page.waitForFunction(() => document.querySelectorAll('.rows .row').length > 0);
    assert.ok((await functionsOf(page)).some((row) => row[3] === 'busyWork'));
    await visited.close();
    assert.deepEqual(faults, []);
  });

  it('asks for a token, and keeps it in the tab', async (t) => {
    const token = '0123456789abcdef';
    const collector = await startCollector(t, `tokens = ['${token}']\n[apps.shop]\nkeys = ['a-key-of-the-shop']`);
    const browser = await launch(t);
    const { page, faults } = await open(browser, collector);
    const enter = async (text) => {
      await page.waitForSelector('.state input');
      await page.type('.state input', text);
      await andSettled(page, () => page.keyboard.press('Enter'));
    };
    await enter('wrong');
    await page.waitForSelector('.state .error');
    assert.match(await textOf(page, '.state'), /does not know this token/);
    await enter(token);
    await page.waitForFunction(() => document.querySelector('.state h2').textContent === 'No profiles yet');
    assert.match(await textOf(page, '.state pre'), /\?key=KEY/);
    await page.reload();
    await settled(page);
    assert.match(await textOf(page, '.state'), /No profiles yet/);
    assert.ok(!page.url().includes(token));
    assert.deepEqual(faults, []);
  });

  it('shows markup as text', async (t) => {
    const collector = await startCollector(t);
    const browser = await launch(t);
    const markup = '<script>alert(1)</script><img src=x onerror=alert(2)>\'" or 1=1';
    const [first, second] = ['1', '2'].map((release) => ({
      app: 'shop',
      release: markup + release,
      page: markup,
      trace: TRACE,
    }));
    await send(collector, 'shop', [first, second].map((one) => JSON.stringify(one)).join('\n'));
    for (const view of ['functions', 'flamegraph', 'callers', 'compare']) {
      const { page, faults } = await open(browser, collector, `?view=${view}&page=${encodeURIComponent(markup)}`);
      await page.waitForFunction(() => document.querySelectorAll('option').length > 8);
      assert.equal(await page.$('.views img, .views script, .filters img'), null);
      if (view === 'functions')
        assert.deepEqual((await functionsOf(page)).map((row) => row[3]).sort(), [
          '<img src=x onerror=alert(1)>',
          'main',
        ]);
      assert.deepEqual(faults, []);
      await page.close();
    }
  });

  it('says that the collector does not answer', async (t) => {
    const collector = await startCollector(t);
    const browser = await launch(t);
    await send(collector, 'shop', JSON.stringify({ app: 'shop', release: '1', page: '/', trace: TRACE }));
    const { page } = await open(browser, collector);
    await collector.stop();
    await andSettled(page, () => page.keyboard.press('r'));
    await page.waitForSelector('.state');
    assert.match(await textOf(page, '.state'), /The collector does not answer\. ?Is it running/);
  });
});
