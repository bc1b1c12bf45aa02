// Resource Timing and Navigation Timing: what a page learns about its own load and about its resources.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { open, openHtml, serve } from './server.mjs';

/** A GIF of one pixel, written by hand for this test. */
const PIXEL = Buffer.from('GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;', 'latin1');

const TIMES = [
  'startTime',
  'redirectStart',
  'redirectEnd',
  'fetchStart',
  'domainLookupStart',
  'domainLookupEnd',
  'connectStart',
  'connectEnd',
  'requestStart',
  'responseStart',
  'responseEnd',
];

/** Runs in the page: the entries of a type, without the document's origin in their names. */
function entriesOf(type) {
  return performance
    .getEntriesByType(type)
    .map((entry) => ({ ...entry.toJSON(), name: entry.name.replace(location.origin, '') }));
}

suite('resources', () => {
  test('are entries with their initiator types', async (t) => {
    const page = await openHtml(
      t,
      `<link rel=stylesheet href=/a.css><script src=/a.js></script><script type=module src=/a.mjs></script>
       <img src=/a.gif><iframe src=/frame.html></iframe>`,
      {
        routes: {
          '/a.css': '',
          '/a.js': '',
          '/a.mjs': "import '/b.mjs';",
          '/b.mjs': '',
          '/frame.html': '<p>',
          '/data.json': '{"a":1}',
          '/a.gif': { body: PIXEL, headers: { 'content-type': 'image/gif' } },
        },
      },
    );
    await page.evaluate(async () => {
      await (await fetch('/data.json')).text();
      const request = new XMLHttpRequest();
      request.open('GET', '/data.json?xhr');
      await new Promise((resolve) => {
        request.onload = resolve;
        request.send();
      });
      await fetch('/missing.txt');
    });
    const entries = await page.evaluate(entriesOf, 'resource');
    assert.deepEqual(
      entries.map(({ name, initiatorType, responseStatus }) => [name, initiatorType, responseStatus]).sort(),
      [
        ['/a.css', 'link', 200],
        ['/a.gif', 'img', 200],
        ['/a.js', 'script', 200],
        ['/a.mjs', 'script', 200],
        ['/b.mjs', 'script', 200],
        ['/data.json', 'fetch', 200],
        ['/data.json?xhr', 'xmlhttprequest', 200],
        ['/frame.html', 'iframe', 200],
        ['/missing.txt', 'fetch', 404],
      ],
    );
    for (const entry of entries) {
      assert.equal(entry.entryType, 'resource');
      assert.equal(entry.duration, entry.responseEnd - entry.startTime);
      const { fetchStart, domainLookupStart, connectStart, connectEnd, requestStart, responseStart, responseEnd } =
        entry;
      const inOrder = [
        fetchStart,
        domainLookupStart,
        connectStart,
        connectEnd,
        requestStart,
        responseStart,
        responseEnd,
      ];
      assert.deepEqual(
        inOrder,
        [...inOrder].sort((a, b) => a - b),
        JSON.stringify(entry),
      );
      assert.ok(fetchStart > 0 && requestStart > 0, JSON.stringify(entry));
      // The clock's resolution is 100 microseconds.
      for (const name of TIMES) assert.equal(Math.round(entry[name] * 10), Math.round(entry[name] * 1e6) / 1e5, name);
    }
    const { encodedBodySize, decodedBodySize, transferSize, nextHopProtocol, contentType } = entries.find(
      ({ name }) => name === '/data.json',
    );
    assert.deepEqual(
      { encodedBodySize, decodedBodySize, transferSize, nextHopProtocol, contentType },
      {
        encodedBodySize: 7,
        decodedBodySize: 7,
        transferSize: 307,
        nextHopProtocol: 'http/1.1',
        contentType: 'application/json',
      },
    );
  });

  test('of another origin show only how long they took, unless the origin allows more', async (t) => {
    const other = await serve(t, {
      '/secret.js': 'secret();',
      '/open.js': { body: 'open();', headers: { 'timing-allow-origin': '*' } },
      '/away.js': { status: 302, headers: { location: '/secret.js' } },
    });
    const page = await openHtml(
      t,
      `<script>function secret() {} </script><script src="${other.url('/secret.js')}"></script>
      <script src="${other.url('/open.js')}"></script><script src="${other.url('/away.js')}"></script><script src="/there.js"></script>`,
      {
        routes: { '/there.js': { status: 302, headers: { location: other.url('/secret.js') } } },
      },
    );
    const entries = await page.evaluate(entriesOf, 'resource');
    assert.deepEqual(
      entries.map(({ name }) => name),
      [other.url('/secret.js'), other.url('/open.js'), other.url('/away.js'), '/there.js'],
    );
    const [hidden, open, away, there] = entries;
    for (const entry of [hidden, away, there]) {
      const told = Object.entries(entry)
        .filter(([, value]) => value !== 0 && value !== '')
        .map(([name]) => name);
      const known = [
        'id',
        'name',
        'entryType',
        'startTime',
        'duration',
        'navigationId',
        'initiatorType',
        'fetchStart',
        'responseEnd',
        'renderBlockingStatus',
      ];
      assert.deepEqual(
        told.filter((name) => !known.includes(name)),
        [],
        entry.name,
      );
      assert.equal(entry.fetchStart, entry.startTime, 'redirects included');
    }
    assert.ok(open.requestStart > 0 && open.encodedBodySize === 7);
  });

  test('of another origin do not tell status and type of a response that cannot be read, whatever the origin allows', async (t) => {
    const headers = { 'timing-allow-origin': '*' };
    const other = await serve(t, {
      '/none': { status: 404, body: 'none', headers: { ...headers, 'content-type': 'text/plain' } },
      '/shared': { status: 404, body: 'none', headers: { ...headers, 'access-control-allow-origin': '*' } },
      '/away': { status: 302, headers: { ...headers, location: '/none' } },
    });
    const page = await openHtml(t, '', {
      routes: { '/there': { status: 302, headers: { ...headers, location: other.url('/none') } } },
    });
    await page.evaluate(async (origin) => {
      for (const url of [`${origin}/none`, `${origin}/away`, '/there']) await fetch(url, { mode: 'no-cors' });
      for (const url of [`${origin}/shared`, '/missing']) await fetch(url);
      await new Promise((resolve) => {
        const frame = Object.assign(document.createElement('iframe'), { src: `${origin}/none?frame`, onload: resolve });
        document.body.append(frame);
      });
    }, other.origin);
    const told = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name, responseStatus, contentType }) => [new URL(name).pathname, responseStatus, contentType]),
    );
    assert.deepEqual(told, [
      ['/none', 0, ''],
      ['/away', 0, ''],
      ['/there', 0, ''],
      ['/shared', 404, 'text/html'],
      ['/missing', 404, told[4][2]],
      ['/none', 0, ''],
    ]);
  });

  test('are reported when they are loaded, frames of other origins before their documents run', async (t) => {
    let goOn;
    const held = new Promise((resolve) => (goOn = resolve));
    const other = await serve(t, { '/frame.html': '<script src=/held.js></script>', '/held.js': () => held });
    const page = await openHtml(t, `<iframe src="${other.url('/frame.html')}"></iframe>`, {
      waitUntil: 'domcontentloaded',
    });
    const entry = await page.evaluate(
      () =>
        new Promise((resolve) =>
          new PerformanceObserver((list) => resolve(list.getEntries()[0].toJSON())).observe({
            type: 'resource',
            buffered: true,
          }),
        ),
    );
    assert.deepEqual(
      [entry.name, entry.initiatorType, entry.responseStatus, entry.requestStart],
      [other.url('/frame.html'), 'iframe', 0, 0],
    );
    goOn('');
  });

  test('that could not be loaded are entries, too', async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate(() => fetch('http://127.0.0.1:1/').catch(() => {}));
    const [{ responseStatus, requestStart, responseEnd }] = await page.evaluate(entriesOf, 'resource');
    assert.deepEqual([responseStatus, requestStart], [0, 0]);
    assert.ok(responseEnd > 0);
  });

  test('of a worker belong to the worker, and its script to its owner', async (t) => {
    const page = await openHtml(t, '', {
      routes: {
        '/worker.js': `importScripts('/a.js');
          fetch('/data.json').then(() => postMessage(performance.getEntriesByType('resource').map(({ name, initiatorType }) => [name, initiatorType])));`,
        '/a.js': '',
        '/data.json': '1',
      },
    });
    const got = await page.evaluate(async () => {
      const worker = new Worker('/worker.js');
      const inWorker = await new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
      worker.terminate();
      const inPage = performance.getEntriesByType('resource').map(({ name, initiatorType }) => [name, initiatorType]);
      return { inWorker, inPage };
    });
    const named = (...pairs) => pairs.map(([path, type]) => [page.server.url(path), type]);
    assert.deepEqual(got.inWorker, named(['/a.js', 'other'], ['/data.json', 'fetch']));
    assert.deepEqual(got.inPage, named(['/worker.js', 'other']));
  });

  test('fill a buffer, which fires an event and drops further entries', async (t) => {
    const page = await openHtml(t, '', { routes: { '*': 'x' } });
    const got = await page.evaluate(async () => {
      const events = [];
      const load = async (name) => {
        const observed = new Promise((resolve) => {
          const observer = new PerformanceObserver((_list, _observer, options) => {
            observer.disconnect();
            resolve(options.droppedEntriesCount);
          });
          observer.observe({ type: 'resource' });
        });
        await fetch(name);
        return await observed;
      };
      const names = () => performance.getEntriesByType('resource').map(({ name }) => name.slice(-2));
      performance.setResourceTimingBufferSize(2);
      performance.onresourcetimingbufferfull = function () {
        events.push([this === performance, names().join()]);
      };
      const dropped = [await load('/1'), await load('/2'), await load('/3')];
      performance.onresourcetimingbufferfull = () => performance.setResourceTimingBufferSize(3);
      dropped.push(await load('/4'));
      const before = names();
      performance.clearResourceTimings();
      return { events, dropped, before, after: names(), counted: performance.getEntries().length };
    });
    assert.deepEqual(got, {
      events: [[true, '/1,/2']],
      dropped: [0, 0, 1, 1],
      before: ['/1', '/2', '/4'],
      after: [],
      // The navigation.
      counted: 1,
    });
  });
});

suite('the navigation', () => {
  test('is an entry from the start, whose times are set as they pass', async (t) => {
    const server = await serve(t, {
      '/away': { status: 302, headers: { location: '/' } },
      '/': `<script>var early = performance.getEntriesByType('navigation')[0].toJSON();
        new PerformanceObserver((list) => { var [seen] = list.getEntries(); globalThis.seen = seen; }).observe({ type: 'navigation' });</script>`,
    });
    const page = await open(t, server.url('/away'));
    const { early, late, same } = await page.evaluate(async () => {
      while (globalThis.seen === undefined) await new Promise((resolve) => setTimeout(resolve));
      const [entry] = performance.getEntriesByType('navigation');
      return {
        early,
        late: entry.toJSON(),
        same: entry === seen && entry === performance.getEntriesByName(location.href)[0],
      };
    });
    assert.ok(same);
    assert.deepEqual(
      [early.name, early.entryType, early.type, early.redirectCount, early.startTime],
      [server.url('/'), 'navigation', 'navigate', 1, 0],
    );
    assert.deepEqual([early.loadEventEnd, early.duration], [0, 0]);
    assert.equal(late.duration, late.loadEventEnd);
    const inOrder = [
      'redirectStart',
      'redirectEnd',
      'fetchStart',
      'requestStart',
      'responseStart',
      'responseEnd',
      'domInteractive',
      'domContentLoadedEventStart',
      'domContentLoadedEventEnd',
      'domComplete',
      'loadEventStart',
      'loadEventEnd',
    ].map((name) => late[name]);
    assert.deepEqual(
      inOrder,
      [...inOrder].sort((a, b) => a - b),
      JSON.stringify(late),
    );
    assert.ok(late.responseEnd > 0 && late.domInteractive > 0);
    assert.equal(late.id, late.navigationId);
    // A fragment navigation keeps the document.
    assert.equal(
      await page.evaluate(() => {
        location.hash = 'a';
        return performance.getEntriesByType('navigation')[0].name;
      }),
      server.url('/'),
    );
  });

  test('of a frame is separate, and cross-origin redirects are hidden', async (t) => {
    const other = await serve(t, {
      '/away': (request) => ({
        status: 302,
        headers: { location: new URL(request.url, 'http://a').searchParams.get('to') },
      }),
    });
    const server = await serve(t, {
      '/frame.html': '<p>',
      '/': () => `<iframe src="${other.url('/away')}?to=${encodeURIComponent(server.url('/frame.html'))}"></iframe>`,
    });
    const page = await open(t, server.url('/'));
    const [entry] = await page.evaluate(() =>
      frames[0].performance.getEntriesByType('navigation').map((item) => item.toJSON()),
    );
    assert.equal(entry.name, server.url('/frame.html'));
    assert.deepEqual([entry.redirectCount, entry.redirectStart, entry.redirectEnd], [0, 0, 0]);
    assert.ok(entry.responseEnd > 0);
  });

  test('fills performance.timing', async (t) => {
    const page = await openHtml(t, '');
    const timing = await page.evaluate(() => performance.timing.toJSON());
    const inOrder = [
      'navigationStart',
      'fetchStart',
      'requestStart',
      'responseStart',
      'responseEnd',
      'domInteractive',
    ].map((name) => timing[name]);
    assert.deepEqual(
      inOrder,
      [...inOrder].sort((a, b) => a - b),
    );
    assert.ok(timing.navigationStart > 0);
  });
});

test('entries of any window cannot be cloned', async (t) => {
  const page = await openHtml(t, '<iframe srcdoc="<p>"></iframe>');
  const got = await page.evaluate(() => {
    performance.mark('a');
    const child = frames[0];
    return [
      performance.getEntriesByName('a')[0],
      child.performance.getEntriesByType('navigation')[0],
      performance,
    ].flatMap((object) =>
      [structuredClone, child.structuredClone, (value) => child.postMessage(value, '*')].map((clone) => {
        try {
          return typeof clone(object);
        } catch (error) {
          return error.name;
        }
      }),
    );
  });
  assert.deepEqual(got, Array(9).fill('DataCloneError'));
});

test('images load, and have the size that their files give', async (t) => {
  const page = await openHtml(t, '', {
    routes: {
      '/a.gif': { body: PIXEL, headers: { 'content-type': 'image/gif' } },
      '/a.svg': {
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"></svg>',
        headers: { 'content-type': 'image/svg+xml' },
      },
      '/broken.png': { body: 'no image', headers: { 'content-type': 'image/png' } },
    },
  });
  const got = await page.evaluate(async () => {
    const load = (src) =>
      new Promise((resolve) => {
        const image = new Image();
        image.onload = image.onerror = ({ type }) =>
          resolve([type, image.naturalWidth, image.naturalHeight, image.complete]);
        image.src = src;
      });
    return [await load('/a.gif'), await load('/a.svg'), await load('/broken.png'), await load('/missing.gif')];
  });
  assert.deepEqual(got, [
    ['load', 1, 1, true],
    ['load', 30, 20, true],
    ['error', 0, 0, true],
    ['error', 0, 0, true],
  ]);
  assert.equal(await page.evaluate(() => document.createElement('canvas').getContext('2d')), null);
});

test("removing a frame while it loads does not delay its embedder's load event", async (t) => {
  let answer;
  const page = await openHtml(
    t,
    "<iframe src=/slow.html></iframe><script>document.querySelector('iframe').remove()</script>",
    {
      routes: { '/slow.html': () => new Promise((resolve) => (answer = resolve)) },
    },
  );
  assert.equal(await page.evaluate('document.readyState'), 'complete');
  answer?.('<p>');
});
