// Recordings of a page's load, which the user starts: from before the first script, without the page's permission, and
// with no more in them than a profiler of the page would show.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { TimeoutError } from '@selfprof/page';

import { assertWellFormed } from '../../selfprof/test/well-formed.mjs';
import { eventually, host, open, openHtml, openInThisProcess, serve } from './server.mjs';

openInThisProcess();

/** Source of a function that keeps the thread busy for a hundred intervals, so that the profiler samples it. */
const spin = (name) => `function ${name}() { const end = performance.now() + 100; while (performance.now() < end); }`;

/** Names of functions that have a resource, and the resources. */
const namesIn = ({ frames }) =>
  new Set(frames.filter(({ resourceId }) => resourceId !== undefined).map(({ name }) => name));

suite('profile', () => {
  test("records from the first script on, without the page's permission", async (t) => {
    const page = await openHtml(
      t,
      `<script>${spin('first')} first();</script><script>
      try { new Profiler({ sampleInterval: 1, maxBufferSize: 1 }); } catch (error) { console.log(error.name); }
    </script>`,
      { profile: {} },
    );
    const trace = await page.takeProfile();
    assertWellFormed(trace);
    assert.ok(namesIn(trace).has('first'));
    assert.deepEqual(trace.resources, [page.url]);
    assert.deepEqual(page.log, ['NotAllowedError']);
    await assert.rejects(page.takeProfile(), /there is no recording, or it was taken/);
  });

  test('cannot be told from none by what the page may see of profilers', async (t) => {
    const pages = [];
    for (const profile of [undefined, { sampleInterval: 1 }]) pages.push(await openHtml(t, '<p>', { profile }));
    const [without, recorded] = await Promise.all(
      pages.map((page) => page.evaluate(() => JSON.stringify(Profiler.capabilities()))),
    );
    assert.equal(recorded, without);
  });

  test('records until its trace is taken', async (t) => {
    const page = await openHtml(t, `<script>${spin('later')}</script>`, { profile: { sampleInterval: 1 } });
    await page.evaluate('later()');
    assert.ok(namesIn(await page.takeProfile()).has('later'));
  });

  test('records no more samples than requested', async (t) => {
    const page = await openHtml(t, `<script>${spin('long')} long();</script>`, { profile: { maxBufferSize: 3 } });
    assert.equal((await page.takeProfile()).samples.length, 3);
  });

  test('shows no muted scripts and no cross-origin frames, and same-origin frames only on request', async (t) => {
    const inner = { body: `<script>${spin('inner')} inner();</script>` };
    const foreign = await serve(t, {
      '/muted.js': `${spin('muted')} muted();`,
      '/': `<script>${spin('foreign')} foreign();</script>`,
    });
    const html = `<script>${spin('own')} own();</script><script src="${foreign.url('/muted.js')}"></script>
      <iframe src="/inner"></iframe><iframe src="${foreign.url('/')}"></iframe>`;
    for (const [includeSameOriginFrames, shown] of [
      [false, ['own']],
      [true, ['own', 'inner']],
    ]) {
      const page = await openHtml(t, html, { routes: { '/inner': inner }, profile: { includeSameOriginFrames } });
      const names = namesIn(await page.takeProfile());
      for (const name of ['own', 'inner', 'muted', 'foreign'])
        assert.equal(names.has(name), shown.includes(name), name);
    }
  });

  test('does not count as a profiler of the page and does not appear in its traces', async (t) => {
    const page = await openHtml(
      t,
      `<script>
      profilers = [];
      for (let i = 0; i < 100; i++) profilers.push(new Profiler({ sampleInterval: 2147483, maxBufferSize: 10 }));
      console.log(profilers.length);
    </script>`,
      { headers: { 'document-policy': 'js-profiling' }, profile: {} },
    );
    assert.deepEqual(page.log, ['100']);
    assert.equal(await page.evaluate(async () => (await profilers[0].stop()).samples.length), 1);
    assert.ok((await page.takeProfile()).samples.length > 0);
  });

  test('records the documents that the page navigates to', async (t) => {
    const page = await openHtml(t, '<script>location.href = "/next"</script>', {
      routes: { '/next': `<script>${spin('arrived')} arrived(); console.log('there')</script>` },
      profile: {},
    });
    if (page.log.length === 0) await new Promise((resolve) => page.once('console', resolve));
    assert.ok(namesIn(await page.takeProfile()).has('arrived'));
  });

  test('is refused with invalid options', async (t) => {
    const page = await openHtml(t, '');
    await assert.rejects(page.takeProfile(), /no recording was started/);
    for (const profile of [
      { sampleInterval: 0 },
      { sampleInterval: NaN },
      { maxBufferSize: 0 },
      { maxBufferSize: 1.5 },
    ]) {
      await assert.rejects(page.navigate('about:blank', { profile }), RangeError);
    }
  });
});

suite("waitUntil: 'idle'", () => {
  test('waits for requests that are pending after the load', async (t) => {
    const page = await openHtml(
      t,
      '<script>onload = () => fetch("/late").then((r) => r.text()).then(console.log)</script>',
      {
        routes: { '/late': () => new Promise((resolve) => setTimeout(resolve, 1_000, 'late')) },
        waitUntil: 'idle',
      },
    );
    assert.deepEqual(page.log, ['late']);
  });
});

suite('a load that does not end', () => {
  test('is ended when the page does not respond, and the page can be navigated again', async (t) => {
    const server = await serve(t, { '/': '<script>for (;;);</script>', '/next': '<title>next</title>' });
    const page = await open(t, 'about:blank', { host: host(t) });
    await assert.rejects(page.navigate(server.url('/'), { timeout: 300 }), TimeoutError);
    await page.navigate(server.url('/next'));
    assert.equal(await page.evaluate('document.title'), 'next');
  });

  test('does not replace the document when the response arrives after the timeout', async (t) => {
    let answer;
    const server = await serve(t, {
      '/': () => new Promise((resolve) => (answer = resolve)),
      '/first': '<title>first</title>',
    });
    const pages = host(t);
    const page = await open(t, server.url('/first'), { host: pages });
    await assert.rejects(page.navigate(server.url('/'), { timeout: 50 }), TimeoutError);
    await eventually(() => answer !== undefined);
    answer('<title>late</title>');
    // The server answers this request later.
    await page.evaluate("fetch('/first').then(() => {})");
    assert.equal(await page.evaluate('document.title'), 'first');
  });
});
