// What a page learns of responses of other origins that CORS does not let it read.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, openHtml, serve } from './server.mjs';

/** A 1x1 image. */
const GIF = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64');

/** Source for pages: loads an element, and says which event it has got. */
const LOAD = `<script>
  const load = (tag, members) => new Promise((resolve) => {
    const element = Object.assign(document.createElement(tag), members);
    element.onload = element.onerror = ({ type }) => resolve(type);
    document.head.append(element);
  });
  const sizeOf = async (src) => {
    const image = new Image();
    const loaded = new Promise((resolve) => { image.onload = image.onerror = ({ type }) => resolve(type); });
    image.src = src;
    return (await loaded) === 'load' ? image.naturalWidth + ' x ' + image.naturalHeight : 'error';
  };
</script>`;

suite('responses of another origin', () => {
  const SECRET = { 'x-secret': 'header', 'set-cookie': 'secret=cookie', 'access-control-expose-headers': '*' };
  const withType = (body, type, status) => ({ status, body, headers: { 'content-type': type, ...SECRET } });
  const ROUTES = {
    '/text': withType('secret text', 'text/plain'),
    '/html.css': withType('secret text {}', 'text/html'),
    '/style.css': withType('#a { color: red }', 'text/css'),
    '/image': withType(Buffer.concat([GIF, Buffer.from('secret text')]), 'image/gif'),
    '/moved': { status: 302, headers: { location: '/image?secret-place' } },
    '/gone': withType(GIF, 'image/gif', 418),
  };

  test('are opaque: neither their text nor their headers, status and URL can be read', async (t) => {
    const victim = await serve(t, ROUTES);
    const page = await openHtml(t, LOAD);
    for (const path of ['/text', '/image', '/moved', '/gone']) {
      const seen = await page.evaluate(async (url) => {
        const response = await fetch(url, { mode: 'no-cors' });
        const { type, status, ok, url: shown, redirected } = response;
        return [type, status, ok, shown, redirected, [...response.headers].length, await response.text()];
      }, victim.url(path));
      assert.deepEqual(seen, ['opaque', 0, false, '', false, 0, ''], path);
    }
    const timed = await page.evaluate(
      (origin) =>
        performance
          .getEntriesByType('resource')
          .map((entry) => entry.toJSON())
          .filter(({ name }) => name.startsWith(origin)),
      victim.origin,
    );
    assert.doesNotMatch(JSON.stringify(timed), /secret/);
    for (const { transferSize, encodedBodySize, decodedBodySize, responseStatus } of timed)
      assert.deepEqual([transferSize, encodedBodySize, decodedBodySize, responseStatus], [0, 0, 0, 0]);
  });

  test('are shown by images and style sheets if they are served as such', async (t) => {
    const victim = await serve(t, ROUTES);
    const page = await openHtml(t, `${LOAD}<p id="a">`);
    const eventsOf = (tag, members, paths) =>
      page.evaluate(
        `(async () => {
          const events = [];
          for (const path of ${JSON.stringify(paths)}) {
            const url = '${victim.origin}' + path;
            events.push(await load('${tag}', { ${members} }));
          }
          return events;
        })()`,
      );
    const images = ['/text', '/image', '/moved', '/gone', '/none'];
    assert.deepEqual(await eventsOf('img', 'src: url', images), ['error', 'load', 'load', 'load', 'error']);
    assert.deepEqual(await eventsOf('img', "crossOrigin: '', src: url", images), Array(5).fill('error'));
    const sheets = ['/text', '/html.css', '/style.css', '/gone'];
    const shown = await eventsOf('link', "rel: 'stylesheet', href: url", sheets);
    assert.deepEqual(shown, ['error', 'error', 'load', 'error']);
    assert.match(await page.evaluate("getComputedStyle(document.getElementById('a')).color"), /255, 0, 0/);
    assert.equal(await page.evaluate(`sizeOf('${victim.url('/image')}')`), '1 x 1');
  });

  test('do not tell whether they are redirects', async (t) => {
    const other = await serve(t, { '/account': { status: 302, headers: { location: '/login' } }, '/login': '' });
    const page = await openHtml(t, '');
    const seen = await page.evaluate(async (origin) => {
      const seen = [];
      for (const redirect of ['manual', 'error'])
        for (const path of ['/account', '/login'])
          seen.push(await fetch(origin + path, { mode: 'no-cors', redirect }).then(String, String));
      return new Set(seen).size;
    }, other.origin);
    assert.equal(seen, 1);
    assert.deepEqual(other.requests, []);
  });
});

suite('images of other origins', () => {
  const svg = 'image/svg+xml';
  const html = '<body>Your balance: <svg data-width="48213" height="77"></svg>';
  const gif = 'GIF89a\x04\x00\x07\x00\x00\x00\x00;';
  const webp = 'RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x06\x00\x00';
  const text = 'RIFFaaaaWEBPVP8X,"pin":"482193"}, and so on';
  /** A body, its type, and the size that its image has. */
  const IMAGES = [
    [html, 'text/html', 'error'],
    [JSON.stringify(html), 'application/json', 'error'],
    [html, `${svg}; charset=utf-8`, 'error'],
    ['<svg data-account-width="4711" stroke-width=\'4713\' aria-label="width=\'31337\'"/>', svg, '300 x 150'],
    ['<?xml version="1.0"?><!-- <svg width="9"> --><svg width=" 5px" height="6.9"></svg>', svg, '5 x 6'],
    ['<svg width="100%" height="1in"></svg>', svg, '300 x 96'],
    ['<svg-secret width="4714" height="1"></svg-secret>', svg, 'error'],
    ['<x><svg width="4716" height="1"></svg></x>', svg, 'error'],
    ...['image/webp', 'application/octet-stream'].flatMap((type) => [
      [gif, type, '4 x 7'],
      [webp, type, '4 x 7'],
    ]),
    ...['text/csv', 'application/json'].map((type) => [gif, type, 'error']),
    [text, 'image/webp', 'error'],
    ['BMW owners: pin=4821,9173;', 'image/bmp', 'error'],
  ];

  test('have the sizes of images, and of nothing else', async (t) => {
    const victim = await serve(t, {
      '*': ({ url }) => {
        const [body, type] = IMAGES[Number(url.slice(1))];
        return { body: Buffer.from(body, 'latin1'), headers: { 'content-type': type } };
      },
    });
    const page = await openHtml(t, LOAD);
    const urls = IMAGES.map((_, index) => victim.url(`/${index}`));
    const sizes = await page.evaluate(`Promise.all(${JSON.stringify(urls)}.map(sizeOf))`);
    assert.deepEqual(
      sizes,
      IMAGES.map(([, , size]) => size),
    );
  });
});

suite('why a request failed', () => {
  test('is told to the user and not to the page', async (t) => {
    const page = await openHtml(t, LOAD, { routes: { '/broken.mjs': "import 'http://127.0.0.1:1/x.mjs'" } });
    const told = await page.evaluate(
      `(async () => {
        const told = [];
        const note = (value) => { told.push(String(value?.message ?? value), JSON.stringify(value)); };
        addEventListener('error', note, true);
        for (const target of ['http://127.0.0.1:2/secret-path', 'file:///etc/passwd', 'http://nowhere.invalid/']) {
          await fetch(target).catch(note);
          await import(target).catch(note);
          await new Promise((resolve) => {
            const request = new XMLHttpRequest();
            request.onerror = (event) => { note(event); note(request.statusText); resolve(); };
            request.open('GET', target);
            request.send();
          });
          await load('script', { src: target }).then(note);
          await load('script', { src: target, type: 'module' }).then(note);
          await load('img', { src: target }).then(note);
        }
        const worker = new Worker('/none');
        await new Promise((resolve) => { worker.onerror = (event) => { note(event.message); resolve(); }; });
        await import('/broken.mjs').catch(note);
        return told;
      })()`,
    );
    assert.doesNotMatch(told.join('\n'), /ECONN|ENOTFOUND|EAI|refused|blocked|not from disk|port|passwd.*cannot/i);
    await eventually(() => page.problems.length >= 18);
    assert.ok(
      page.problems.some(({ text }) => /failed: .*ECONNREFUSED|port 2 is blocked|ENOTFOUND|EAI_AGAIN/.test(text)),
    );
  });
});
