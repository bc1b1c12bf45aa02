// Attacks on our own code in the realm of a window: a page that has changed the DOM realm can get at the global object of a new frame before
// our code is loaded into it, and replace its intrinsics.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { walk } from './reachable.mjs';
import { openHtml } from './server.mjs';

/** Runs in the page: replaces what can be replaced in a realm. What the replacements are given goes into `seen`. */
function poison(global, seen) {
  const { Reflect: reflect, Object: object } = global;
  const { defineProperty, ownKeys, apply, construct, getOwnPropertyDescriptor } = reflect;
  const note = (value) => {
    if ((typeof value === 'object' || typeof value === 'function') && value !== null && seen.size < 200_000)
      seen.add(value);
  };
  const replace = (holder, key) => {
    const property = getOwnPropertyDescriptor(holder, key);
    if (
      property === undefined ||
      !property.configurable ||
      typeof property.value !== 'function' ||
      key === 'constructor'
    )
      return;
    const original = property.value;
    const replacement = new Proxy(original, {
      apply(_target, self, parameters) {
        note(self);
        // V8 makes the list in the realm of the caller.
        note(parameters);
        for (let at = 0; at < parameters.length; at++) {
          note(parameters[at]);
          // Also what is inside of lists and descriptors.
          const inner = parameters[at];
          // Without running getters, which prototypes do not bear.
          if (typeof inner !== 'object' || inner === null) continue;
          if (getOwnPropertyDescriptor(inner, 'length')?.value > 50) continue;
          for (const key of ownKeys(inner).slice(0, 20)) note(getOwnPropertyDescriptor(inner, key)?.value);
        }
        const result = apply(original, self, parameters);
        note(result);
        // Names of methods among them: some that all objects have, too.
        if (key === 'parse' && result instanceof global.Array)
          for (const name of ['valueOf', 'constructor', '__defineGetter__']) result[result.length] = name;
        return result;
      },
      construct(_target, parameters, newTarget) {
        note(parameters);
        for (let at = 0; at < parameters.length; at++) note(parameters[at]);
        const result = construct(original, parameters, newTarget);
        note(result);
        return result;
      },
    });
    defineProperty(holder, key, { ...property, value: replacement });
  };
  for (const name of [
    'Object',
    'Reflect',
    'JSON',
    'Math',
    'Array',
    'Promise',
    'Symbol',
    'Number',
    'String',
    'Function',
    'Map',
    'Set',
    'WeakMap',
    'WeakRef',
    'FinalizationRegistry',
    'Float64Array',
    'Uint32Array',
    'Uint8Array',
    'ArrayBuffer',
    'Error',
    'TypeError',
    'RegExp',
    'Date',
    'Proxy',
  ]) {
    const holder = global[name];
    if (holder === undefined) continue;
    for (const key of ownKeys(holder)) replace(holder, key);
    if (holder.prototype !== undefined) for (const key of ownKeys(holder.prototype)) replace(holder.prototype, key);
  }
  const typed = Object.getPrototypeOf(global.Float64Array.prototype);
  for (const key of ownKeys(typed)) replace(typed, key);
  for (const name of [
    'Map',
    'Set',
    'WeakMap',
    'WeakRef',
    'Promise',
    'Float64Array',
    'Uint32Array',
    'Uint8Array',
    'Proxy',
    'Error',
  ])
    replace(global, name);
  for (const key of [
    'result',
    'native',
    'call',
    'then',
    'id',
    'samples',
    'trace',
    'onFull',
    'toJSON',
    '0',
    '1',
    'names',
    'heads',
    'times',
  ]) {
    defineProperty(object.prototype, key, {
      configurable: true,
      get() {
        note(this);
        return undefined;
      },
      set(value) {
        note(this);
        note(value);
        defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
      },
    });
  }
}

suite('a frame whose intrinsics were replaced before our code was loaded', () => {
  test('gets no object of the main realm', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '<body>', {
      headers: { 'document-policy': 'js-profiling' },
      routes: { '/frame': { body: '<p>', headers: { 'document-policy': 'js-profiling' } }, '/a.js': '1' },
    });
    const outcome = await page.evaluateIn(
      { timeout: 100_000 },
      `(async () => {
        const seen = new Set();
        const poison = ${poison};
        const walk = ${walk};
        let domObject = document.createElement;
        for (let next = domObject; next !== null; next = Object.getPrototypeOf(next)) domObject = next;
        const DomObject = domObject.constructor;
        const { defineProperty } = DomObject;
        const poisoned = new Set([window]);
        const catchGlobal = (target) => {
          if (typeof target !== 'object' || target === null || poisoned.has(target)) return;
          if (!Object.hasOwn(target, 'globalThis') || !Object.hasOwn(target, 'Reflect')) return;
          poisoned.add(target);
          poison(target, seen);
        };
        for (const name of ['defineProperty', 'defineProperties', 'setPrototypeOf', 'getOwnPropertyDescriptor']) {
          const original = DomObject[name];
          defineProperty(DomObject, name, { configurable: true, writable: true, value(target, ...rest) {
            catchGlobal(target);
            return Reflect.apply(original, this, [target, ...rest]);
          } });
        }
        const frame = Object.assign(document.createElement('iframe'), { src: '/frame' });
        const loaded = new Promise((resolve) => { frame.onload = resolve; });
        document.body.append(frame);
        await loaded;
        const inner = frame.contentWindow;
        const values = {};
        const attempt = async (name, work) => {
          try { values[name] = await Promise.race([work(), new Promise((resolve) => setTimeout(resolve, 1_500))]); } catch (error) { values[name] = error; }
        };
        const options = { sampleInterval: 1, maxBufferSize: 100, includeEntries: true };
        await attempt('mark', () => inner.performance.mark('m', { detail: {} }));
        await attempt('measure', () => inner.performance.measure('d', 'm'));
        await attempt('entries', () => inner.performance.getEntries());
        await attempt('observer', () => new inner.PerformanceObserver((...all) => { values.observed = all; }).observe({ type: 'mark', buffered: true }));
        await attempt('now', () => inner.performance.now());
        await attempt('profile', async () => { const p = new inner.Profiler(options); inner.eval('for (const end = performance.now() + 20; performance.now() < end;);'); return p.stop(); });
        await attempt('gzip', () => new inner.Profiler(options).stop({ format: 'json-gzip' }));
        await attempt('chunks', async () => { const p = new inner.Profiler({ ...options, bufferPolicy: 'chunks', maxBufferSize: 3 }); const c = p.chunks(); inner.eval('for (const end = performance.now() + 20; performance.now() < end;);'); await p.stop(); return c.next(); });
        await attempt('capabilities', () => inner.Profiler.capabilities());
        await attempt('clone', () => inner.structuredClone({ a: new inner.Map([[1, new inner.Uint8Array(2)]]) }));
        await attempt('fetch', async () => (await inner.fetch('/a.js')).text());
        await attempt('import', () => inner.eval("import('/a.js')"));
        await attempt('missing', () => inner.eval("import('/none.js')"));
        await attempt('module', () => new Promise((resolve) => {
          const script = inner.document.createElement('script');
          script.type = 'module';
          script.textContent = 'import "/a.js"; import.meta.resolve("/x"); setTimeout(() => done()); throw 1';
          inner.done = resolve;
          inner.document.body.append(script);
        }));
        await attempt('calls', () => [inner.performance.valueOf(), inner.performance.constructor, inner.performance.timing]);
        await attempt('worker', () => new Promise((resolve) => { const w = new inner.Worker('/none.js'); w.onerror = resolve; }));
        await attempt('channel', () => new inner.MessageChannel());
        await attempt('idle', () => new Promise((resolve) => inner.requestIdleCallback(resolve)));
        return { count: seen.size, caught: poisoned.size, ...walk({ seen: [...seen], values }, 300_000) };
      })()`,
    );
    assert.ok(outcome.caught >= 2, 'no realm was poisoned');
    assert.ok(outcome.count > 100, `${outcome.count} values`);
    assert.deepEqual(outcome.found, []);
  });
});
