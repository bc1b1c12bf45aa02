// Which requests are same-site, on which cookies depend, and what else requests carry.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';

import { eventually, host, jsdom, open, openHtml, openInThisProcess, serve } from './server.mjs';

openInThisProcess();

const require = createRequire(import.meta.url);
const { Cookies } = require('../src/fetch/cookies.cjs');
const { unsafeHeaderNames } = require('../src/fetch/cors.cjs');
const { useJsdom } = require('../src/fetch/jsdom-packages.cjs');
const { siteRelation } = require('../src/fetch/site.cjs');

useJsdom({ folder: jsdom });

suite('a site', () => {
  test('is a scheme and a registrable domain', () => {
    const check = (url, origin, expected) => {
      assert.equal(siteRelation(new URL(url), origin), expected, `${url} from ${origin}`);
    };
    check('https://a.example.com/', 'https://a.example.com', 'same-origin');
    check('https://api.example.com/', 'https://www.example.com', 'same-site');
    check('https://www.example.com/', 'https://example.com', 'same-site');
    check('https://example.com:8443/', 'https://example.com', 'same-site');
    check('https://a.example.co.uk/', 'https://b.example.co.uk', 'same-site');
    check('https://a.co.uk/', 'https://b.co.uk', 'cross-site');
    check('https://alice.github.io/', 'https://github.io', 'cross-site');
    check('https://alice.github.io/', 'https://bob.github.io', 'cross-site');
    check('https://x.alice.github.io/', 'https://alice.github.io', 'same-site');
    check('http://www.example.com/', 'https://www.example.com', 'cross-site');
    check('https://badexample.com/', 'https://example.com', 'cross-site');
    check('http://127.0.0.1:81/', 'http://127.0.0.1', 'same-site');
    check('http://1.127.0.0.1.test/', 'http://127.0.0.1', 'cross-site');
    check('http://127.0.0.2/', 'http://127.0.0.1', 'cross-site');
    check('http://[::1]:81/', 'http://[::1]', 'same-site');
    check('http://localhost:81/', 'http://localhost', 'same-site');
    check('https://a.example.com/', 'null 1.0.1', 'cross-site');
    check('data:,x', 'https://a.example.com', 'cross-site');
  });
});

suite('cookies with Secure', () => {
  test('are not replaced without TLS, even if their host is an address', () => {
    for (const host of ['10.0.0.2', '[fd00::1]', '[FD00:0::1]']) {
      const cookies = new Cookies();
      cookies.apply({ url: 'https://[fd00::1]/', cookie: 'id=good; Secure', isHttp: true });
      cookies.apply({ url: 'https://10.0.0.2/', cookie: 'id=good; Secure', isHttp: true });
      cookies.setByScript(`http://${host}/`, 'id=evil', undefined);
      cookies.setByScript(`http://${host}/`, 'id=; Max-Age=0', undefined);
      assert.deepEqual(
        cookies.list(`https://${host}/`).map(({ name, value }) => `${name}=${value}`),
        ['id=good'],
      );
    }
  });

  for (const [url, text] of [
    ['http://shop.test/', 'id=evil'],
    ['http://shop.test/a/b', 'id=evil; Path=/a'],
    ['http://sub.shop.test/', 'id=evil; Domain=shop.test'],
    ['http://shop.test/', 'id=; Max-Age=0'],
  ])
    test(`are not replaced without TLS: ${text}, at ${url}`, () => {
      const cookies = new Cookies();
      cookies.apply({ url: 'https://shop.test/', cookie: 'id=good; Secure; Domain=shop.test', isHttp: true });
      cookies.setByScript(url, text, undefined);
      assert.deepEqual(
        cookies.list('https://shop.test/a/b').map(({ name, value }) => `${name}=${value}`),
        ['id=good'],
      );
    });
});

suite('cookies that another host sets', () => {
  for (const [what, at, text, host] of [
    ['shadow no cookie with Secure', 'http://a.shop.test/', 'id=evil; Domain=shop.test', 'https://b.shop.test/'],
    ['shadow none without a name', 'http://a.shop.test/', '= =id=evil; Domain=shop.test', 'https://b.shop.test/'],
    ['shadow none by a value alone', 'http://a.shop.test/', '=id=evil; Domain=shop.test', 'https://b.shop.test/'],
    ['have no prefix after spaces', 'https://a.shop.test/', '= =__Host-x=1; Domain=shop.test', 'https://b.shop.test/'],
    ['have no prefix in capitals', 'https://a.shop.test/', '__HOST-x=1; Domain=shop.test', 'https://b.shop.test/'],
    ['have no prefix without a name', 'https://a.shop.test/', '=__Host-x; Domain=shop.test', 'https://b.shop.test/'],
    ['have no prefix without a value', 'https://a.shop.test/', '__Secure-x; Domain=shop.test', 'https://b.shop.test/'],
    [
      'are not from scripts if their name says so',
      'https://a.shop.test/',
      '__Http-x=1; Secure',
      'https://a.shop.test/',
    ],
    ['are not of localhost', 'http://a.localhost/', 'x=1; Domain=localhost', 'http://b.localhost/'],
    ['are not of a domain that is none', 'http://a.test/', 'x=1; Domain=fe80::1%eth0', 'http://a.test/'],
    [
      'are not of a domain of other sites',
      'http://evil.s3.amazonaws.com/',
      'x=1; Domain=amazonaws.com',
      'http://bank.s3.amazonaws.com/',
    ],
    ['are not of a reserved domain', 'http://a.test/', 'x=1; Domain=test', 'http://b.test/'],
  ])
    test(what, () => {
      const cookies = new Cookies();
      cookies.apply({ url: 'https://b.shop.test/', cookie: 'id=good; Secure', isHttp: true });
      cookies.setByScript(at, text, undefined);
      const kept = cookies.list(host).filter(({ value }) => value !== 'good');
      assert.deepEqual(kept, []);
    });

  test('have prefixes if these are true', () => {
    const cookies = new Cookies();
    for (const text of ['__Host-a=1; Secure; Path=/', '__Secure-b=1; Secure; Domain=shop.test'])
      cookies.setByScript('https://a.shop.test/', text, undefined);
    assert.deepEqual(
      cookies.list('https://a.shop.test/').map(({ name }) => name),
      ['__Host-a', '__Secure-b'],
    );
  });

  test('have the prefixes of responses if these are true', () => {
    const cookies = new Cookies();
    const url = 'https://a.shop.test/';
    const isKept = (cookie) => cookies.apply({ url, cookie, isHttp: true });
    assert.ok(isKept('__Http-a=1; Secure; HttpOnly; Domain=shop.test'));
    assert.ok(isKept('__Host-Http-a=1; Secure; HttpOnly; Path=/'));
    assert.ok(!isKept('__Http-b=1; Secure'));
    assert.ok(!isKept('__Host-Http-b=1; Secure; Path=/'));
    assert.ok(!isKept('__Host-Http-c=1; Secure; HttpOnly; Path=/; Domain=shop.test'));
    assert.ok(!isKept('__HTTP-=1; HttpOnly'));
  });

  test('and those of hosts with reserved names are set and sent', () => {
    const user = { isUser: true, origin: 'null 1', embedderPolicy: 'unsafe-none' };
    for (const host of ['localhost', 'test', 'local', 'example', 'a.localhost']) {
      const cookies = new Cookies();
      const url = new URL(`http://${host}/`);
      for (const text of ['a=1', `b=2; Domain=${host}`]) cookies.setByScript(url.href, text, undefined);
      const sent = cookies.headerFor(url, { isTopLevel: true, method: 'GET', client: user });
      assert.equal(sent, 'a=1; b=2', host);
    }
  });
});

test('a cookie has 4,096 bytes at most in its name and value', () => {
  const cookies = new Cookies();
  const apply = (cookie) => cookies.apply({ url: 'http://shop.test/', cookie, isHttp: true });
  assert.ok(apply(`a=${'x'.repeat(4_000)}; Path=/`));
  assert.ok(!apply(`b=${'x'.repeat(4_100)}; Path=/`));
  assert.ok(!apply(`c=${'\u00e4'.repeat(2_100)}`));
});

suite('headers of requests that need no preflight', () => {
  const long = ['accept', 'x'.repeat(120)];

  test('are not longer than a few together', () => {
    assert.deepEqual(unsafeHeaderNames([long]), []);
    // Values of the same name are sent as one.
    assert.deepEqual(unsafeHeaderNames([long, long]), ['accept']);
  });

  test('ask for a range that begins before its end', () => {
    for (const value of ['bytes=0-0', 'bytes=5-', 'bytes=3-5'])
      assert.deepEqual(unsafeHeaderNames([['range', value]]), []);
    for (const value of ['bytes=5-3', 'bytes=-5', 'bytes=0-0, 5-6'])
      assert.deepEqual(unsafeHeaderNames([['range', value]]), ['range']);
  });
});

suite('cookies with SameSite', () => {
  const COOKIES = ['strict=1; SameSite=Strict', 'lax=1; SameSite=Lax', 'default=1'];
  const hosts = Object.fromEntries(
    ['www.example.com', 'api.example.com', 'github.io', 'alice.github.io'].map((name) => [name, '127.0.0.1']),
  );

  /** Two servers. The second one has set cookies. */
  async function start(t, from, to) {
    const page = await serve(t, { '*': '' });
    const target = await serve(t, {
      '/set': { body: '', headers: { 'set-cookie': COOKIES } },
      '*': ({ headers: { origin = '*' } }) => ({
        body: '',
        headers: { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' },
      }),
    });
    const urlOf = (name, { port }, path) => `http://${name}:${port}${path}`;
    const pages = host(t, { hosts, cookies: 'host' });
    await (await pages.open(urlOf(to, target, '/set'))).close();
    const opened = await open(t, urlOf(from, page, '/'), { host: pages });
    const sent = async (path) => {
      await eventually(() => target.requests.some(({ url }) => url === path));
      return target.requests.find(({ url }) => url === path).headers.cookie ?? '';
    };
    return { pages, page: opened, sent, urlOf: (path) => urlOf(to, target, path) };
  }

  for (const [from, to, inFetch, inNavigation] of [
    ['www.example.com', 'api.example.com', 'strict=1; lax=1; default=1', 'strict=1; lax=1; default=1'],
    ['github.io', 'alice.github.io', '', 'lax=1; default=1'],
  ]) {
    test(`are sent from ${from} to ${to} as browsers do`, async (t) => {
      const { pages, page, sent, urlOf } = await start(t, from, to);
      await page.evaluate((url) => fetch(url, { credentials: 'include' }).then(() => {}), urlOf('/fetch'));
      assert.equal(await sent('/fetch'), inFetch);
      await page.evaluate((url) => {
        const frame = document.documentElement.appendChild(document.createElement('iframe'));
        frame.src = url;
        return new Promise((resolve) => {
          frame.onload = () => resolve();
        });
      }, urlOf('/frame'));
      assert.equal(await sent('/frame'), inFetch);
      await page.evaluate((url) => {
        location.href = url;
      }, urlOf('/link'));
      assert.equal(await sent('/link'), inNavigation);
      // A navigation by the user is not cross-site.
      await open(t, urlOf('/typed'), { host: pages });
      assert.equal(await sent('/typed'), 'strict=1; lax=1; default=1');
    });
  }

  for (const [from, has] of [
    ['localhost', true],
    ['other.test', false],
  ]) {
    test(`are ${has ? '' : 'not '}those of a frame of localhost in a page of ${from}`, async (t) => {
      const frame = await serve(t, {
        '/': {
          body: `<script>
            document.cookie = 'set=1; SameSite=Lax';
            document.cookie = 'unsaid=1';
            const before = document.cookie;
            fetch('/data').then(() => parent.postMessage([before, document.cookie], '*'));
          </script>`,
          headers: { 'set-cookie': ['none=1; SameSite=None; Secure', ...COOKIES] },
        },
        '/data': { body: '', headers: { 'set-cookie': 'data=1; SameSite=Strict' } },
        '/visit': { body: '', headers: { 'set-cookie': ['visit=1; SameSite=Strict'] } },
      });
      const hosts = { localhost: '127.0.0.1', 'other.test': '127.0.0.1' };
      const pages = host(t, { hosts, cookies: 'host' });
      // As a page of its own, it gets all cookies.
      await (await pages.open(`http://localhost:${frame.port}/visit`)).close();
      const around = await serve(t, { '/': '<body>' });
      const page = await open(t, `http://${from}:${around.port}/`, { host: pages });
      const seen = await page.evaluate((url) => {
        document.body.append(Object.assign(document.createElement('iframe'), { src: url }));
        return new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data)));
      }, `http://localhost:${frame.port}/`);
      const all = ['none=1', 'strict=1', 'lax=1', 'set=1', 'unsaid=1', 'data=1', 'visit=1', 'default=1'];
      const sorted = (text) => text.split('; ').sort();
      assert.deepEqual(sorted(seen[1]), has ? all.sort() : ['none=1']);
      assert.deepEqual(sorted(seen[0]), has ? all.filter((cookie) => cookie !== 'data=1').sort() : ['none=1']);
      const { headers } = frame.requests.find(({ url }) => url === '/data');
      assert.deepEqual(sorted(headers.cookie), sorted(seen[0]));
    });
  }

  test('are kept with the value None only if they have Secure', async (t) => {
    const names = ['none=1; SameSite=None', 'secure=1; SameSite=None; Secure', 'default=1'];
    const server = await serve(t, { '/': { body: '', headers: { 'set-cookie': names } } });
    const page = await open(t, server.url('/'));
    assert.equal(await page.evaluate('document.cookie'), 'secure=1; default=1');
    const set =
      "document.cookie = 'a=1; SameSite=None'; document.cookie = 'b=1; SameSite=None; Secure'; document.cookie";
    assert.equal(await page.evaluate(set), 'secure=1; default=1; b=1');
  });

  test('end when they say, for WebDriver too', () => {
    const cookies = new Cookies();
    const url = 'http://a.test/';
    const set = (cookie) => cookies.apply({ url, cookie, isHttp: true });
    const past = 'Expires=Mon, 01 Jan 1900 00:00:00 GMT';
    for (const cookie of [
      'session=1',
      `age=1; ${past}; Max-Age=1000`,
      'never=1; Max-Age=1e300',
      'long=1; Max-Age=99999999999999999999',
    ])
      set(cookie);
    const ends = Object.fromEntries(cookies.list(url).map(({ name, expiry }) => [name, expiry]));
    const now = Date.now() / 1_000;
    assert.ok(ends.age > now + 900 && ends.age < now + 1_100, `${ends.age}`);
    for (const name of ['session', 'never', 'long']) assert.equal(ends[name], undefined, name);
  });

  test('end in time, however often they are read', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1e12 });
    const cookies = new Cookies();
    const url = 'http://a.test/';
    cookies.apply({ url, cookie: 'age=1; Max-Age=2', isHttp: true });
    const read = [0, 1_000, 1_000].map((later) => {
      t.mock.timers.tick(later);
      return cookies.forScript(url, undefined);
    });
    assert.deepEqual(read, ['age=1', 'age=1', '']);
  });

  test('are sent with a POST from another site only if they say nothing of sites and are new', async (t) => {
    const url = new URL('https://shop.test/');
    const cookies = new Cookies();
    for (const cookie of ['new=1', 'lax=1; SameSite=Lax', 'none=1; SameSite=None; Secure'])
      assert.ok(cookies.apply({ url: url.href, cookie, isHttp: true }));
    const client = { origin: 'https://bank.test', isUser: false };
    const sent = (isTopLevel, method) => cookies.headerFor(url, { isTopLevel, method, client });
    assert.equal(sent(true, 'GET'), 'new=1; lax=1; none=1');
    assert.equal(sent(true, 'POST'), 'new=1; none=1');
    assert.equal(sent(false, 'POST'), 'none=1');
    assert.equal(sent(false, 'GET'), 'none=1');
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 120_001 });
    assert.equal(sent(true, 'POST'), 'none=1');
    assert.equal(sent(true, 'GET'), 'new=1; lax=1; none=1');
  });
});

suite('credentials of redirected requests', () => {
  // https://fetch.spec.whatwg.org/#main-fetch: its response stays opaque, and "same-origin" is for responses that are
  // not.
  for (const [policy, whenIncluded] of [
    ['unsafe-none', 'own=1'],
    ['credentialless', ''],
  ]) {
    test(`are not sent where another origin has led back to the own one: ${policy}`, async (t) => {
      const server = await serve(t, {
        '/': { body: '', headers: { 'set-cookie': 'own=1', 'cross-origin-embedder-policy': policy } },
        '*': '',
      });
      const other = await serve(t, {
        '*': ({ url }) => ({ status: 302, body: '', headers: { location: server.url(url) } }),
      });
      server.routes['/away'] = { status: 302, body: '', headers: { location: other.url('/back') } };
      const page = await open(t, server.url('/'));
      const sent = async (path, init) => {
        await page.evaluate(async (url, options) => void (await fetch(url, options)), path, init);
        return server.requests.at(-1).headers.cookie ?? '';
      };
      assert.equal(await sent('/here', { mode: 'no-cors' }), 'own=1');
      assert.equal(await sent('/away', { mode: 'no-cors' }), '');
      assert.equal(server.requests.at(-1).url, '/back');
      assert.equal(await sent('/away', { mode: 'no-cors', credentials: 'include' }), whenIncluded);
    });
  }
});

suite('HTTP', () => {
  test('responses must match the integrity of their request', async (t) => {
    const body = 'any body';
    const other = await serve(t, { '/a': body });
    const page = await openHtml(t, '', { routes: { '/a': body } });
    const right = `sha256-${createHash('sha256').update(body).digest('base64')}`;
    const get = (url, init) =>
      page.evaluate(
        (url, init) =>
          fetch(url, init).then(
            ({ type }) => type,
            ({ name }) => name,
          ),
        url,
        init,
      );
    assert.equal(await get('/a', { integrity: right }), 'basic');
    assert.equal(await get('/a', { integrity: right.replace(/-./, '-_') }), 'TypeError');
    assert.equal(await get(other.url('/a'), { mode: 'no-cors' }), 'opaque');
    assert.equal(await get(other.url('/a'), { mode: 'no-cors', integrity: right }), 'TypeError');
  });
});
