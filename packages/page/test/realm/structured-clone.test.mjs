// Structured clone by V8's serializer, from one realm to another.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import vm from 'node:vm';

import { native } from './realm-sessions.mjs';

/** Node 20's V8 asks about no object of the host and knows no cause; jsdom does not run there. */
const HAS_PAGES = parseInt(process.versions.node, 10) >= 22;

const [source, target] = [vm.createContext({}), vm.createContext({})];
const inSource = (text) => vm.runInContext(text, source);
const inTarget = (text) => vm.runInContext(text, target);

/**
 * What the source realm does for a clone. Objects with a member `host` are the host's; the target has others for them.
 */
const hooks = inSource(`({
  isHostObject: (object) => object.host !== undefined,
  writeHostObject(object) { return this.hosts.push(object) - 1 },
  shareMemory(buffer) { this.shared.push(buffer) },
  dataCloneError(message) { throw Object.assign(new Error(message), { name: 'DataCloneError' }) },
  start() {
    const state = { hosts: [], shared: [] };
    return { state, writeHostObject: this.writeHostObject.bind(state), shareMemory: this.shareMemory.bind(state) };
  },
})`);

/** Serializes the value of an expression in the source realm. */
function write(expression, { transferred = inSource('[]'), maxBytes = 1e6 } = {}) {
  const { state, writeHostObject, shareMemory } = hooks.start();
  const { isHostObject, dataCloneError } = hooks;
  const options = { anchor: hooks, isHostObject, writeHostObject, shareMemory, dataCloneError, transferred, maxBytes };
  const [bytes, ...taken] = native.serializeValue(inSource(`(${expression})`), options);
  return { bytes, taken, ...state };
}

/** Deserializes in the target realm. */
function read({ bytes, taken = [], shared = [], hosts = [] }) {
  const hostObjects = hosts.map(({ host }) => inTarget(`({ arrived: ${JSON.stringify(host)} })`));
  return native.deserializeValue(bytes, { anchor: inTarget('({})'), hostObjects, shared, transferred: taken });
}

/** Whether `is`, a function of the target realm as text, is true for the clone of an expression. */
function check(expression, is, options) {
  target.clone = read(write(expression, options));
  assert.equal(inTarget(`(${is})(clone)`), true, expression);
}

suite('a value in another realm', () => {
  const CASES = [
    [
      '({ a: 1, b: [1, , 3], c: undefined })',
      '(v) => v instanceof Object && v.b instanceof Array && !(1 in v.b) && "c" in v',
    ],
    [
      '[1n, -0, NaN, "text", null, true]',
      '([a, b, c, d, e, f]) => a === 1n && Object.is(b, -0) && c !== c && d === "text" && e === null && f',
    ],
    [
      'new Map([[{ key: 1 }, new Set([2])]])',
      '(v) => v instanceof Map && [...v][0][0].key === 1 && [...v][0][1] instanceof Set',
    ],
    [
      '[new Date(5), /x/gi, Object(1n), new DataView(new ArrayBuffer(2), 1)]',
      '([d, r, n, v]) => d instanceof Date && +d === 5 && String(r) === "/x/gi" && typeof n === "object" && v.byteLength === 1',
    ],
    ['(() => { const v = {}; v.self = v; return v })()', '(v) => v.self === v'],
    ['new TypeError("wrong")', '(v) => v instanceof TypeError && v.message === "wrong" && typeof v.stack === "string"'],
    ['Object.assign(Object.create({ inherited: 1 }), { own: 2 })', '(v) => v.own === 2 && v.inherited === undefined'],
  ];
  for (const [expression, is] of CASES) test(expression, () => check(expression, is));

  if (HAS_PAGES)
    test('an error keeps its cause', () =>
      check('new Error("x", { cause: { deep: new RangeError("y") } })', '(v) => v.cause.deep instanceof RangeError'));

  test('getters run in its realm, and what they throw is thrown', () => {
    assert.throws(() => write('{ get a() { throw new RangeError("mine") } }'), inSource('RangeError'));
    assert.throws(
      () => write('(() => { let v = {}; for (let i = 0; i < 1e5; i++) v = { v }; return v })()'),
      inSource('RangeError'),
    );
  });

  for (const expression of [
    '() => {}',
    'Symbol()',
    'Promise.resolve()',
    'new WeakMap()',
    'new Proxy({}, {})',
    'new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))',
    '[new WebAssembly.Memory({ initial: 1 })]',
    '[function f() {}]',
  ]) {
    test(`${expression} is refused with a DataCloneError of its realm`, () => {
      assert.throws(
        () => write(expression),
        (error) => error.name === 'DataCloneError' && error instanceof inSource('Error'),
      );
    });
  }

  if (HAS_PAGES)
    test('an object of the host is exchanged for another', () =>
      check(
        '(() => { const one = { host: "a" }; return [one, { host: "b" }, one] })()',
        '([a, b, c]) => a.arrived === "a" && b.arrived === "b" && c === a',
      ));

  test('memory is shared, as an object of the realm', () => {
    check(
      'source_memory = new SharedArrayBuffer(8)',
      '(v) => { new Uint8Array(v)[0] = 7; return v instanceof SharedArrayBuffer }',
    );
    assert.equal(inSource('new Uint8Array(source_memory)[0]'), 7);
  });

  for (const [memory, byteLength] of [
    ['new SharedArrayBuffer(0)', 0],
    ['new SharedArrayBuffer(0, { maxByteLength: 8 })', 0],
    ['new SharedArrayBuffer(8)', 8],
    ['new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true }).buffer', 0],
    ['new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }).buffer', 65536],
    ['new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true })', 65536],
  ]) {
    test(`${memory} arrives, and what follows it`, () =>
      check(
        `(() => { const memory = ${memory}; return [memory, "next", new SharedArrayBuffer(4), memory] })()`,
        `([memory, next, four, same]) => {
          const buffer = memory.buffer ?? memory;
          return memory === same && next === "next" && four.byteLength === 4 &&
            buffer instanceof SharedArrayBuffer && buffer.byteLength === ${byteLength};
        }`,
      ));
  }

  test('buffers are transferred, resizable ones as such', () => {
    inSource(
      'buffers = [new ArrayBuffer(8), new ArrayBuffer(4, { maxByteLength: 16 })]; new Uint8Array(buffers[0])[1] = 7;',
    );
    check(
      '({ view: new Uint8Array(buffers[0]), buffers })',
      '({ view, buffers: [a, b] }) => view[1] === 7 && view.buffer === a && b.resizable && b.maxByteLength === 16',
      { transferred: inSource('buffers') },
    );
    assert.deepEqual([...inSource('buffers.map((buffer) => buffer.byteLength)')], [0, 0]);
  });
});
