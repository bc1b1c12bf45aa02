// The collector's page in a browser, with the profiles of the shop in fixtures/shop.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  andSettled,
  ask,
  launch,
  open,
  rowsOf,
  send,
  sendShop,
  settled,
  shop,
  startCollector,
  textOf,
  uploadMaps,
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
  return await rowsOf(page, '.rows .row', '.cell:not(.trend)');
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

    await t.test('the times of functions over the period, as the API has them', async () => {
      const { page, faults } = await open(browser, collector, '?app=shop&from=-24h');
      const { step, points, functions } = await ask(collector, 'series', { app: 'shop', from: '-24h' });
      assert.deepEqual([step, points.length], ['hour', 25]);
      await page.waitForSelector('.rows .trend-bars');
      const heights = (await page.$eval('.rows .trend-bars path', (path) => path.getAttribute('d'))).match(/M/g);
      assert.equal(heights.length, points.filter(({ sessions }) => sessions > 0).length);
      await page.click('.rows .row .name');
      await page.waitForSelector('.trend-chart:not([hidden]) canvas');
      assert.ok((await textOf(page, '.trend-chart h2')).startsWith(`${functions[0].name} per session, hour by hour`));
      await page.click('.trend-chart .close');
      await page.waitForSelector('.trend-chart[hidden]');
      // A period that is too long for a series has a table all the same.
      const long = await open(browser, collector, '?app=shop&from=1970-01-01');
      assert.ok((await functionsOf(long.page)).length > 10);
      assert.equal(await long.page.$('.trend-bars'), null);
      assert.deepEqual([...faults, ...long.faults], []);
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

    await t.test('spans, and what runs in the slow tenth of one', async () => {
      const { page, faults } = await open(browser, collector, '?app=shop&view=spans');
      const { spans } = await ask(collector, 'spans', { app: 'shop' });
      const rows = await rowsOf(page, '.span-list tbody tr', 'td');
      assert.deepEqual(
        rows.map(([name, times]) => [name, times]),
        spans.map(({ name, times }) => [name, times.toLocaleString('en')]),
      );
      assert.match(await textOf(page, '.spans .hint'), /^Choose a span/);
      await andSettled(page, () => page.click('.span-list tbody tr'));
      await page.waitForFunction(() => location.search.includes('span='));
      const slow = await ask(collector, 'spans/slow', { app: 'shop', span: spans[0].name });
      assert.match(
        await textOf(page, '.spans .verdicts'),
        new RegExp(`^The slow tenth of \\(long task\\): ${slow.slow.spans} spans took 174 ms or longer`),
      );
      const [first] = await rowsOf(page, '.span-functions tbody tr', 'td');
      assert.deepEqual([first[0], first[4]], [slow.functions[0].name, slow.functions[0].resource]);
      const captions = await page.$$eval('.spans figcaption', (all) => all.map((one) => one.textContent));
      assert.match(captions[0], /^Slow tenth: 174 ms or longer · \d+ spans/);
      // The other views show what runs in the span.
      await andSettled(page, () => page.click('.spans .actions .button'));
      const where = `span = '${spans[0].name}'`;
      const { functions } = await ask(collector, 'functions', { app: 'shop', where });
      assert.equal((await functionsOf(page))[0][3], functions[0].name);
      const missing = await open(browser, collector, '?app=shop&view=spans&span=nothing');
      assert.match(await textOf(missing.page, '.spans .hint'), /^There is no “nothing” here\. Choose a span/);
      assert.deepEqual([...faults, ...missing.faults], []);
    });

    await t.test('single profiles, of which each opens as a timeline', async () => {
      const { page, faults } = await open(browser, collector, '?app=shop&view=profiles&page=/cart');
      const times = async () => (await rowsOf(page, '.profile-list tbody tr', '.busy')).flat();
      assert.equal((await times()).length, 100);
      const choose = async (index) => {
        await andSettled(page, () => page.click(`.orders .button:nth-child(${index})`));
        await page.waitForSelector(`.orders .button:nth-child(${index})[aria-pressed=true]`);
      };
      await choose(3);
      assert.match(
        await textOf(page, '.toolbar p'),
        /^The 100 profiles whose busy time is nearest to the median, \d+ ms\.$/,
      );
      assert.equal((await rowsOf(page, '.is-median', '.page'))[0][0], '/cart');
      await choose(2);
      const { profiles } = await ask(collector, 'profiles', { app: 'shop', where: "page = '/cart'", order: 'longest' });
      assert.equal((await times())[0], `${profiles[0].busyTime.toFixed(0)} ms`);
      await Promise.all([page.waitForNavigation(), page.click('.profile-list tbody a')]);
      await page.waitForSelector('.timeline canvas');
      assert.equal(new URL(page.url()).pathname, `/profiles/${profiles[0].id}`);
      assert.match(await textOf(page, 'h1'), /^\/cart · 1\.[34] · /);
      assert.match(await textOf(page, '.summary'), new RegExp(`· ${profiles[0].samples} samples · `));
      const names = await page.evaluate(() => globalThis.selfprofReport.state.profile.frames.data.names);
      assert.ok(names.includes('cartDiscount'), names.join());
      const policy = await page.$eval('meta[http-equiv=Content-Security-Policy]', (meta) => meta.content);
      assert.match(policy, /script-src 'sha256-[^']+';/);
      await Promise.all([page.waitForNavigation(), page.click('.back')]);
      await settled(page);
      assert.match(page.url(), /view=profiles/);
      await page.goto(`${collector.url}profiles/0000000000000000?app=shop`);
      await page.waitForSelector('.state');
      assert.match(await textOf(page, '.state .error'), /there is no such profile/);
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
      for (const view of ['functions', 'flamegraph', 'callers', 'spans', 'spans&span=search', 'profiles', 'compare'])
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

describe('a regression that the collector finds', () => {
  it('is shown, with links to the comparisons', async (t) => {
    const token = '0123456789abcdef';
    const settings = `tokens = ['${token}']\n[apps.shop]\nkeys = ['a-key-of-the-shop']\n[alerts]\nevery = '1s'`;
    const collector = { ...(await startCollector(t, settings)), token, key: 'a-key-of-the-shop' };
    const browser = await launch(t);
    const profiles = (release) => fs.readFileSync(path.join(shop, 'profiles', `${release}.jsonl.gz`));
    const gzip = { 'content-encoding': 'gzip' };
    await send(collector, 'shop', profiles('1.3'), gzip);
    await send(collector, 'shop', profiles('1.4'), gzip);
    const until = async (isReached) => {
      while (!isReached(await ask(collector, 'alerts', { app: 'shop' }))) await sleep(200);
    };
    await until(({ waiting }) => waiting.length > 0);
    const { page, faults } = await open(browser, collector);
    await page.type('.state input', token);
    await andSettled(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('.alerts:not([hidden])');
    assert.equal(await textOf(page, '.alerts summary'), 'Release 1.4 is not compared with 1.3 yet.');
    await andSettled(page, () => page.goto(`${collector.url}?view=compare`));
    assert.match(
      await textOf(page, '.verdicts .warning'),
      /^⚠ Release 1\.3 has no source maps\. \d+ of \d+ functions have/,
    );
    await uploadMaps(collector);
    await until(({ alerts }) => alerts.length > 0);
    await andSettled(page, () => page.goto(collector.url));
    await page.waitForSelector('.alerts:not(.is-waiting)');
    assert.equal(await textOf(page, '.alerts summary'), '⚠ cartDiscount is slower in 1.4 than in 1.3 on 4 pages.');
    await page.click('.alerts summary');
    await andSettled(page, () => page.click('.alerts a'));
    await page.waitForFunction(() => location.search.includes('view=compare'));
    await settled(page);
    const parameters = new URL(page.url()).searchParams;
    assert.deepEqual([parameters.get('page'), parameters.get('search')], ['/checkout', 'cartDiscount']);
    assert.match(await textOf(page, '.verdicts'), /^cartDiscount is slower: /);
    assert.deepEqual(faults, []);
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

  it('shows how many sessions are profiled, even if none is', async (t) => {
    const collector = await startCollector(t);
    const browser = await launch(t);
    const report = (id, name, coverage, rate) => JSON.stringify({ app: 'shop', id, browser: name, coverage, rate });
    await fetch(`${collector.url}v1/profiles`, { method: 'POST', body: report('1', 'Chrome 153', 'not-allowed', 0.1) });
    const { page, faults } = await open(browser, collector);
    assert.match(await textOf(page, '.state'), /The application has no profiles/);
    await page.waitForSelector('.coverage:not([hidden])');
    assert.equal(await textOf(page, '.coverage summary'), '0% of sessions profiled');
    const markup = '<img src=x onerror=alert(1)>';
    await send(
      collector,
      'shop',
      [
        report('2', 'Chrome 153', 'native', 0.1),
        report('3', markup, 'no-api', 0.1),
        JSON.stringify({ app: 'shop', trace: TRACE }),
      ].join('\n'),
    );
    await andSettled(page, () => page.keyboard.press('r'));
    await page.waitForFunction(() => document.querySelector('.coverage summary').textContent.startsWith('33.3%'));
    await page.click('.coverage summary');
    assert.deepEqual(await rowsOf(page, '.coverage tbody tr', 'th, td'), [
      ['Chrome 153', '20', '50.0%', '', '50.0%'],
      [markup, '10', '', '100%', ''],
      ['All', '30', '33.3%', '33.3%', '33.3%'],
    ]);
    assert.equal(await page.$('.coverage img'), null);
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
    for (const view of ['functions', 'flamegraph', 'callers', 'spans', 'profiles', 'compare']) {
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
