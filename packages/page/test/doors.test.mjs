// Walks the doors between the realms: each is in the list, has an attack, and withstands hostile values.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { jsdomWithBackDoor } from './back-door.mjs';
import { FROM_DOM_REALM, FROM_WINDOW_REALM, INTO_DOM_REALM, MESSAGES_OF_DOM_REALM } from './doors.mjs';
import { walk } from './reachable.mjs';
import { host, openHtml } from './server.mjs';

const source = (file) => fs.readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8');

/** The members of an interface in a file of types. */
function membersOf(file, name) {
  const text = source(`../src/any-realm/${file}`);
  const body = text.slice(text.indexOf(`export interface ${name} {`)).split('\n}\n', 1)[0];
  return [...body.matchAll(/^ {2}(\w+)\??[(:]/gm)].map(([, member]) => member);
}

suite('the list of doors', () => {
  for (const [name, [doors, actual]] of Object.entries({
    'from the DOM realm': [FROM_DOM_REALM, membersOf('realm-contracts.d.ts', 'MainRealmFunctions')],
    'from the realm of a window': [FROM_WINDOW_REALM, membersOf('realm-contracts.d.ts', 'WindowFunctions')],
    'into the DOM realm': [INTO_DOM_REALM, membersOf('realm-contracts.d.ts', 'DomProgram')],
    'of messages': [
      MESSAGES_OF_DOM_REALM,
      [
        ...source('../src/any-realm/thread-messages.d.ts')
          .match(/From a DOM realm to[\s\S]*?\*\//)[0]
          .matchAll(/`([^`]+)`/g),
      ]
        .map(([, type]) => type)
        .filter((type) => type !== 'type'),
    ],
  })) {
    test(`${name} is complete, and each has an attack that exists`, () => {
      // `take` gives the completion of the call before, inside the bridge.
      assert.deepEqual(Object.keys(doors).sort(), actual.filter((door) => door !== 'take').sort());
      for (const [door, { takes, gives, attacks }] of Object.entries(doors)) {
        assert.ok(takes.length > 0 && gives.length > 0, door);
        assert.ok(attacks.length > 0, `${door} has no attack`);
        for (const attack of attacks) {
          const [file, title] = attack.split(/: (.*)/s);
          assert.ok(source(`./${file}`).replaceAll("\\'", "'").includes(title), `${door}: there is no test ${attack}`);
        }
      }
    });
  }

  test('has a call for each function of the main realm', () => {
    const without = Object.keys(FROM_DOM_REALM).filter((door) => FROM_DOM_REALM[door].call === undefined);
    // A function of the DOM realm, which returns what a function of the page does.
    assert.deepEqual(without.sort(), ['apply', 'timeOrigin']);
  });
});

/** Runs in the page: values that a hostile caller would pass, by name. What they are given is kept in `seen`. */
function hostileValues(seen) {
  function spy(...values) {
    seen.push(this, ...values);
    return 1;
  }
  const spied = {
    get: (target, key) => {
      seen.push(target);
      return key === Symbol.toPrimitive ? () => 'x' : Reflect.get(target, key);
    },
    ownKeys: (target) => Reflect.ownKeys(target),
    // V8 makes the list, and the descriptor, in the realm of the caller.
    apply: (_target, self, values) => spy(self, values, ...values),
    construct: (_target, values) => (spy(values, ...values), {}),
    defineProperty: (_target, _key, descriptor) => (spy(descriptor), true),
    set: (_target, _key, value, receiver) => (spy(value, receiver), true),
  };
  const proxied = (...names) => Object.fromEntries(names.map((name) => [name, new Proxy(() => {}, spied)]));
  const withGetters = (object, ...names) => {
    for (const name of names)
      Object.defineProperty(object, name, { get: new Proxy(() => {}, spied), enumerable: true, configurable: true });
    return object;
  };
  const thrower = () => {
    throw new Error('thrown by the page');
  };
  const throwing = {};
  for (const key of [
    'then',
    'toString',
    'valueOf',
    'toJSON',
    'constructor',
    'length',
    'byteLength',
    'url',
    Symbol.iterator,
    Symbol.toPrimitive,
    Symbol.species,
  ])
    Object.defineProperty(throwing, key, { get: thrower, configurable: true });
  const lying = new Uint8Array(4);
  for (const key of [
    'byteLength',
    'length',
    'buffer',
    'byteOffset',
    'constructor',
    Symbol.toStringTag,
    Symbol.iterator,
  ])
    Object.defineProperty(lying, key, { get: () => (spy(lying), key === 'buffer' ? new ArrayBuffer(1) : 2 ** 40) });
  const detached = new Uint8Array(8);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  class Sub extends Uint8Array {
    static get [Symbol.species]() {
      return spy;
    }
  }
  const promise = Promise.resolve(1);
  promise.constructor = spy;
  const overflow = () => overflow() + 1;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const json = (change) => JSON.stringify({ url: location.href, window: 0, frame: 1, sandbox: null, ...change });
  return {
    undefined,
    null: null,
    true: true,
    NaN: Number.NaN,
    negative: -1,
    huge: 2 ** 53,
    infinite: Number.POSITIVE_INFINITY,
    empty: '',
    surrogate: '\ud800',
    nul: '\0',
    long: 'x'.repeat(100_000),
    symbol: Symbol('x'),
    bigint: 10n,
    object: {},
    bare: Object.create(null),
    array: [],
    sparse: Object.assign([], { length: 2 ** 32 - 1 }),
    function: spy,
    constructor: class {},
    thrower,
    overflow,
    proxy: new Proxy({}, spied),
    functionProxy: new Proxy(spy, spied),
    boundProxy: new Proxy(spy, spied).bind(undefined),
    constructorProxy: new Proxy(class {}, spied),
    converted: proxied('toString', 'valueOf', 'toJSON', 'then'),
    primitive: { [Symbol.toPrimitive]: new Proxy(spy, spied) },
    iterable: { [Symbol.iterator]: new Proxy(spy, spied) },
    got: withGetters(
      {},
      ...['bytes', 'tag', 'buffers', 'ports', 'objects', 'type', 'name', 'message', 'pipe', 'out', 'into', 'length'],
      ...['then', 'process', 'setImmediate', 'apply', 'url', 'constructor', 0, Symbol.iterator, Symbol.toPrimitive],
    ),
    'list of got': [withGetters({}, 'type', 'bytes', 'name', 'x'), withGetters({}, 'pipe', 'out', 'into')],
    'got list': withGetters([1], 0),
    'error got': withGetters(new Error('x'), 'name', 'message', 'stack', 'cause', 'toString'),
    'record got': {
      bytes: new ArrayBuffer(4),
      tag: 'tag',
      buffers: withGetters([1], 0),
      ports: [withGetters({}, 'pipe', 'out', 'into')],
      objects: [withGetters({}, 'type')],
    },
    'record of objects got': {
      bytes: new ArrayBuffer(4),
      tag: 'tag',
      buffers: [],
      ports: [],
      objects: [withGetters({ type: 'File' }, 'name', 'media', 'bytes', 'lastModified')],
    },
    bytesProxy: new Proxy(new Uint8Array(2), spied),
    revoked: revoked.proxy,
    throwing,
    text: {
      toString: () => (spy.call(1), 'x'),
      valueOf: spy,
      [Symbol.toPrimitive]: (...values) => (spy(...values), 'http://victim.test/'),
    },
    thenable: Object.fromEntries([['then', spy]]),
    promise,
    lying,
    detached,
    sub: new Sub(4),
    shared: new Uint8Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer),
    resizable: new Uint8Array(new ArrayBuffer(4, { maxByteLength: 16 })),
    window,
    document,
    frame: frames[0],
    ofDom: window._document,
    doors: window.doors,
    'JSON null': 'null',
    'JSON array': '[[[]]]',
    'JSON proto': '{"__proto__":{"url":"x"},"constructor":1}',
    'JSON types': json({
      url: { a: 1 },
      headers: [1, [2]],
      method: [],
      referrer: {},
      window: 'x',
      frame: [],
      sandbox: {},
      ticket: '1',
    }),
    'JSON headers': json({ headers: [['x', 'a\r\nb: c'], ['host', 'evil'], ['x\n', 'y'], null] }),
    'JSON method': json({ method: 'TRACE' }),
    'JSON file': json({ url: 'file:///etc/passwd', mode: 'navigate', destination: 'document', credentials: 'include' }),
    'JSON source': json({ source: { toString: 1 }, base: 'nonsense', line: 1e99 }),
    'JSON integrity': json({ integrity: `sha256-${'x'.repeat(1_000)}`, encoding: 'nonsense' }),
    'JSON frame': json({ url: 'about:srcdoc', text: '<script>parent.stolen = 1</script>', sandbox: '' }),
    'JSON message': '{"type":"navigate","url":{"toString":1},"referrer":[],"weight":-1,"frame":1e99}',
    'JSON ticket': json({ ticket: 1, sandbox: 'allow-scripts', outerSandbox: null, asker: 0 }),
  };
}

/** Runs in the page: passes each hostile value as each parameter of a door. */
async function attackDoor(name, example, makeValues, makeWalk) {
  const seen = [];
  const values = makeValues(seen);
  // A page may close its own windows, and then the attack would end.
  if (name === 'closeWindow') for (const kind of ['window', 'frame']) delete values[kind];
  const results = {};
  let calls = 0;
  for (let at = 0; at <= example().length; at++) {
    for (const [kind, value] of Object.entries(values)) {
      const parameters = example();
      // Also the functions that it calls back.
      for (let index = 0; index < parameters.length; index++) {
        const given = parameters[index];
        if (typeof given === 'function')
          parameters[index] = function (...answers) {
            seen.push(this, ...answers);
            return given(...answers);
          };
      }
      parameters[at] = value;
      calls += 1;
      try {
        results[`${kind} as ${at}`] = window.doors[name](...parameters);
      } catch (error) {
        results[`${kind} as ${at} thrown`] = error;
      }
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  if (name === 'createContext') {
    // Each is a realm of the page's own, with nothing of the host in it.
    for (const [key, context] of Object.entries(results)) {
      if (!key.endsWith('thrown'))
        results[key] = context.Function('return typeof process + typeof require + typeof Buffer')();
    }
  }
  const { found } = makeWalk({ results, seen }, 50_000);
  const texts = [...seen, ...Object.values(results)].filter((value) => typeof value === 'string');
  return { found, calls, texts: texts.filter((text) => /passwd:|root:x|ECONN|secret/.test(text)) };
}

suite('a page that has taken over the DOM realm', () => {
  const functions = Object.entries(FROM_DOM_REALM).filter(([, { call }]) => call !== undefined);

  test('gets nothing through any door, whatever it passes', { timeout: 280_000 }, async (t) => {
    const pages = host(t, { jsdom: jsdomWithBackDoor(t), timeout: 60_000 });
    const neighbour = await openHtml(t, '', { host: pages });
    let page;
    for (const [index, [name, { call }]] of functions.entries()) {
      // An attack may break its page, and then later ones prove nothing. So not more than eight share one.
      if (index % 8 === 0) {
        await page?.close();
        page = await openHtml(t, '<iframe></iframe>', {
          host: pages,
          headers: { 'set-cookie': 'secret=1; HttpOnly' },
        });
      }
      const { found, calls, texts } = await page.evaluate(
        `(${attackDoor})('${name}', () => ${call}, ${hostileValues}, ${walk})`,
      );
      assert.deepEqual(found, [], name);
      assert.deepEqual(texts, [], name);
      assert.ok(calls > 40, name);
      assert.equal(await page.evaluate('window.stolen'), undefined, name);
      assert.deepEqual(
        page.problems.filter(({ kind }) => kind === 'crash'),
        [],
        name,
      );
    }
    assert.equal(await neighbour.evaluate('1 + 1'), 2);
  });

  test('cannot change shared memory while the host reads it as text', { timeout: 60_000 }, async (t) => {
    const isolating = {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    };
    // Texts of different lengths, in characters.
    const worker = `onmessage = ({ data }) => {
      const memory = new Uint8Array(data);
      const texts = [[0x41], [0xf0, 0x9f, 0x98, 0x80], [0xe4, 0xb8, 0x80, 0x41]];
      const filled = texts.map((bytes) => new Uint8Array(memory.length).map((_, at) => bytes[at % bytes.length]));
      for (;;) for (const bytes of filled) memory.set(bytes);
    };`;
    const page = await openHtml(t, '', {
      host: host(t, { jsdom: jsdomWithBackDoor(t) }),
      headers: isolating,
      routes: { '/worker.js': { body: worker, headers: isolating } },
    });
    const lengths = await page.evaluate(async () => {
      const memory = new SharedArrayBuffer(1 << 16);
      const worker = new Worker('/worker.js');
      worker.postMessage(memory);
      const decode = () => window.doors.decode('utf-8', false, false, new Uint8Array(memory)).length;
      const lengths = new Set([decode()]);
      while (lengths.add(decode()).size < 2) await new Promise((resolve) => setTimeout(resolve));
      const end = Date.now() + 3_000;
      while (Date.now() < end) lengths.add(decode());
      worker.terminate();
      return lengths.size;
    });
    assert.ok(lengths > 1);
  });
});
