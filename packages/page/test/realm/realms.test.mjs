// A session of a realm shows the scripts of that realm and of no other, however their scripts attack that.
//
// Most samples here are forced by a function that the scripts call, so that what is on the stack is known.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

import { PACKAGE, runNode } from '../../../selfprof/test/program.mjs';
import { CALL, CONTEXTS, NEVER, Realm, Session, hostCall, listener, native, open, profile } from './realm-sessions.mjs';
import { spin } from '../../../selfprof/test/spin.mjs';
import { framesOf } from '../../../selfprof/test/well-formed.mjs';

const REALM_CLASS = fileURLToPath(new URL('../../src/page/scripts/realm.cjs', import.meta.url));

suite('a session of a realm', () => {
  test('shows its own scripts as a program does', async () => {
    const [realm] = open({});
    const session = new Session(realm);
    realm.run(
      'function outer() {\n  inner();\n}\n  function inner() { sample(); }\nouter();',
      'https://a.example/app.js',
      {
        line: 10,
        column: 3,
      },
    );
    const trace = await session.stop();
    realm.close();
    assert.deepEqual(framesOf(trace, trace.samples.at(-1).stackId), [
      { column: 17, line: 14, name: 'inner', resourceId: 0 },
      { column: 18, line: 11, name: 'outer', resourceId: 0 },
      { column: 4, line: 11, name: '', resourceId: 0 },
    ]);
    assert.deepEqual(trace.resources, ['https://a.example/app.js']);
  });

  test('does not show another realm that runs the same script', async () => {
    const realms = open({}, {});
    const calls = realms.map((realm) => realm.run(CALL, 'https://cdn.example/library.js'));
    const samples = await profile(realms, () => {
      calls[0](() => calls[1](() => calls[0](realms[0].global.sample)));
      calls[1](realms[0].global.sample);
    });
    assert.deepEqual(samples, [
      ['script call call', '-'],
      ['script call', 'script call'],
    ]);
  });

  test('shows its own part of a recursion across realms', async () => {
    const realms = open({}, {}, {});
    const calls = realms.map((realm, index) =>
      realm.run(CALL.replaceAll('call', `call${index}`), 'https://x.example/'),
    );
    const round = (depth) => {
      if (depth === 0) realms[0].global.sample();
      else calls[0](calls[1], calls[2], round, depth - 1);
    };
    const samples = await profile(realms, () => round(20));
    assert.deepEqual(
      samples,
      [0, 1, 2].map((index) => [`script${` call${index}`.repeat(20)}`]),
    );
  });

  test('shows nothing of the program that opened it, and does not count the time of other code as its own', async () => {
    const realms = open({}, {});
    realms[0].run('function busy() { sample(); }', 'https://a.example/');
    const samples = await profile(realms, () => {
      (function ofTheProgram() {
        realms[0].forceSample();
        realms[1].forceSample();
        realms[0].global.busy();
      })();
    });
    assert.deepEqual(samples, [
      ['-', 'script busy'],
      ['-', '-'],
    ]);
  });

  test('does not show a script of the program that has the same source', async () => {
    const realms = open({});
    const source = 'function ofTheProgram() { sample(); } ofTheProgram()';
    const samples = await profile(realms, () => {
      vm.runInContext(source, realms[0].context, { filename: 'https://a.example/' });
      realms[0].run(source.replaceAll('Program', 'Page'), 'https://a.example/');
      vm.runInContext(source.replaceAll('Program', 'Page'), realms[0].context, { filename: 'https://a.example/' });
    });
    assert.deepEqual(samples, [['-', 'script  ofThePage', '-']]);
  });

  test('shows callbacks of later tasks', async () => {
    const realms = open({}, {});
    realms.forEach((realm, index) => {
      Object.assign(realm.global, { setTimeout, setImmediate });
      realm.run(
        `function timer${index}(done) { setTimeout(function onTimer${index}() { sample(); done(); }, 1); }
         async function later${index}() { await null; sample(); await new Promise(timer${index}); sample(); }`,
        `https://${index}.example/`,
      );
    });
    const samples = await profile(realms, async () => {
      await realms[0].global.later0();
      await realms[1].global.later1();
    });
    assert.deepEqual(samples, [
      ['script later0', 'script onTimer0', 'script later0', '-', '-', '-'],
      ['-', '-', '-', 'script later1', 'script onTimer1', 'script later1'],
    ]);
  });

  test('shows generators, accessors, classes, proxies and what bound functions call', async () => {
    const realms = open({}, {});
    realms[0].run(
      `function* generate() { sample(); yield 1; }
       class Shape { #x = this.field(); field() { sample(); } get area() { sample(); return 1; } static { this.area = 1; } }
       const proxy = new Proxy({}, { get: function trap() { sample(); } });
       const bound = function target() { sample(); }.bind(null);`,
      'https://a.example/',
    );
    const samples = await profile(realms, () => {
      realms[0].run('[...generate()]; new Shape().area; proxy.x; bound(); [1].map(bound)', 'https://a.example/use.js');
    });
    const initializer = samples[0][1].split(' ').at(-2);
    assert.deepEqual(samples[0], [
      'script  generate',
      `script  Shape ${initializer} field`.replace('  Shape', samples[0][1].includes(' Shape ') ? '  Shape' : ' '),
      'script  get area',
      'script  trap',
      'script  target',
      'script  target',
    ]);
    assert.deepEqual(new Set(samples[1]), new Set(['-']));
  });
});

suite('muted scripts', () => {
  test('never show, and neither do the host functions that they call', async () => {
    const realms = open({});
    const [realm] = realms;
    realm.run('function page(next) { next(); } function dom(next) { hostCall(next); }', 'https://a.example/');
    realm.run(
      `function secret(next) { next(); }
       function secretDom(next) { hostCall(next); }
       function secretEval(next) { eval('next()'); }`,
      'https://tracker.example/t.js',
      { muted: true },
    );
    const { page, dom, secret, secretDom, secretEval, sample } = realm.global;
    const samples = await profile(realms, () => {
      page(sample);
      secret(sample);
      page(() => secret(sample));
      secret(() => page(sample));
      page(() => secret(() => page(sample)));
      dom(sample);
      page(() => secretDom(sample));
      secretDom(() => page(sample));
      page(() => secretEval(sample));
      secret(() => dom(sample));
    });
    assert.deepEqual(samples, [
      [
        'script page',
        // The samples remain, without frames.
        'script',
        'script page',
        'script page',
        'script page page',
        'script dom [appendChild]',
        'script page',
        'script page',
        'script page',
        'script dom [appendChild]',
      ],
    ]);
  });

  test('stay hidden when the same script was also loaded with CORS', async () => {
    const source = 'function shared(next) { next(); } shared';
    for (const order of [
      [true, false],
      [false, true],
    ]) {
      const realms = open({});
      const [first, second] = order.map((muted) => realms[0].run(source, 'https://cdn.example/', { muted }));
      const samples = await profile(realms, () => {
        first(realms[0].global.sample);
        second(realms[0].global.sample);
      });
      assert.deepEqual(samples, [order.map((muted) => (muted ? 'script' : 'script shared'))]);
    }
  });

  test('do not show in optimised code that they were inlined into', async () => {
    // In a process of its own, because only V8's natives syntax can control when a function is optimised.
    const { code, stdout, stderr } = await runNode([
      '--allow-natives-syntax',
      '--no-use-osr',
      '--eval',
      `const vm = require('node:vm');
       const { Realm } = require(${JSON.stringify(REALM_CLASS)});
       const native = require(${JSON.stringify(`${PACKAGE}src/native.cjs`)});
       const { toTrace } = require(${JSON.stringify(`${PACKAGE}src/trace.cjs`)});
       const listener = { onFull() {}, onChunk() {} };
       const options = { sampleInterval: ${NEVER}, maxBufferSize: 1e6, bufferPolicy: 'stop', maxChunks: 1 };
       const [page, other] = [new Realm(vm.createContext({})), new Realm(vm.createContext({}))];
       const global = page.run('globalThis', 'setup:');
       page.run('function secret(next) { return own(next) + 1; }', 'https://tracker.example/', { muted: true });
       global.foreign = other.run('function foreign(next) { return next() + 1; } foreign', 'https://other.example/');
       page.run(\`
         function leaf(next) { return next() + 1; }
         function own(next) { return leaf(next) + 1; }
         function hot(next) { return secret(next) + own(next) + foreign(next); }\`, 'https://page.example/');
       const { hot, secret, own, leaf, foreign } = global;
       // The same function each time: otherwise the optimised code would be discarded before the sample is taken.
       const force = () => { page.forceSample(); other.forceSample(); native.forceSample(); return 1; };
       for (const f of [hot, secret, own, leaf, foreign]) %PrepareFunctionForOptimization(f);
       for (let i = 0; i < 10; i++) hot(force);
       %OptimizeFunctionOnNextCall(hot);
       hot(force);
       const session = (realm) => native.open({ ...options, realm }, listener).id;
       const sessions = [page.id, other.id, undefined].map(session);
       hot(force);
       const optimised = %ActiveTierIsTurbofan(hot);
       (async () => {
         const result = { optimised };
         for (const [index, name] of ['page', 'other', 'program'].entries()) {
           const trace = toTrace((await native.close(sessions[index], 'object')).trace);
           result[name] = trace.samples.slice(1).map(({ stackId }) => {
             const names = [];
             for (let id = stackId; id !== undefined; id = trace.stacks[id].parentId) names.unshift(trace.frames[trace.stacks[id].frameId].name);
             return names.filter((name) => ['leaf', 'own', 'secret', 'hot', 'foreign'].includes(name)).join(' ');
           });
         }
         console.log(JSON.stringify(result));
       })();`,
    ]);
    assert.equal(code, 0, stderr);
    const { optimised, page, other, program } = JSON.parse(stdout);
    assert.ok(optimised, 'hot() was not optimised, so the test says nothing');
    assert.deepEqual(program, ['hot secret own leaf', 'hot own leaf', 'hot foreign']);
    assert.deepEqual(page, ['hot own leaf', 'hot own leaf', 'hot']);
    assert.deepEqual(other, ['', '', 'foreign']);
  });
});

suite('code that is generated at run time', () => {
  const EVALS = {
    eval: `eval('(function made(next, ...others) { next(...others); })')`,
    'indirect eval': `(0, eval)('(function made(next, ...others) { next(...others); })')`,
    'new Function': `new Function('next', '...others', 'next(...others);')`,
    'a script that claims another URL': `eval('(function made(next, ...others) { next(...others); })\\n//# sourceURL=https://a.example/')`,
    'a script that claims to be host code': `eval('(function made(next, ...others) { next(...others); })\\n//# sourceURL=host:dom.js')`,
  };
  for (const [what, source] of Object.entries(EVALS)) {
    test(`${what} does not show, what it calls does`, async () => {
      const realms = open({}, {});
      const [a, b] = realms;
      const made = a.run(`${source}`, 'https://a.example/');
      const page = a.run(CALL.replaceAll('call', 'page'), 'https://a.example/');
      const samples = await profile(realms, () => {
        page(made, a.global.sample);
        page(made, page, a.global.sample);
        made(() => b.run('sample()', 'https://b.example/'));
      });
      // Its own realm believes a script whose URL claims to be host code: a page can only fool itself.
      const asHost = what.endsWith('host code') ? ' [made]' : '';
      assert.deepEqual(samples, [
        [`script page${asHost}`, `script page${asHost} page`, '-'],
        ['-', '-', 'script '],
      ]);
    });
  }

  test('a script whose URL claims to be host code is a script of its realm', async () => {
    const realms = open({}, {});
    const [mine, theirs] = realms.map((realm, index) =>
      realm.run(
        `${CALL.replaceAll('call', ['mine', 'theirs'][index])}\n//# sourceURL=host:dom.js`,
        'https://x.example/',
      ),
    );
    const samples = await profile(realms, () => mine(theirs, realms[0].global.sample));
    assert.deepEqual(samples, [['script mine'], ['script theirs']]);
  });
});

suite('WebAssembly', () => {
  // (module (import "m" "f" (func $imported)) (func $secret (export "g") call $imported)), with these names in it.
  const text = (string) => [string.length, ...Buffer.from(string)];
  const section = (id, ...bytes) => [id, bytes.length, ...bytes];
  const bytes = Uint8Array.from([
    ...[0, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(1, 1, 0x60, 0, 0),
    ...section(2, 1, ...text('m'), ...text('f'), 0, 0),
    ...section(3, 1, 0),
    ...section(7, 1, ...text('g'), 0, 1),
    ...section(10, 1, 4, 0, 0x10, 0, 0x0b),
    ...section(0, ...text('name'), ...section(1, 2, 0, ...text('imported'), 1, ...text('secret'))),
  ]);

  test('does not show, even after it was optimised', async () => {
    const realms = open({}, {});
    const source =
      '(function instantiate(f) { return new WebAssembly.Instance(new WebAssembly.Module(bytes), { m: { f } }).exports.g; })';
    const instantiate = realms.map((realm) => {
      realm.global.bytes = bytes;
      return realm.run(source, 'https://x.example/wasm.js');
    });
    const [a] = realms;
    let quiet = true;
    a.global.sometimes = () => quiet || a.global.sample();
    const inner = a.run('(function inner() { sometimes(); })', 'https://a.example/');
    const outer = a.run('(function outer(g, times) { for (let i = 0; i < times; i++) g(); })', 'https://a.example/');
    const [own, theirs] = instantiate.map((make) => make(inner));
    const samples = await profile(realms, () => {
      for (const times of [1, 50_000]) {
        for (const g of [own, theirs]) {
          quiet = times > 1;
          outer(g, times);
          quiet = false;
          outer(g, 1);
        }
      }
    });
    // V8 shows the built-in function that calls into WebAssembly.
    const withoutWrapper = samples[0].map((sample) => sample.replace(/ \[(js-to-wasm\S*|\w*JSToWasmWrapper\w*)\]/, ''));
    assert.deepEqual(new Set(withoutWrapper), new Set(['script outer inner']));
    assert.deepEqual(new Set(samples[1]), new Set(['-']));
  });
});

suite('host functions', () => {
  test('show as a name when a script of the realm has called them', async () => {
    const realms = open({}, {});
    for (const [index, realm] of realms.entries()) {
      realm.run(`function page${index}(next) { hostCall(next); }`, 'https://x.example/');
    }
    const [{ page0 }, { page1 }] = realms.map(({ global }) => global);
    const { sample } = realms[0].global;
    const samples = await profile(realms, () => {
      page0(sample);
      page0(() => page1(sample));
      page1(() => page0(sample));
      hostCall(sample);
      hostCall(() => page0(sample));
    });
    assert.deepEqual(samples, [
      [
        'script page0 [appendChild]',
        'script page0 [appendChild]',
        'script page0 [appendChild]',
        '-',
        'script page0 [appendChild]',
      ],
      ['-', 'script page1 [appendChild]', 'script page1 [appendChild]', '-', '-'],
    ]);
  });
});

suite('includeSameOriginFrames', () => {
  test('shows realms of the same origin group, and no others', async () => {
    const realms = open({ originGroup: 'a' }, { originGroup: 'a' }, { originGroup: 'b' }, {}, {});
    const calls = realms.map((realm, index) =>
      realm.run(CALL.replaceAll('call', `call${index}`), 'https://x.example/'),
    );
    const secret = realms[1].run('function secret(next, ...others) { next(...others); } secret', 'https://t.example/', {
      muted: true,
    });
    const sessions = realms.map((realm) => new Session(realm, { includeSameOriginFrames: true }));
    const narrow = new Session(realms[0], { includeSameOriginFrames: false });
    calls[0](calls[1], calls[2], calls[3], calls[4], secret, calls[0], realms[0].global.sample);
    const samples = await Promise.all([...sessions, narrow].map((session) => session.samples()));
    for (const realm of realms) realm.close();
    assert.deepEqual(samples, [
      ['script call0 call1 call0'],
      ['script call0 call1 call0'],
      ['script call2'],
      ['script call3'],
      ['script call4'],
      ['script call0 call0'],
    ]);
  });

  test('keeps the samples of a frame that was removed', async () => {
    const [page, frame] = open({ originGroup: 'a' }, { originGroup: 'a' });
    const session = new Session(page, { includeSameOriginFrames: true });
    frame.run('function framed() { sample(); } framed()', 'https://a.example/frame.js');
    frame.close();
    assert.equal(native.liveCounts().realms, 2);
    assert.deepEqual(await session.samples(), ['script  framed']);
    page.close();
    assert.deepEqual(native.liveCounts(), { realms: 0, scripts: 0, signalWatchers: 0 });
  });
});

suite('sampled by the clock', () => {
  const _SPIN = `(${spin})`;

  test('timestamps count from the time origin of the realm', async () => {
    const begin = native.now();
    const [realm] = open({ timeOrigin: begin });
    const session = new Session(realm);
    spin(5);
    realm.forceSample();
    const trace = await session.stop();
    realm.close();
    const last = trace.samples.at(-1).timestamp;
    assert.ok(last >= 4.9 && last <= native.now() - begin, `${last}`);
  });
});

suite('a realm that is closed', () => {
  test('still shows its functions in sessions that go on', async () => {
    const [realm] = open({});
    const session = new Session(realm);
    const run = realm.run('(function late() { sample(); })', 'https://a.example/');
    run();
    realm.close();
    realm.close();
    run();
    assert.deepEqual(native.liveCounts().realms, 1);
    assert.deepEqual(await session.samples(), ['script late', 'script late']);
    assert.deepEqual(native.liveCounts(), { realms: 0, scripts: 0, signalWatchers: 0 });
  });

  test('is kept until each of its sessions has ended, abandoned ones included', async () => {
    const [realm] = open({});
    realm.run('1', 'https://a.example/');
    const abandoned = realm.open({ maxBufferSize: 1, sampleInterval: NEVER }, listener);
    const session = new Session(realm);
    realm.close();
    native.abandon(abandoned.id);
    assert.equal(native.liveCounts().realms, 1);
    await session.stop();
    assert.equal(native.liveCounts().realms, 0);
  });

  test('refuses new scripts and sessions', () => {
    const [realm] = open({});
    realm.close();
    assert.throws(() => realm.run('1', 'https://a.example/'), /is not open/);
    assert.throws(() => realm.compileModule('1', 'https://a.example/'), /is not open/);
    assert.throws(() => new Session(realm), { code: 'TypeError' });
    assert.equal(realm.forceSample(), 0);
  });

  test('is freed, so that pages can be opened and closed without end', () => {
    const context = CONTEXTS.at(-1)();
    for (let i = 0; i < 2_000; i++) {
      const realm = new Realm(context);
      realm.run(`var x = ${i}`, 'https://a.example/');
      realm.close();
    }
    assert.deepEqual(native.liveCounts(), { realms: 0, scripts: 0, signalWatchers: 0 });
  });
});
