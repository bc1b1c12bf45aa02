// Which documents are cross-origin isolated, and so have the fine clock: what headers and the attribute `allow` say.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, open, openHtml, serve } from './server.mjs';

const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
const document = (headers = {}, body = '') => ({
  body,
  headers: { ...ISOLATED, 'cross-origin-resource-policy': 'cross-origin', ...headers },
});
const denied = { 'permissions-policy': 'cross-origin-isolated=()' };

const ROUTES = {
  '/': document(),
  '/frame': document(),
  '/denied': document(denied),
  '/worker.js': document({}, 'postMessage(crossOriginIsolated)'),
};

suite('cross-origin isolation', () => {
  test('can be denied by the header of a page', async (t) => {
    for (const [policy, isIsolated] of [
      ['cross-origin-isolated=()', false],
      ['cross-origin-isolated=("https://other.test")', false],
      ['cross-origin-isolated=(self)', true],
      ['cross-origin-isolated=*', true],
      ['camera=()', true],
      ['cross-origin-isolated=(', true],
    ]) {
      const server = await serve(t, { '/': document({ 'permissions-policy': policy }) });
      const page = await open(t, server.url('/'));
      const seen = await page.evaluate(() => [crossOriginIsolated, typeof SharedArrayBuffer === 'function']);
      assert.deepEqual(seen, [isIsolated, isIsolated], policy);
    }
  });

  test('that the header of a frame denies to other origins is not given to frames in it', async (t) => {
    const foreign = await serve(t, { '/': document({}, '<script>console.log(crossOriginIsolated)</script>') });
    for (const [policy, isIsolated] of [
      ['cross-origin-isolated=(self)', false],
      [`cross-origin-isolated=(self "${foreign.origin}")`, true],
    ]) {
      const frame = document(
        { 'permissions-policy': policy },
        `<iframe allow="cross-origin-isolated" src="${foreign.url('/')}"></iframe>`,
      );
      const server = await serve(t, { '/': document({}, '<iframe src="/frame"></iframe>'), '/frame': frame });
      const page = await open(t, server.url('/'));
      await eventually(() => page.log.length > 0);
      assert.deepEqual(page.log, [`${isIsolated}`], policy);
    }
  });

  test('that a header denies to other origins is not given to frames in local documents, either', async (t) => {
    const foreign = await serve(t, { '/': document({}, '<script>console.log(crossOriginIsolated)</script>') });
    for (const [policy, isIsolated] of [
      ['cross-origin-isolated=(self)', false],
      [`cross-origin-isolated=(self "${foreign.origin}")`, true],
    ]) {
      const server = await serve(t, { '/': document({ 'permissions-policy': policy }) });
      const page = await open(t, server.url('/'));
      await page.evaluate((src) => {
        const html = `<iframe allow="cross-origin-isolated" src="${src}"></iframe>`;
        const add = (members) => document.body.appendChild(Object.assign(document.createElement('iframe'), members));
        add({ srcdoc: html });
        add({ src: URL.createObjectURL(new Blob([html], { type: 'text/html' })) });
        add({}).contentDocument.body.innerHTML = html;
        add({ srcdoc: `<iframe srcdoc='${html}'></iframe>` });
      }, foreign.url('/'));
      await eventually(() => page.log.length === 4);
      assert.deepEqual(page.log, Array(4).fill(`${isIsolated}`), policy);
    }
  });

  test('of a frame is as its attribute `allow` and its own header say', async (t) => {
    const server = await serve(t, ROUTES);
    const page = await open(t, server.url('/'));
    const seen = await page.evaluate(async () => {
      const results = {};
      for (const [src, allow] of [
        ['/frame', null],
        ['/frame', "cross-origin-isolated 'none'"],
        ['/frame', 'cross-origin-isolated'],
        ['/denied', null],
        ['/denied', 'cross-origin-isolated'],
        ['about:blank', "cross-origin-isolated 'none'"],
        ['srcdoc', "cross-origin-isolated 'none'"],
        ['/frame', "cross-origin-isolated 'self'"],
        ['/frame', 'cross-origin-isolated https://other.test'],
        ['/frame', 'cross-origin-isolated *'],
        ['/frame', "CROSS-ORIGIN-ISOLATED 'NONE'"],
        ['/frame', "camera; cross-origin-isolated  'none' ; microphone"],
      ]) {
        const frame = document.createElement('iframe');
        if (allow !== null) frame.allow = allow;
        if (src === 'srcdoc') frame.srcdoc = 'x';
        else frame.src = src;
        const loaded = new Promise((resolve) => {
          frame.onload = resolve;
        });
        document.body.append(frame);
        const before = frame.contentWindow.crossOriginIsolated;
        await loaded;
        results[`${src} ${allow ?? '-'}`] = [before, frame.contentWindow.crossOriginIsolated];
      }
      return results;
    });
    // As Chromium answers.
    assert.deepEqual(seen, {
      '/frame -': [true, true],
      "/frame cross-origin-isolated 'none'": [false, false],
      '/frame cross-origin-isolated': [true, true],
      '/denied -': [true, false],
      '/denied cross-origin-isolated': [true, false],
      "about:blank cross-origin-isolated 'none'": [false, false],
      "srcdoc cross-origin-isolated 'none'": [false, false],
      "/frame cross-origin-isolated 'self'": [true, true],
      '/frame cross-origin-isolated https://other.test': [false, false],
      '/frame cross-origin-isolated *': [true, true],
      "/frame CROSS-ORIGIN-ISOLATED 'NONE'": [true, true],
      "/frame camera; cross-origin-isolated  'none' ; microphone": [false, false],
    });
  });

  test('that allow gives to the origin of src is not given to another one that the frame goes to later', async (t) => {
    const headers = { ...ROUTES['/frame'].headers, 'cross-origin-resource-policy': 'cross-origin' };
    const tell = "<script>top.postMessage([origin, crossOriginIsolated], '*')</script>";
    const [first, second] = [
      await serve(t, { '/': { body: tell, headers } }),
      await serve(t, { '/': { body: tell, headers } }),
    ];
    const server = await serve(t, ROUTES);
    const page = await open(t, server.url('/'));
    const seen = await page.evaluate(
      async (urls) => {
        const frame = Object.assign(document.createElement('iframe'), { allow: 'cross-origin-isolated', src: urls[0] });
        const next = () =>
          new Promise((resolve) => {
            onmessage = ({ data }) => resolve(data);
          });
        document.body.append(frame);
        const before = await next();
        frame.contentWindow.location = urls[1];
        return [before, await next()];
      },
      [first.url('/'), second.url('/')],
    );
    assert.deepEqual(seen, [
      [first.origin, true],
      [second.origin, false],
    ]);
  });

  test('that was denied is not regained by frames and workers in the frame, nor is the fine clock', async (t) => {
    const server = await serve(t, ROUTES);
    const page = await open(t, server.url('/'));
    const seen = await page.evaluate(async () => {
      const load = (document, src, allow) =>
        new Promise((resolve) => {
          const frame = Object.assign(document.createElement('iframe'), { allow, src });
          frame.onload = () => resolve(frame.contentWindow);
          document.body.append(frame);
        });
      const outer = await load(document, '/frame', "cross-origin-isolated 'none'");
      const inner = await load(outer.document, '/frame', 'cross-origin-isolated *');
      const blank = await load(outer.document, 'about:blank', 'cross-origin-isolated *');
      const worker = await new Promise((resolve) => {
        new outer.Worker('/worker.js').onmessage = ({ data }) => resolve(data);
      });
      const isCoarse = ({ performance }) =>
        Array.from({ length: 1_000 }, () => performance.now()).every(
          (time) => Math.abs(time * 10 - Math.round(time * 10)) < 1e-6,
        );
      return [
        inner.crossOriginIsolated,
        blank.crossOriginIsolated,
        worker,
        [outer, inner, blank].map(isCoarse),
        isCoarse(window),
      ];
    });
    assert.deepEqual(seen, [false, false, false, [true, true, true], false]);
  });

  test('is given to a frame of another origin that the page and its own header allow', async (t) => {
    const foreign = await serve(t, ROUTES);
    for (const [headers, cases] of [
      [
        {},
        [
          ['', '/frame', false],
          ['cross-origin-isolated', '/frame', true],
          [`cross-origin-isolated ${foreign.origin}`, '/frame', true],
          ["cross-origin-isolated 'self'", '/frame', false],
          ['cross-origin-isolated', '/denied', false],
        ],
      ],
      [{ 'permissions-policy': 'cross-origin-isolated=(self)' }, [['cross-origin-isolated', '/frame', false]]],
    ]) {
      const frames = cases.map(
        ([allow, path], index) => `<iframe src="${foreign.url(path)}?${index}" allow="${allow}"></iframe>`,
      );
      const page = await openHtml(t, frames.join(''), { headers: { ...ISOLATED, ...headers } });
      await eventually(() => page.frames().length === 1 + cases.length);
      for (const [index, [allow, path, isIsolated]] of cases.entries()) {
        const { frame } = (await page.frames()).find(({ url }) => url.endsWith(`?${index}`));
        const what = `${allow} ${path} ${JSON.stringify(headers)}`;
        assert.equal(await page.evaluateIn({ frame }, 'crossOriginIsolated'), isIsolated, what);
      }
    }
  });
});
