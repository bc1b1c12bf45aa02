// Markers of samples in pages: what the host did for the page's documents, shown to pages that may know.
// https://github.com/WICG/js-self-profiling/blob/main/markers.md

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openHtml, serve } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };
const ISOLATED = {
  ...ALLOW,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** Source for pages: repeats some work until a profiler has enough samples of it, and returns the trace. */
const RECORD = `async function record(work) {
  const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000 });
  for (const end = performance.now() + 80; performance.now() < end; ) work();
  return await profiler.stop();
}
const big = '<p class=a><b>x</b><i title=y>z</i></p>'.repeat(200);
function parses() { document.getElementById('d').innerHTML = big; }
function resolves() { for (const e of document.getElementById('s').children) { e.className = 'a' + Math.random(); getComputedStyle(e).color; getComputedStyle(e).display; } }
function scripts() { let sum = 0; for (let i = 0; i < 5e6; i++) sum += i % 7; return sum; }`;

const HTML = `<style>${'.a b i, p.a > b, .a0 { color: red; display: block }\n'.repeat(40)}</style><div id=d></div><div id=s>${'<p class=a><b>x</b></p>'.repeat(50)}</div><script>${RECORD}</script>`;

/** The markers of a trace by what is innermost on the stack; `-` for none, and nothing for samples without a stack. */
function markersBy(trace) {
  const found = {};
  for (const { stackId, marker = '-' } of trace.samples) {
    if (stackId === undefined) continue;
    const { name } = trace.frames[trace.stacks[stackId].frameId];
    found[name] ??= {};
    found[name][marker] = (found[name][marker] ?? 0) + 1;
  }
  return found;
}

suite('markers of an isolated page', () => {
  test('distinguish parsing, style resolution and script', async (t) => {
    const page = await openHtml(t, HTML, { headers: ISOLATED });
    // Inserting the parsed nodes into the tree is not parsing.
    const parsed = markersBy(await page.evaluate('record(parses)'));
    assert.ok(parsed['set innerHTML']?.parse > 0, JSON.stringify(parsed));
    const style = markersBy(await page.evaluate('record(resolves)'));
    const styled = Object.entries(style)
      .filter(([, markers]) => 'style' in markers)
      .map(([name]) => name);
    assert.ok(styled.length > 0, JSON.stringify(style));
    assert.ok(
      styled.every((name) => /^get\b|getComputedStyle|getPropertyValue/.test(name)),
      JSON.stringify(style),
    );
    const script = markersBy(await page.evaluate('record(scripts)'));
    assert.ok(
      script.scripts?.script > 0 && !('parse' in script.scripts) && !('style' in script.scripts),
      JSON.stringify(script),
    );
  });

  test('are `script` while a script runs, also one that the parser started', async (t) => {
    const page = await openHtml(
      t,
      `<script>${RECORD} var profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000 });</script>
       ${'<p class=a><b>x</b></p>'.repeat(3000)}
       <script>(function inParser() { for (const end = performance.now() + 300; performance.now() < end; ); })();</script>`,
      { headers: ISOLATED },
    );
    const trace = await page.evaluate('profiler.stop()');
    const found = markersBy(trace);
    assert.ok(found.inParser?.script > 0 && !('parse' in found.inParser), JSON.stringify(found));
    // The parser runs without a page function on the stack, and still belongs to its document.
    const bare = trace.samples.filter(({ stackId, marker }) => stackId === undefined && marker === 'parse');
    assert.ok(bare.length > 0, JSON.stringify(trace.samples.slice(0, 20)));
  });

  test('show garbage collections', async (t) => {
    const page = await openHtml(t, HTML, { headers: ISOLATED });
    // V8 decides when to collect garbage, and a sample must fall into it.
    await page.evaluate(`(async () => {
      for (let found = false; !found; ) {
        const { samples } = await record(function allocates() { window.keep = Array.from({ length: 20000 }, (_, i) => ({ i })); });
        found = samples.some(({ marker }) => marker === 'gc');
      }
    })()`);
    assert.deepEqual(await page.evaluate('Profiler.capabilities().markers'), [
      'script',
      'gc',
      'parse',
      'style',
      'other',
    ]);
  });
});

suite('markers are hidden', () => {
  test('from a page that is not isolated, except `style`', async (t) => {
    const page = await openHtml(t, HTML, { headers: ALLOW });
    const all = (trace) =>
      [...new Set(trace.samples.map(({ marker }) => marker))].filter((marker) => marker !== undefined);
    assert.deepEqual(all(await page.evaluate('record(parses)')), []);
    assert.deepEqual(all(await page.evaluate('record(scripts)')), []);
    assert.deepEqual(all(await page.evaluate('record(resolves)')), ['style']);
    assert.deepEqual(await page.evaluate('Profiler.capabilities().markers'), ['style']);
  });

  test('when they belong to a frame of another origin', async (t) => {
    const foreign = await serve(t, {
      '/': {
        body: `${HTML}<script>let on = true; (function again() { parses(); resolves(); parent.postMessage('round', '*'); if (on) setTimeout(again); })();</script>`,
        headers: { ...ISOLATED, 'cross-origin-resource-policy': 'cross-origin' },
      },
    });
    const page = await openHtml(t, `${HTML}<iframe src="${foreign.url('/')}"></iframe>`, { headers: ISOLATED });
    const trace = await page.evaluate(`(async () => {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000 });
      let rounds = 0;
      await new Promise((resolve) => addEventListener('message', () => (rounds += 1) === 20 && resolve()));
      return await profiler.stop();
    })()`);
    assert.deepEqual(
      trace.samples.filter(({ marker }) => marker === 'parse' || marker === 'style'),
      [],
    );
  });
});
