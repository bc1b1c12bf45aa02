// Interfaces of windows and workers that are Node's: streams, crypto.subtle and BroadcastChannel.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { host, logged, open, openHtml, serve } from './server.mjs';

/** Runs a function in the page, and in a worker of it. */
async function everywhere(page, work) {
  const inWorker = page.evaluate(
    (text) =>
      new Promise((resolve) => {
        const worker = new Worker(URL.createObjectURL(new Blob([text])));
        worker.onmessage = ({ data }) => resolve(data);
      }),
    `(${work})().then(postMessage, (error) => postMessage(String(error.stack)))`,
  );
  return [await page.evaluate(work), await inWorker];
}

suite('streams', () => {
  test('transform, compress and decode, and are bodies', async (t) => {
    const page = await openHtml(t, '', { routes: { '/text': 'from the server' } });
    const work = async () => {
      const text = 'tëxt '.repeat(1000);
      const read = (stream) => new Response(stream).text();
      const squeezed = await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).blob();
      const upper = new TransformStream({ transform: (chunk, controller) => controller.enqueue(chunk.toUpperCase()) });
      const own = new ReadableStream({
        start(controller) {
          controller.enqueue('own');
          controller.close();
        },
      });
      const response = new Response('body');
      const { body } = response;
      const { value } = await body.getReader().read();
      const written = [];
      await new Blob(['to']).stream().pipeTo(new WritableStream({ write: (chunk) => void written.push(...chunk) }));
      const copied = new Response(new Blob(['two']).stream());
      const copy = copied.clone();
      const fetched = response.constructor.name && typeof fetch === 'function' ? new Response(null).body : 0;
      return [
        squeezed.size < 200,
        (await read(squeezed.stream().pipeThrough(new DecompressionStream('gzip')))) === text,
        await read(own.pipeThrough(upper).pipeThrough(new TextEncoderStream())),
        [value instanceof Uint8Array, String.fromCharCode(...value), response.bodyUsed],
        await response.text().catch((error) => error instanceof TypeError),
        written,
        [await copied.text(), await copy.text()],
        fetched,
        (() => {
          try {
            structuredClone(new ReadableStream());
          } catch (error) {
            return error.name;
          }
        })(),
      ];
    };
    const expected = [
      true,
      true,
      'OWN',
      [true, 'body', true],
      true,
      [116, 111],
      ['two', 'two'],
      null,
      'DataCloneError',
    ];
    assert.deepEqual(await everywhere(page, work), [expected, expected]);
    const fetched = await page.evaluate(async () => {
      let text = '';
      const { body } = await fetch('/text');
      for await (const chunk of body.pipeThrough(new TextDecoderStream())) text += chunk;
      return text;
    });
    assert.equal(fetched, 'from the server');
  });

  test('report what reactions of a page throw to the page', async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate(() => {
      onunhandledrejection = ({ reason }) => console.log(reason.message);
      new Blob(['x'])
        .stream()
        .getReader()
        .read()
        .then(() => {
          throw new Error('thrown in a reaction');
        });
    });
    await logged(page, 'thrown in a reaction');
    assert.deepEqual(page.problems, []);
  });

  test('have nothing of an earlier page, whose thread is used again', async (t) => {
    const server = await serve(t, { '/': '' });
    const page = await open(t, server.url('/'), { host: host(t) });
    for (let i = 0; i < 3; i++) {
      const before = await page.evaluate(() => {
        const found = [ReadableStream.own, ReadableStream.prototype.own, typeof ReadableStream.prototype.tee].join();
        ReadableStream.own = ReadableStream.prototype.own = 1;
        ReadableStream.prototype.tee = 1;
        return found;
      });
      assert.equal(before, ',,function');
      await page.navigate(server.url('/'));
    }
  });
});

suite('crypto.subtle', () => {
  test('digests, encrypts and signs, with results of the window', async (t) => {
    const page = await openHtml(t, '');
    const work = async () => {
      const { subtle } = crypto;
      const data = new Uint8Array([1, 2, 3]);
      const digest = subtle.digest('SHA-256', data);
      const key = await subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt']);
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const secret = await subtle.encrypt({ name: 'AES-GCM', iv }, key, data);
      const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
      const way = { name: 'ECDSA', hash: 'SHA-256' };
      const jwk = await subtle.exportKey('jwk', key);
      const failure = await subtle.exportKey('raw', pair.privateKey).catch((error) => error);
      return [
        [digest instanceof Promise, (await digest) instanceof ArrayBuffer, new Uint8Array(await digest)[0]],
        [...new Uint8Array(await subtle.decrypt({ name: 'AES-GCM', iv }, key, secret))],
        await subtle.verify(way, pair.publicKey, await subtle.sign(way, pair.privateKey, data), data),
        [jwk instanceof Object, jwk.kty, Array.isArray(jwk.key_ops), key instanceof CryptoKey],
        [failure instanceof DOMException, failure.name],
        await subtle.digest().catch((error) => error instanceof TypeError),
        subtle instanceof SubtleCrypto,
      ];
    };
    const expected = [
      [true, true, 3],
      [1, 2, 3],
      true,
      [true, 'oct', true, true],
      [true, 'InvalidAccessError'],
      true,
      true,
    ];
    assert.deepEqual(await everywhere(page, work), [expected, expected]);
  });

  test('is for secure contexts', async (t) => {
    const server = await serve(t, { '/': '' });
    const page = await open(t, `http://site.test:${server.port}/`, {
      host: host(t, { hosts: { 'site.test': '127.0.0.1' } }),
    });
    assert.equal(
      await page.evaluate('[typeof crypto, typeof crypto.subtle, typeof CryptoKey].join()'),
      'object,undefined,undefined',
    );
  });
});

suite('a BroadcastChannel', () => {
  test('reaches documents and workers of its origin in its page, and nobody else', async (t) => {
    const listen = (who) => `const channel = new BroadcastChannel('news');
      channel.onmessage = ({ data, origin, isTrusted }) => console.log('${who}', data.map instanceof Map, data.text, origin, isTrusted);`;
    const foreign = await serve(t, { '/': `<script>${listen('foreign')}</script>` });
    const server = await serve(t, {
      '/': `<script>${listen('top')}</script><iframe src="/frame"></iframe><iframe src="${foreign.url('/')}"></iframe>`,
      '/frame': `<script>${listen('frame')}</script>`,
      '/w.js': `${listen('worker')}; postMessage('');`,
    });
    const pages = host(t);
    const other = await open(t, server.url('/'), { host: pages });
    const page = await open(t, server.url('/'), { host: pages });
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          new Worker('/w.js').onmessage = () => resolve();
        }),
    );
    await page.evaluate(() => {
      const own = new BroadcastChannel('news');
      own.onmessage = () => console.log('own');
      new BroadcastChannel('other').onmessage = () => console.log('other');
      own.postMessage({ map: new Map(), text: 'hello' });
      own.close();
    });
    const lines = ['top', 'frame', 'worker'].map((who) => `${who} true hello ${server.origin} true`);
    await logged(page, ...lines);
    assert.deepEqual([page.log.toSorted(), other.log], [lines.toSorted(), []]);
    await page.evaluate("document.querySelector('iframe').remove()");
    await page.evaluate("channel.postMessage({ text: 'later' })");
    await logged(page, `worker false later ${server.origin} true`);
    assert.equal(page.log.length, 4);
  });

  test('refuses what cannot be cloned, and messages after close()', async (t) => {
    const page = await openHtml(t, '');
    const names = await page.evaluate(() => {
      const channel = new BroadcastChannel(1);
      const attempt = (work) => {
        try {
          return work();
        } catch (error) {
          return `${error.name} ${error instanceof DOMException || error instanceof TypeError}`;
        }
      };
      const cloning = attempt(() => channel.postMessage(() => {}));
      channel.close();
      return [channel.name, cloning, attempt(() => channel.postMessage(1)), attempt(() => new BroadcastChannel())];
    });
    assert.deepEqual(names, ['1', 'DataCloneError true', 'InvalidStateError true', 'TypeError true']);
  });
});
