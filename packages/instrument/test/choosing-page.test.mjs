// Pages that choose, parsed and run as a browser does, without one.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { JSDOM } from 'jsdom';

import { choosingPage } from '../src/choosing-page.js';

const PLAIN = `<!doctype html><html><head><title>é</title>
<script type="module" crossorigin src="/assets/app.js"></script>
<link rel="stylesheet" href="/a.css"></head><body><p>text</p><script src="/late.js"></script><p>end</p></body></html>`;

/** A page with two scripts that are instrumented. */
function page(options = {}, { nonce = null, plain = PLAIN } = {}) {
  const script = (tag) => {
    const start = Buffer.byteLength(plain.slice(0, plain.indexOf(tag)));
    const instrumented = tag.replace('src="/', 'src="/selfprof/');
    return { start, end: start + Buffer.byteLength(tag), instrumented };
  };
  const known = {
    path: 'index.html',
    head: plain.indexOf('<head>') + 6,
    nonce,
    runtime: '/selfprof/selfprof-polyfill.js',
    scripts: plain.match(/<script [^>]*><\/script>/g).map(script),
  };
  return choosingPage(Buffer.from(plain), known, options)?.toString();
}

/** The scripts that a browser would load, and the storage afterwards. */
function visit(html, { stored = {}, random = 0.5, globals = {}, navigator = {} } = {}) {
  const dom = new JSDOM(html, {
    url: 'https://shop.example/',
    runScripts: 'dangerously',
    beforeParse(window) {
      for (const [key, value] of Object.entries(stored)) window.sessionStorage.setItem(key, value);
      window.Math.random = () => random;
      Object.assign(window, globals);
      Object.assign(window.navigator, navigator);
    },
  });
  const { document, sessionStorage } = dom.window;
  const scripts = [...document.querySelectorAll('script[src]')].map((script) => script.getAttribute('src'));
  const texts = [...document.querySelectorAll('p')].map((element) => element.textContent);
  const styles = document.querySelectorAll('link').length;
  const storage = { ...sessionStorage };
  dom.window.close();
  return { scripts, texts, styles, storage };
}

const INSTRUMENTED = ['/selfprof/selfprof-polyfill.js', '/selfprof/assets/app.js', '/selfprof/late.js'];
const ORIGINAL = ['/assets/app.js', '/late.js'];

class NativeProfiler {
  stop() {}
}

test('chosen sessions load the instrumented scripts, and no others', () => {
  const chosen = visit(page({ sampleRate: 1 }));
  assert.deepEqual(chosen.scripts, INSTRUMENTED);
  assert.deepEqual([chosen.texts, chosen.styles], [['text', 'end'], 1]);
  const other = visit(page({ sampleRate: 0 }));
  assert.deepEqual(other.scripts, ORIGINAL);
  assert.deepEqual([other.texts, other.styles], [['text', 'end'], 1]);
  assert.deepEqual(visit(page({ sampleRate: 0.5 }), { random: 0.49 }).scripts, INSTRUMENTED);
  assert.deepEqual(visit(page({ sampleRate: 0.5 }), { random: 0.51 }).scripts, ORIGINAL);
  assert.deepEqual(visit(page(), { random: 0.11 }).scripts, ORIGINAL);
  assert.deepEqual(visit(page(), { random: 0.09 }).scripts, INSTRUMENTED);
});

test('a session is chosen once', () => {
  const first = visit(page({ sampleRate: 0.5 }), { random: 0.1 });
  assert.deepEqual(visit(page({ sampleRate: 0.5 }), { random: 0.9, stored: first.storage }).scripts, INSTRUMENTED);
  const second = visit(page({ sampleRate: 0.5 }), { random: 0.9 });
  assert.deepEqual(visit(page({ sampleRate: 0.5 }), { random: 0.1, stored: second.storage }).scripts, ORIGINAL);
});

test('browsers that can profile by themselves load the plain scripts', () => {
  const usable = { globals: { Profiler: NativeProfiler } };
  assert.deepEqual(visit(page({ sampleRate: 1 }), usable).scripts, ORIGINAL);
  assert.deepEqual(visit(page({ sampleRate: 1, when: 'always' }), usable).scripts, INSTRUMENTED);
  class Forbidden {
    constructor() {
      throw new Error('Document-Policy');
    }
  }
  assert.deepEqual(visit(page({ sampleRate: 1 }), { globals: { Profiler: Forbidden } }).scripts, INSTRUMENTED);
});

test('the agent and the page choose the same sessions', () => {
  const options = { sampleRate: 0.25, app: 'shop' };
  const chosen = visit(page(options), { random: 0.2 });
  assert.deepEqual(chosen.scripts, INSTRUMENTED);
  const record = JSON.parse(chosen.storage['selfprof.shop']);
  assert.deepEqual([record.rate, record.told, typeof record.id, record.id.length > 15], [0.25, [], 'string', true]);
  const stored = (rate) => ({ stored: { 'selfprof.shop': JSON.stringify({ id: 'x', rate, told: ['a'] }) } });
  assert.deepEqual(visit(page(options), { random: 0.9, ...stored(0.1) }).scripts, INSTRUMENTED);
  assert.deepEqual(visit(page(options), { random: 0.1, ...stored(0) }).scripts, ORIGINAL);
  const control = { navigator: { globalPrivacyControl: true } };
  assert.deepEqual(visit(page(options), { random: 0.1, ...control }).scripts, ORIGINAL);
});

test('a page without storage loads the plain scripts', () => {
  const html = page({ sampleRate: 1 }).replace('https://shop.example/', '');
  const dom = new JSDOM(html, { url: 'data:text/html,', runScripts: 'dangerously' });
  const scripts = [...dom.window.document.querySelectorAll('script[src]')].map((script) => script.getAttribute('src'));
  assert.deepEqual(scripts, ORIGINAL);
  dom.window.close();
});

test('everything else of the page stays as it is', () => {
  const choosing = page({ sampleRate: 0.5 }, { nonce: 'a"b' });
  assert.equal(choosing.match(/nonce="a&quot;b"/g).length, 3);
  assert.ok(choosing.includes('nonce=\\"a&quot;b\\"'), choosing);
  const rest = choosing
    .replace(/<script data-selfprof-chooser.*?<\/script>/, '')
    .replace(/<script nonce="[^"]*">self\.selfprofIsChosen.*?<\/script>/g, '')
    .replaceAll('<!---->', '');
  assert.equal(rest, PLAIN);
  assert.equal(page({}, { plain: choosing }), undefined, 'it chooses already');
  const bytes = Buffer.byteLength(page({ sampleRate: 0.5, app: 'shop' })) - Buffer.byteLength(PLAIN);
  assert.ok(bytes < 900, `${bytes} bytes`);
});
