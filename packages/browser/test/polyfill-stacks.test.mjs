// What traces say of stacks, and where their texts come from: stacks/stacks.json has those of three engines.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { brief, page, TABLE } from './polyfill.mjs';

const STACKS = path.join(import.meta.dirname, 'stacks');

/** What the engine would give. */
const ENGINE = `
  let text = '';
  let limit;
  globalThis.Error = class { constructor() { this.stack = text; limit = new.target.stackTraceLimit } };
`;

/** The functions of stacks/app.js, each with its name in the trace. */
const functions = (() => {
  const lines = fs.readFileSync(path.join(STACKS, 'app.js'), 'utf8').split('\n');
  const entry = (name, line, text) => {
    const column = lines[line - 1].indexOf(text) + 1;
    return [name, line, column, line, column, line, column + text.length, 0];
  };
  return [
    ['', 1, 1, 1, 1, lines.length, 1, -1],
    entry('nested', 1, '(kind) { capture(kind) }'),
    entry('outer', 2, "() { nested('nested') }"),
    entry('Cart', 3, "() { capture('constructor') }"),
    entry('get total', 4, "() { capture('getter'); return 1 }"),
    entry('add', 5, "(item) { [item].forEach((each) => { capture('native caller') }) }"),
    [...entry('', 5, "(each) => { capture('native caller') }").slice(0, 7), 5],
    entry('of', 6, '(item) { new Cart().add(item) }'),
    entry('a b', 7, '(kind) { nested(kind) }'),
    entry('waits', 8, 'async (kind) => { await null; nested(kind) }'),
    entry('caller', 9, "() { await waits('await') }"),
    entry('items', 10, "() { nested('generator'); yield 1 }"),
    entry('', 14, "() { capture('immediately invoked') }"),
    entry('', 15, "() => { capture('immediately invoked arrow') }"),
    entry('reaction', 21, "() { nested('reaction') }"),
    entry('onTimeout', 22, "() { nested('timer') }"),
  ];
})();

const EXPECTED = {
  nested: '1:1 > outer > nested',
  constructor: '1:1 > Cart',
  getter: '1:1 > get total',
  'native caller': '1:1 > of > add > 5:30',
  'immediately invoked': '1:1 > 14:11',
  'immediately invoked arrow': '1:1 > 15:2',
  eval: '1:1',
  'new Function': '1:1 > nested',
  'computed name': '1:1 > a b > nested',
  generator: '1:1 > items > nested',
  await: 'waits > nested',
  reaction: 'reaction > nested',
  timer: 'onTimeout > nested',
};

/** The stack of the sample that is taken while the engine gives a text: names, or places of functions without one. */
async function stackOf(text, own, table) {
  const it = page({ before: `${ENGINE} text = ${JSON.stringify(own)}`, table });
  it.run(`text = ${JSON.stringify(text)}`);
  const trace = await it.start().stop();
  const names = [];
  for (let id = trace.samples[0].stackId; id !== undefined; id = trace.stacks[id].parentId) {
    const { name, line, column, resourceId } = trace.frames[trace.stacks[id].frameId];
    assert.equal(trace.resources[resourceId], 'https://shop.example/app.js');
    names.unshift(name || `${line}:${column}`);
  }
  return names.join(' > ');
}

describe('stacks', () => {
  const { engines } = JSON.parse(fs.readFileSync(path.join(STACKS, 'stacks.json'), 'utf8'));
  for (const [engine, texts] of Object.entries(engines)) {
    it(`are understood as ${engine} writes them`, async () => {
      assert.deepEqual(Object.keys(texts).sort(), Object.keys(EXPECTED).sort());
      const table = { version: 1, files: { 'app.js': { functions } } };
      for (const [kind, expected] of Object.entries(EXPECTED))
        assert.equal(await stackOf(texts[kind], texts.nested, table), expected, kind);
    });

    it(`have the names of ${engine} without the table`, async () => {
      const names = await stackOf(texts.nested, texts.nested, new TypeError('Failed to fetch'));
      assert.match(names, /^(|global code|undefined:undefined) > outer > nested$/);
    });
  }

  it('end where callers wait', async () => {
    const own = 'Error\n    at f (https://shop.example/selfprof-polyfill.js:1:1)';
    const table = { version: 1, files: { 'app.js': { functions } } };
    const at = (line) => `https://shop.example/app.js:${line}:24`;
    for (const text of [
      `Error\n    at nested (${at(1)})\n    at async outer (${at(2)})\n    at ${at(3)}`,
      `Error\n    at nested (${at(1)})\n    at async ${at(2)}`,
      `Error\n    at nested (${at(1)})\n    at async Promise.all (index 0)\n    at outer (${at(2)})`,
      `nested@${at(1)}\nasync*outer@${at(2)}\n@${at(3)}\n`,
      `nested@${at(1)}\npromise callback*outer@${at(2)}\n`,
      `nested@${at(1)}\nsetTimeout handler*@${at(2)}\n`,
      `nested@${at(1)}\nEventListener.handleEvent*outer@${at(2)}\n`,
      `nested@${at(1)}\nasync outer@${at(2)}`,
    ])
      assert.equal(await stackOf(text, own, table), 'nested', text);
  });

  it('have nothing but instrumented code', async () => {
    const own = 'f@https://shop.example/selfprof-polyfill.js:1:1';
    const table = {
      version: 1,
      files: { 'app.js': { functions: functions.map((entry) => [...entry.slice(0, 7), -1]) } },
    };
    const text = [
      ...[
        'f@https://shop.example/selfprof-polyfill.js:1:1',
        'forEach@[native code]',
        'eval code@',
        'wasm-function[3]@[wasm code]',
      ],
      ...[
        'x@https://cdn.example/app.js:1:30',
        'nested@https://shop.example/app.js:1:24',
        'y@blob:https://shop.example/0-1:1:1',
      ],
      ...[
        '',
        '@',
        ':1:1',
        '99999999',
        'outer@https://shop.example/app.js:2:20',
        'after its end@https://shop.example/app.js:99:1',
      ],
    ].join('\n');
    assert.equal(await stackOf(text, own, table), 'outer > nested');
  });

  it('that are odd are no trouble', async () => {
    const own = 'f@https://shop.example/selfprof-polyfill.js:1:1';
    for (const text of [
      undefined,
      null,
      '',
      '\n\n\n',
      7,
      `${'a@'.repeat(20_000)}:1:1`,
      `${'h:'.repeat(20_000)}//`,
      '@:::\n()',
    ])
      assert.equal(await stackOf(text, own), '');
  });
});

describe('a trace', () => {
  it('has each function, stack and resource once, and callers first', async () => {
    const it = page();
    const profiler = it.start();
    it.job('outer(() => { inner(() => pass(25)); inner(() => pass(10)); pass(10) })');
    it.job('inner(() => outer(() => pass(10)))');
    const trace = JSON.parse(JSON.stringify(await it.job(() => profiler.stop())));
    const frame = (name) => {
      const [, line, column] = TABLE.files['app.js'].functions.find(([its]) => its === name);
      return { column, line, name, resourceId: 0 };
    };
    assert.deepEqual(trace.frames, [frame('outer'), frame('inner')]);
    assert.deepEqual(trace.resources, ['https://shop.example/app.js']);
    assert.deepEqual(trace.stacks, [
      { frameId: 0 },
      { frameId: 1, parentId: 0 },
      { frameId: 1 },
      { frameId: 0, parentId: 2 },
    ]);
    assert.deepEqual(brief(trace), ['?', 'outer > inner', 'outer > inner', 'outer > inner', 'outer', 'inner > outer']);
    // As WebIDL orders the members of dictionaries.
    assert.deepEqual(Object.keys(trace), ['frames', 'resources', 'samples', 'stacks']);
    assert.deepEqual(trace.samples[0], { marker: 'script', timestamp: 1_000 });
    assert.deepEqual(trace.samples[1], { stackId: 1, timestamp: 1_010 });
  });

  it('has the URLs that the browser gives', async () => {
    for (const [url, path] of [
      ['https://shop.example/app.js?version=3#part', 'app.js'],
      ['https://shop.example/pages/', 'pages/index.html'],
      ['https://shop.example/a%20b/%C3%A9.js', 'a%20b/%C3%A9.js'],
      ['https://cdn.example/x@1.2/app.js', 'https://cdn.example/x@1.2/app.js'],
    ]) {
      const it = page({ url, table: { version: 1, files: { [path]: TABLE.files['app.js'] } } });
      const profiler = it.start();
      it.job('outer(() => pass(10))');
      const trace = await it.job(() => profiler.stop());
      assert.deepEqual([brief(trace)[1], trace.resources[0]], ['outer', url]);
    }
  });

  it('has the innermost frames of deep stacks', async () => {
    const it = page();
    const profiler = it.start();
    it.job('outer(() => deep(400, () => pass(10)))');
    const stack = brief(await it.job(() => profiler.stop()))[1].split(' > ');
    assert.ok(stack.length > 240 && stack.length <= 255, `${stack.length} frames`);
    assert.deepEqual([...new Set(stack)], ['deep']);
  });

  it('is that of scripts of the build only, not of the page that contains them', async () => {
    const it = page();
    const profiler = it.start();
    it.job('(function notInstrumented() { outer(() => pass(10)) })()');
    const trace = await it.job(() => profiler.stop());
    assert.deepEqual(
      Array.from(trace.frames, ({ name }) => name),
      ['outer'],
    );
  });
});

describe('the table of functions', () => {
  const sampled = async (options) => {
    const it = page(options);
    const traces = [];
    for (let count = 0; count < 2; count++) {
      const profiler = it.start();
      it.job('outer(() => pass(10))');
      traces.push(await it.job(() => profiler.stop()));
    }
    return { it, traces };
  };

  it('is loaded once, when the first profiler starts, and for five seconds at most', async () => {
    const timeouts = [];
    const { it, traces } = await sampled({
      globals: { AbortSignal: { timeout: (ms) => timeouts.push(ms) && 'signal' } },
    });
    assert.deepEqual(it.requests, [{ url: 'https://shop.example/selfprof-functions.json', signal: 'signal' }]);
    assert.deepEqual(timeouts, [5_000]);
    assert.deepEqual(traces.map(brief), [
      ['?', 'outer'],
      ['?', 'outer'],
    ]);
    assert.deepEqual(it.warnings, []);
  });

  it('is loaded before a profiler is stopped, and not by a page that has none', () => {
    const it = page();
    it.job('outer(() => pass(10))');
    assert.deepEqual(it.requests, []);
    it.start();
    assert.equal(it.requests.length, 1);
  });

  it('may be missing: then frames have the names of the engine', async () => {
    for (const table of [
      new TypeError('Failed to fetch'),
      'not JSON',
      null,
      {},
      { version: 2, files: {} },
      { version: 1, files: { a: null } },
    ]) {
      const { it, traces } = await sampled({ table });
      assert.equal(it.warnings.length, 1);
      const warning = 'Profiler: no table of functions. Is https://shop.example/selfprof-functions.json served? ';
      assert.ok(it.warnings[0].startsWith(warning), it.warnings[0]);
      // It may be there the next time.
      assert.equal(it.requests.length, 2);
      for (const trace of traces) {
        assert.ok(brief(trace)[1].endsWith('outer'));
        for (const frame of trace.frames) assert.deepEqual(Object.keys(frame), ['name', 'resourceId']);
        assert.ok(!Array.from(trace.resources).some((url) => url.includes('selfprof-polyfill')));
      }
    }
  });

  it('may be wrong', async () => {
    for (const functions of [[], [['outer', 1, 1, 1, 1, 1, 1, 0]], [['', 1, 1, 1, 1, 1, 2, 7]]]) {
      const { traces } = await sampled({ table: { version: 1, files: { 'app.js': { functions } } } });
      assert.deepEqual(brief(traces[0]), ['?', '?']);
    }
  });
});
