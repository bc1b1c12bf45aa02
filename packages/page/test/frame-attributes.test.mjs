// Attributes of frame elements: that scripts can set them as in browsers, and what they do.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, openHtml, serve } from './server.mjs';

suite('the attributes of an iframe', () => {
  test('are reflected by properties', async (t) => {
    const page = await openHtml(t, '');
    const seen = await page.evaluate(() => {
      const frame = document.createElement('iframe');
      const before = [frame.allow, frame.loading, frame.referrerPolicy, `${frame.sandbox}`];
      frame.sandbox = 'allow-scripts';
      frame.sandbox.add('allow-forms');
      frame.allow = 'camera; microphone';
      frame.loading = 'LAZY';
      frame.referrerPolicy = 'ORIGIN';
      const after = [frame.allow, frame.loading, frame.referrerPolicy, frame.outerHTML];
      frame.loading = 'soon';
      frame.referrerPolicy = 'none';
      const members = ['sandbox', 'allow', 'loading', 'referrerPolicy'].map((name) => {
        const { get, set, enumerable } = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, name);
        return [get.name, set.name, set.length, enumerable];
      });
      const { get, set } = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, 'allow');
      const thrown = [() => get.call({}), () => set.call(frame, Symbol())].map((call) => {
        try {
          return call();
        } catch (error) {
          return error instanceof TypeError;
        }
      });
      const supports = [frame.sandbox.supports('allow-forms'), frame.sandbox.supports('allow-all')];
      return { before, after, unknown: [frame.loading, frame.referrerPolicy], members, thrown, supports };
    });
    // As Chromium 153 answers.
    assert.deepEqual(seen, {
      before: ['', 'auto', '', ''],
      after: [
        'camera; microphone',
        'lazy',
        'origin',
        '<iframe sandbox="allow-scripts allow-forms" allow="camera; microphone" loading="LAZY" referrerpolicy="ORIGIN"></iframe>',
      ],
      unknown: ['auto', ''],
      members: [
        ['get sandbox', 'set sandbox', 1, true],
        ['get allow', 'set allow', 1, true],
        ['get loading', 'set loading', 1, true],
        ['get referrerPolicy', 'set referrerPolicy', 1, true],
      ],
      thrown: [true, true],
      supports: [true, false],
    });
  });

  test('decide about the referrer of the request for its document', async (t) => {
    const foreign = await serve(t, { '*': '' });
    const page = await openHtml(t, '', { routes: { '/in': '' } });
    const { origin } = page.server;
    for (const [policy, own, other] of [
      ['', `${origin}/`, `${origin}/`],
      ['no-referrer', undefined, undefined],
      ['same-origin', `${origin}/page`, undefined],
      ['origin', `${origin}/`, `${origin}/`],
      ['unsafe-url', `${origin}/page`, `${origin}/`],
    ]) {
      const url = `/in?p=${policy}`;
      if (policy !== '') await page.evaluate("history.replaceState(null, '', '/page')");
      await page.evaluate(
        (urls, referrerPolicy) => {
          for (const src of urls)
            document.body.append(Object.assign(document.createElement('iframe'), { src, referrerPolicy }));
        },
        [url, foreign.url(url)],
        policy,
      );
      const requestOf = ({ requests }) => requests.find((request) => request.url === url);
      await eventually(() => [page.server, foreign].every(requestOf));
      assert.equal(requestOf(page.server).headers.referer, own, policy);
      assert.equal(requestOf(foreign).headers.referer, other, policy);
    }
  });
});
