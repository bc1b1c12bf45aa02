// How functions of the host look to a page: their texts, their names, and their frames.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openHtml } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };

suite('the text of a function of the host', () => {
  const FUNCTIONS = {
    Profiler: 'Profiler',
    'Profiler.prototype.stop': 'stop',
    "Object.getOwnPropertyDescriptor(Profiler.prototype, 'stopped').get": 'get stopped',
    'performance.now': 'now',
    fetch: 'fetch',
    setTimeout: 'setTimeout',
    'document.createElement': 'createElement',
    HTMLElement: 'HTMLElement',
    "Object.getOwnPropertyDescriptor(window, 'onclick').get": 'get onclick',
    requestAnimationFrame: 'requestAnimationFrame',
    'Function.prototype.toString': 'toString',
  };

  test('is native code, and that of the page is its code', async (t) => {
    const page = await openHtml(t, '<iframe srcdoc="x"></iframe>');
    for (const [expression, name] of Object.entries(FUNCTIONS)) {
      const texts = await page.evaluate(
        `((part) => [String(part), Function.prototype.toString.call(part), frames[0].Function.prototype.toString.call(part)])(${expression})`,
      );
      assert.deepEqual(texts, Array(3).fill(`function ${name}() { [native code] }`), expression);
    }
    const texts = await page.evaluate(
      '[String(function own() { return 1; }), String(class A extends HTMLElement {}), String((() => 1).bind()), String(Array)]',
    );
    assert.deepEqual(texts, [
      'function own() { return 1; }',
      'class A extends HTMLElement {}',
      'function () { [native code] }',
      'function Array() { [native code] }',
    ]);
  });

  test('is native code in a worker', async (t) => {
    const page = await openHtml(t, '', {
      routes: { '/w.js': 'postMessage([Performance, performance.now, setTimeout, postMessage].map(String))' },
    });
    const texts = await page.evaluate(
      "new Promise((resolve) => { new Worker('/w.js').onmessage = ({ data }) => resolve(data); })",
    );
    for (const text of texts) assert.match(text, /^function \w+\(\) \{ \[native code\] \}$/);
  });
});

test('interfaces are functions of their realm', async (t) => {
  const script = () => {
    for (const value of [Event, EventTarget, Performance, Profiler, DOMException]) {
      if (!(value instanceof Function) || value.constructor !== Function) return value.name;
    }
    return '';
  };
  const page = await openHtml(t, '', { routes: { '/w.js': `postMessage((${script})())` } });
  const inWorker = await page.evaluate(
    "new Promise((resolve) => { new Worker('/w.js').onmessage = ({ data }) => resolve(data); })",
  );
  assert.deepEqual([await page.evaluate(script), inWorker], ['', '']);
});

test('all functions of a window have names', async (t) => {
  const page = await openHtml(t, '');
  const nameless = await page.evaluate(() => {
    const isNameless = (part) => typeof part === 'function' && ['', 'get', 'set'].includes(part.name);
    return Object.entries(Object.getOwnPropertyDescriptors(window))
      .filter(([, { value, get, set }]) => [value, get, set].some(isNameless))
      .map(([name]) => name)
      .filter((name) => !name.startsWith('_'));
  });
  assert.deepEqual(nameless, []);
});

test('a frame of the host has the name that the page called', async (t) => {
  const page = await openHtml(t, '<p>', { headers: ALLOW });
  const callers = await page.evaluate(async () => {
    const found = [];
    const sample = async (work) => {
      let profiler;
      work(() => {
        profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
      });
      const { frames } = await profiler.stop();
      found.push(...frames.filter(({ resourceId }) => resourceId === undefined).map(({ name }) => name));
    };
    const text = (start, value) => ({ toString: () => (start(), value), valueOf: () => (start(), 1) });
    await sample((start) => setTimeout('', text(start)));
    await sample((start) => getComputedStyle(document.body, text(start, '')));
    await sample((start) => atob(text(start, '')));
    await sample((start) => clearTimeout(text(start, '')));
    return found;
  });
  assert.deepEqual([...new Set(callers)].sort(), ['atob', 'clearTimeout', 'getComputedStyle', 'setTimeout']);
});
