// All functions and accessors that the intrinsics of a window and of the DOM realm have are proxies. V8 makes the arguments of a proxy in the
// realm that calls it: one of Node's main realm would show that code of that realm has run a function of the page.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { jsdomWithBackDoor } from './back-door.mjs';
import { host, openHtml } from './server.mjs';

/** Runs in the page: replaces what the intrinsics of a realm have. What the main realm has made is noted in the result by where it came in. */
function replaceIntrinsics(realms) {
  const { getPrototypeOf, isFrozen } = Object;
  const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const OwnProxy = Proxy;
  const found = { __proto__: null };
  const calls = { __proto__: null, count: 0 };
  /** The main realm's intrinsics are frozen, and no others are. */
  const isOfMainRealm = (value) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    let root = value;
    try {
      for (let next = root; next !== null; next = getPrototypeOf(next)) root = next;
    } catch {
      return false;
    }
    return root !== value && isFrozen(root);
  };
  let isBusy = false;
  const note = (where, value) => {
    if (isBusy) return;
    isBusy = true;
    try {
      calls.count += 1;
      if (isOfMainRealm(value)) found[where] = true;
    } finally {
      isBusy = false;
    }
  };
  const wrap = (original, name) =>
    new OwnProxy(original, {
      __proto__: null,
      apply(_target, self, list) {
        note(`${name}: list`, list);
        note(`${name}: this`, self);
        for (let at = 0; at < list.length && at < 10; at++) note(`${name}: parameter`, list[at]);
        return apply(original, self, list);
      },
    });
  const replaceIn = (holder, label) => {
    for (const key of ownKeys(holder)) {
      const property = getOwnPropertyDescriptor(holder, key);
      if (!property.configurable || key === 'constructor') continue;
      const name = `${label}.${String(key)}`;
      const { value, get, set } = property;
      if (typeof value === 'function') defineProperty(holder, key, { ...property, value: wrap(value, name) });
      else if (get !== undefined || set !== undefined)
        defineProperty(holder, key, {
          ...property,
          get: get && wrap(get, `get ${name}`),
          set: set && wrap(set, `set ${name}`),
        });
    }
  };
  const names = [
    ...[
      'Array',
      'ArrayBuffer',
      'Atomics',
      'BigInt',
      'Blob',
      'Boolean',
      'DOMException',
      'DataView',
      'Date',
      'Error',
      'Event',
    ],
    ...[
      'EventTarget',
      'FinalizationRegistry',
      'Float64Array',
      'Function',
      'Headers',
      'Int32Array',
      'JSON',
      'Map',
      'Math',
    ],
    ...[
      'MessageEvent',
      'Number',
      'Object',
      'Promise',
      'Proxy',
      'RangeError',
      'Reflect',
      'RegExp',
      'Set',
      'SharedArrayBuffer',
    ],
    ...['String', 'Symbol', 'SyntaxError', 'TypeError', 'Uint32Array', 'Uint8Array', 'WeakMap', 'WeakRef', 'WeakSet'],
  ];
  const inherited = [
    ...[
      'then',
      'data',
      'type',
      'name',
      'message',
      'code',
      'stack',
      'length',
      'has',
      'buffer',
      'toJSON',
      'frame',
      'id',
      'thread',
    ],
    ...[
      'realm',
      'window',
      'document',
      'url',
      'headers',
      'body',
      'error',
      'handle',
      'native',
      'cause',
      'signal',
      'transfer',
    ],
    ...[
      'weight',
      'record',
      'oninit',
      'start',
      'unload',
      'navigateFrame',
      'bytes',
      'tag',
      'ports',
      'objects',
      'pipe',
      '0',
      '1',
    ],
  ];
  for (const [label, realm] of Object.entries(realms)) {
    const holders = names
      .filter((name) => realm[name] !== undefined)
      .flatMap((name) => [
        [realm[name], name],
        [realm[name].prototype, `${name}.prototype`],
      ]);
    holders.push([getPrototypeOf(realm.Uint8Array), 'TypedArray']);
    holders.push([getPrototypeOf(realm.Uint8Array.prototype), 'TypedArray.prototype']);
    const root = realm.Object.prototype;
    for (const [holder, name] of holders) if (holder !== undefined) replaceIn(holder, `${label}: ${name}`);
    for (const key of inherited) {
      if (key in root) continue;
      defineProperty(root, key, {
        configurable: true,
        get: wrap(() => undefined, `${label}: get inherited ${key}`),
        set: wrap(function (value) {
          defineProperty(this, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
        }, `${label}: set inherited ${key}`),
      });
    }
  }
  return { found, calls };
}

/** Runs in the page: uses what a page has. What fails does so because of the replacements. */
function useEverything() {
  const uses = [
    () => performance.mark('a', { detail: {} }),
    () => performance.measure('b', 'a'),
    () => performance.getEntries(),
    () => performance.clearMarks(),
    () => performance.memory?.usedJSHeapSize,
    () => new PerformanceObserver(() => {}).observe({ type: 'resource', buffered: true }),
    () =>
      new Profiler({ sampleInterval: 1, maxBufferSize: 10, includeEntries: true })
        .stop({ format: 'json-gzip' })
        .catch(() => {}),
    () => new Profiler({ sampleInterval: 1, maxBufferSize: 10 }).stop().catch(() => {}),
    () => new Profiler({ sampleInterval: 1, maxBufferSize: 2, bufferPolicy: 'chunks' }).chunks().next(),
    () => document.querySelector('p').setAttribute('onclick', '} {'),
    () => document.querySelector('p').click(),
    () => import('/m.js').catch(() => {}),
    () => import('/bad.js').catch(() => {}),
    () => import('/j.json', { with: { type: 'json' } }).catch(() => {}),
    () => import('/none').catch(() => {}),
    () => {
      const script = document.createElement('script');
      script.type = 'module';
      script.textContent = 'import "/m.js"; import.meta.url; throw {}';
      document.head.append(script);
    },
    () => document.head.append(Object.assign(document.createElement('script'), { src: '/bad.js' })),
    () => fetch('/x', { method: 'POST', body: new Uint8Array(3) }).then((response) => response.arrayBuffer()),
    () => structuredClone({ a: new Map([[1, new Date()]]), e: new Error('x'), b: new Uint8Array(3) }),
    () => URL.revokeObjectURL(URL.createObjectURL(new Blob(['x']))),
    () => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {};
      port2.postMessage({ a: new ArrayBuffer(3) });
    },
    () => new Worker('/w.js').postMessage(1),
    () => postMessage({ a: 1 }, '*'),
    () => crypto.getRandomValues(new Uint8Array(4)),
    () => crypto.randomUUID(),
    () => new TextDecoder().decode(new TextEncoder().encode('x')),
    () => atob(btoa('x')),
    () => {
      document.cookie = 'a=b';
    },
    () => document.cookie,
    () => void Promise.reject({}),
    () => void Promise.reject(new Error('x')),
    () => reportError({}),
    () => document.body.append(Object.assign(document.createElement('iframe'), { src: '/f' })),
    () => {
      const frame = document.createElement('iframe');
      document.body.append(frame);
      frame.contentWindow.performance.now();
      frame.remove();
    },
    () => WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).catch(() => {}),
    () => new WebAssembly.Tag({ parameters: ['i32'] }),
    () => new WebAssembly.Memory({ initial: 1 }),
    () => new ArrayBuffer(1, { maxByteLength: 2 }),
    () => new Error('x').stack,
    () => new Function('1')(),
    () => setTimeout('1'),
    () =>
      setTimeout(() => {
        throw {};
      }),
    () => console.log('log', {}),
    () => new Intl.DateTimeFormat('en').format(),
    () => Object.assign(new Image(), { src: '/x' }),
    () => history.pushState({ a: 1 }, '', '/z'),
    () => localStorage.setItem('a', 'b'),
    () => navigator.sendBeacon('/x', 'y'),
    () => Object.setPrototypeOf(new Proxy({}, {}), null),
    () => requestAnimationFrame(() => {}),
    () => requestIdleCallback(() => {}),
  ];
  for (let at = 0; at < uses.length; at++) {
    try {
      uses[at]();
    } catch {}
  }
}

suite('a page whose functions are proxies', () => {
  for (const which of ['window', 'domRealm', 'both']) {
    test(`gets nothing of the main realm: ${which}`, { timeout: 60_000 }, async (t) => {
      const headers = { 'document-policy': 'js-profiling' };
      const page = await openHtml(t, '<p>', {
        host: host(t, { jsdom: jsdomWithBackDoor(t) }),
        headers,
        routes: {
          '/x': 'x',
          '/m.js': 'export default import.meta.resolve("/y")',
          '/bad.js': '} {',
          '/j.json': '{"a":1}',
          '/f': { body: '<p>', headers },
          '/w.js': 'onmessage = () => postMessage(1)',
        },
      });
      const realms = which === 'both' ? '{ window, domRealm }' : `{ ${which} }`;
      await page.evaluate(`globalThis.noted = (${replaceIntrinsics})(${realms}); 0`).catch(() => {});
      await page.evaluate(`(${useEverything})(); 0`).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      // Results and errors of the user's scripts.
      for (const script of ['({ a: [1] })', 'throw {}', 'Promise.reject({})', '"x".repeat(20_000)'])
        await page.evaluate(script).catch(() => {});
      const outcome = await page.evaluate(`(() => {
        let text = '';
        for (const name in noted.found) text += name + '; ';
        return text + noted.calls.count;
      })()`);
      assert.match(outcome, /^\d{4,}$/);
    });
  }
});
