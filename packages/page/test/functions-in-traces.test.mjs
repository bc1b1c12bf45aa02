// Which functions a trace shows: those of the page, and none of muted scripts, of frames or workers, or of code that is
// made of text.
//
// A profiler's first sample is taken in its constructor. So `look()` returns the stack of its caller as a profile shows
// it, on any machine, however slow.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { assertWellFormed } from '../../selfprof/test/well-formed.mjs';
import { open, serve } from './server.mjs';
import { namesOf } from './real/traces.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };
const CORS = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

/** Source for pages: `look()` takes one sample; `call()` is a visible function that calls another one. */
const TOOLS = `
  var looks = [];
  function look(options = {}) { looks.push(new Profiler({ sampleInterval: 2147483, maxBufferSize: 10, ...options }).stop()); }
  function call(next, ...others) { return next(...others); }
  function spin(ms) { const end = performance.now() + ms; while (performance.now() < end); }
`;

/** A script of another origin with secret names. */
const SECRET = `
  function secretCall(next, ...others) { return next(...others); }
  var secrets = {
    get secretGetter() { look(); return 1; },
    set secretSetter(value) { look(); },
    secretMethod() { look(); },
    [Symbol.iterator]: function* secretGenerator() { look(); yield 1; },
    toString() { look(); return 'x'; },
    SecretClass: class SecretClass { secretField = look(); constructor() { look(); } static secretStatic() { look(); } },
    secretArrow: () => look(),
    secretBuiltins() { [1].forEach(() => look()); [1].map(look); look.call(); look.apply(); Reflect.apply(look, undefined, []); JSON.stringify({ toJSON() { look(); } }); 'x'.replace('x', () => { look(); return ''; }); },
    secretDom() { const target = document.createElement('p'); target.addEventListener('secret', () => look()); target.dispatchEvent(new Event('secret')); target.click(); },
    secretEval() { eval('(function secretEvaluated() { look(); })()'); (0, eval)('(function secretEvaluated() { look(); })()'); },
    secretFunction() { new Function('look(); /* secret */')(); },
    secretProxy: new Proxy(function secretTarget() { look(); }, { apply(target, self, list) { look(); return Reflect.apply(target, self, list); } }),
    async secretAsync() { await undefined; look(); },
    secretTimer() { return new Promise((resolve) => setTimeout(function secretTask() { look(); resolve(); })); },
    secretThrow() { try { throw new Error('secret'); } catch { look(); } },
  };
`;

/**
 * Opens a page that loads scripts from its own server and from another one.
 *
 * @param {(places: { own: (path: string) => string, foreign: (path: string) => string }) => string} html
 */
async function site(t, html, { routes = {}, foreign: foreignRoutes = {}, headers = {} } = {}) {
  const foreign = await serve(t, {
    '/secret.js': SECRET,
    '/shared.js': { body: SECRET, headers: CORS },
    '/shared.mjs': {
      body: `${SECRET}\nglobalThis.secrets = secrets; globalThis.secretCall = secretCall;`,
      headers: CORS,
    },
    '/closed.mjs': SECRET,
    ...foreignRoutes,
  });
  const server = await serve(t, {});
  const places = { own: server.url, foreign: foreign.url };
  const all = typeof routes === 'function' ? routes(places) : routes;
  Object.assign(server.routes, all, {
    '/': { body: `<!doctype html><script>${TOOLS}</script>${html(places)}`, headers: { ...ALLOW, ...headers } },
  });
  const page = await open(t, server.url('/'));
  return Object.assign(page, { server, foreign });
}

/** Runs a script in the page and returns what `look()` saw: the stacks, outermost call first, and the traces. */
async function looksOf(page, script) {
  await page.evaluate(`Promise.resolve((function outer() { ${script} })()).then(() => 0)`);
  const traces = await page.evaluate('Promise.all(looks)');
  for (const trace of traces) assertWellFormed(trace);
  return {
    traces,
    stacks: traces.map((trace) =>
      namesOf(trace, trace.samples[0])
        .filter((name) => name !== '')
        .join(' > '),
    ),
  };
}

function assertNothingOf(traces, ...words) {
  const text = JSON.stringify(traces);
  for (const word of words) assert.ok(!text.toLowerCase().includes(word.toLowerCase()), `${word} in ${text}`);
}

suite('a muted script', () => {
  const LOADS = {
    'of another origin': { element: ({ foreign }) => `<script src="${foreign('/secret.js')}"></script>` },
    'that its page redirects to': {
      element: () => '<script src="/moved.js"></script>',
      routes: ({ foreign }) => ({ '/moved.js': { status: 302, headers: { location: foreign('/secret.js') } } }),
    },
    'that came back from there': {
      element: ({ foreign }) => `<script src="${foreign('/away.js')}"></script>`,
      routes: () => ({ '/home.js': SECRET }),
      away: true,
    },
    "that claims to be its page's": {
      element: ({ foreign }) => `<script src="${foreign('/claims.js')}"></script>`,
      claims: true,
    },
  };
  /** What the page does, and what its traces show. */
  const CALLS = [
    ['is called, and calls back', 'secretCall(look); call(secretCall, call, look);', ['outer', 'outer > call > call']],
    ['has getters and setters', 'secrets.secretGetter; secrets.secretSetter = 1;', Array(2).fill('outer')],
    ['has methods', 'secrets.secretMethod(); secrets.secretArrow(); secrets.secretThrow();', Array(3).fill('outer')],
    ['has generators', 'for (const item of secrets);', ['outer']],
    ['is converted', '`${secrets}`;', ['outer']],
    ['has classes', 'new secrets.SecretClass(); secrets.SecretClass.secretStatic();', Array(3).fill('outer')],
    ['calls built-ins', 'secrets.secretBuiltins();', Array(7).fill('outer')],
    ['calls methods of the DOM', 'secrets.secretDom();', ['outer']],
    ['evaluates text', 'secrets.secretEval(); secrets.secretFunction();', Array(3).fill('outer')],
    ['has proxies', 'secrets.secretProxy(); new Proxy(secrets, {}).secretMethod();', Array(3).fill('outer')],
    ['comes back in tasks', 'return Promise.all([secrets.secretAsync(), secrets.secretTimer()]);', Array(2).fill('')],
    [
      'is bound and applied',
      'secretCall.bind(null, look)(); secretCall.call(null, look); Reflect.apply(secretCall, null, [look]);',
      Array(3).fill('outer'),
    ],
    ['is inherited from', 'class Heir extends secrets.SecretClass {} new Heir();', Array(2).fill('outer > Heir')],
    ['is a handler', 'document.body.onclick = secrets.secretMethod; document.body.click();', ['outer > [click]']],
  ];
  for (const [how, { element, routes, away, claims }] of Object.entries(LOADS)) {
    test(`${how} is not seen`, async (t) => {
      const foreign = {};
      let home;
      if (away) foreign['/away.js'] = () => ({ status: 307, headers: { location: home } });
      if (claims) foreign['/claims.js'] = () => `${SECRET}\n//# sourceURL=${home}`;
      // The URL is known once the server runs.
      const page = await site(t, () => '', { foreign, routes });
      home = page.server.url(away ? '/home.js' : '/');
      page.server.routes['/'].body += element({ foreign: page.foreign.url, own: page.server.url });
      await page.navigate(page.server.url('/'));
      for (const [call, script, expected] of CALLS) {
        await page.evaluate('looks.length = 0; 0');
        const { traces, stacks } = await looksOf(page, script);
        assert.deepEqual(
          stacks,
          expected.map((stack) => `${stack} > look`.replace(/^ > /, '')),
          call,
        );
        assertNothingOf(traces, 'secret', page.foreign.origin);
      }
    });
  }

  test('that fails CORS is not even run', async (t) => {
    const page = await site(
      t,
      ({ foreign }) =>
        `<script crossorigin src="${foreign('/secret.js')}"></script><script type="module" src="${foreign('/closed.mjs')}"></script>`,
    );
    assert.equal(await page.evaluate('typeof secrets'), 'undefined');
    assert.equal(page.problems.filter(({ text }) => text.includes('Access-Control-Allow-Origin')).length, 2);
  });

  test('that passes CORS is shown, and so is a module', async (t) => {
    for (const element of [
      ({ foreign }) => `<script crossorigin src="${foreign('/shared.js')}"></script>`,
      ({ foreign }) => `<script type="module" src="${foreign('/shared.mjs')}"></script>`,
    ]) {
      const page = await site(t, element);
      const { stacks, traces } = await looksOf(page, 'secretCall(look); secrets.secretGetter;');
      assert.deepEqual(
        stacks,
        ['secretCall', 'get secretGetter'].map((name) => `outer > ${name} > look`),
      );
      assert.ok(traces[0].resources.some((url) => url.startsWith(page.foreign.origin)));
    }
  });

  test('shows in a trace as samples without a stack, and no more', async (t) => {
    const page = await site(t, ({ foreign }) => `<script src="${foreign('/spin.js')}"></script>`, {
      foreign: {
        '/spin.js': 'function secretSpin(ms) { const end = performance.now() + ms; while (performance.now() < end); }',
      },
    });
    const trace = await page.evaluate(async () => {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
      await new Promise((resolve) => setTimeout(() => resolve(secretSpin(300))));
      return await profiler.stop();
    });
    assertWellFormed(trace);
    assertNothingOf(trace, 'secret', page.foreign.origin);
    assert.ok(trace.samples.length > 10, `${trace.samples.length} samples`);
    assert.deepEqual(
      trace.samples.filter(({ marker }) => marker !== undefined),
      [],
    );
  });
});

suite('code that is compiled from text', () => {
  const shown = (stack) => new RegExp(`${stack} > look$`);

  test('by eval and new Function is not shown, whatever URL it claims', async (t) => {
    const page = await site(t, () => '');
    const { traces, stacks } = await looksOf(
      page,
      `eval('(function made() { look(); })()'); (0, eval)('(function made() { look(); })()'); new Function('look()')();
       eval('(function made() { look(); })()\\n//# sourceURL=' + location.href);
       eval('(function made() { look(); })()\\n//# sourceURL=https://other.test/x.js');
       Function('return function made() { look(); }')()();
       new (async function () {}).constructor('look()')();`,
    );
    assert.deepEqual(stacks, Array(7).fill('outer > look'));
    assertNothingOf(traces, 'made', 'other.test');
  });

  test("by the page's elements, timers and URLs counts as the page's own", async (t) => {
    const page = await site(t, () => '<button id="b" onclick="look()"></button><iframe id="f"></iframe>');
    const { stacks, traces } = await looksOf(
      page,
      `b.click(); setTimeout('(function timed() { look(); })()', 0);
       const inline = document.createElement('script'); inline.text = '(function inlined() { look(); })()'; document.head.append(inline);
       const load = (src) => new Promise((resolve) => { const script = document.createElement('script'); script.src = src; script.onload = resolve; document.head.append(script); });
       return load('data:text/javascript,(function fromData() { look(); })()')
         .then(() => load(URL.createObjectURL(new Blob(['(function fromBlob() { look(); })()'], { type: 'text/javascript' }))))
         .then(() => import('data:text/javascript,(function moduleFromData() { look(); })()'))
         .then(() => { location.href = 'javascript:(function clicked() { look(); })()'; return new Promise((resolve) => setTimeout(resolve, 0)); });`,
    );
    for (const stack of ['onclick', 'timed', 'inlined', 'fromData', 'fromBlob', 'moduleFromData', 'clicked']) {
      assert.ok(
        stacks.some((found) => shown(stack).test(found)),
        `${stack} in\n${stacks.join('\n')}`,
      );
    }
    for (const { resources } of traces) {
      for (const resource of resources)
        assert.match(resource, new RegExp(`^(evaluate$|${page.server.origin}|data:|blob:)`));
    }
  });

  test("by elements of the document counts as the document's, whichever script wrote it", async (t) => {
    const write = `
      function secretWriter() {
        const inline = document.createElement('script');
        inline.text = '(function written() { look(); })()';
        document.head.append(inline);
        const button = document.createElement('button');
        button.setAttribute('onclick', 'look()');
        button.click();
      }`;
    const page = await site(t, ({ foreign }) => `<script src="${foreign('/write.js')}"></script>`, {
      foreign: { '/write.js': write },
    });
    const { stacks, traces } = await looksOf(page, 'secretWriter();');
    // They were run by calls of DOM methods in the muted script.
    assert.deepEqual(stacks, ['outer > written > look', 'outer > onclick > look']);
    assertNothingOf(traces, 'secret', page.foreign.origin);
  });
});

suite('a frame', () => {
  const CHILD = `<script>${TOOLS.replaceAll('look', 'childLook').replaceAll('call', 'childCall')} function childSecret(next, ...others) { return next(...others); }</script>`;

  test("and its page do not see each other's functions, whoever calls whom", async (t) => {
    const page = await site(t, () => '<iframe src="/child"></iframe>', {
      routes: { '/child': { body: CHILD, headers: ALLOW } },
    });
    const { stacks, traces } = await looksOf(
      page,
      `const child = frames[0]; child.childSecret(look); call(child.childSecret, call, look);
       child.childSecret(child.childSecret, call, child.childSecret, look); [1].forEach.call([1], () => child.childSecret(look)); child.Reflect.apply(look, null, []);`,
    );
    assertNothingOf(traces, 'child');
    const expected = ['outer', 'outer > call > call', 'outer > call', 'outer', 'outer'];
    assert.deepEqual(
      stacks,
      expected.map((stack) => `${stack} > look`),
    );
    const theirs = await page.evaluate(
      'call(frames[0].childSecret, call, frames[0].childLook); frames[0].childLooks[0]',
    );
    assert.deepEqual(
      namesOf(theirs, theirs.samples[0]).filter((name) => name !== ''),
      ['childSecret', 'childLook'],
    );
  });

  test('is shown with includeSameOriginFrames, except its muted scripts', async (t) => {
    const page = await site(t, () => '<iframe src="/child"></iframe>', {
      routes: ({ foreign }) => ({
        '/child': {
          body: `${CHILD}<script>look = parent.look</script><script src="${foreign('/secret.js')}"></script>`,
          headers: ALLOW,
        },
      }),
    });
    const { stacks, traces } = await looksOf(
      page,
      'frames[0].childSecret(() => frames[0].secretCall(look, { includeSameOriginFrames: true }));',
    );
    assertNothingOf(
      traces.flatMap(({ frames }) => frames.map(({ name }) => name)),
      'secretCall',
    );
    assertNothingOf(traces, page.foreign.origin);
    assert.deepEqual(stacks, ['outer > childSecret > look']);
  });

  test('of another origin, or sandboxed, is never shown', async (t) => {
    const busy = `<script>function childSecret() { const end = performance.now() + 1; while (performance.now() < end); setTimeout(childSecret); } childSecret(); parent.postMessage('busy', '*');</script>`;
    const page = await site(
      t,
      ({ foreign }) =>
        `<script>var busy = 0; onmessage = () => busy++;</script><iframe src="${foreign('/child')}"></iframe><iframe sandbox="allow-scripts" src="/child"></iframe>`,
      {
        routes: { '/child': { body: busy, headers: ALLOW } },
        foreign: { '/child': { body: busy, headers: ALLOW } },
      },
    );
    const trace = await page.evaluate(async () => {
      while (busy < 2) await new Promise((resolve) => setTimeout(resolve));
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 50, includeSameOriginFrames: true });
      await new Promise((resolve) => profiler.addEventListener('samplebufferfull', resolve));
      return await profiler.stop();
    });
    assertWellFormed(trace);
    assert.equal(trace.samples.length, 50);
    assertNothingOf(trace, 'child', page.foreign.origin);
  });
});

suite('a worker', () => {
  /** Runs code in the worker and returns the traces. */
  const WORKER = `${TOOLS}
    onmessage = async ({ data: { url, script } }) => {
      importScripts(url);
      await (0, eval)('(function outer() { ' + script + ' })')();
      postMessage(await Promise.all(looks));
    };`;

  test('shows nothing of muted scripts that it imports', async (t) => {
    const page = await site(t, () => '', { routes: { '/w.js': { body: WORKER, headers: ALLOW } } });
    const traces = await page.evaluate(
      (url) =>
        new Promise((resolve, reject) => {
          const worker = new Worker('/w.js');
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage({
            url,
            script:
              'secretCall(look); call(secretCall, call, look); secrets.secretGetter; secrets.secretBuiltins(); secrets.secretEval();',
          });
        }),
      page.foreign.url('/secret.js'),
    );
    for (const trace of traces) assertWellFormed(trace);
    assertNothingOf(traces, 'secret', page.foreign.origin);
    const stacks = traces.map((trace) =>
      namesOf(trace, trace.samples[0])
        .filter((name) => name !== '')
        .join(' > '),
    );
    // Code in the message is evaluated, so only the worker's own functions are shown.
    assert.deepEqual(
      stacks,
      ['', 'call > call', ...Array(10).fill('')].map((stack) => `onmessage > ${stack}${stack && ' > '}look`),
    );
  });

  test("and its page do not see each other's functions, whatever they send", async (t) => {
    const echo = `function workerSecret(data) { const end = performance.now() + 1; while (performance.now() < end); postMessage(data); } onmessage = ({ data }) => workerSecret(data);`;
    const page = await site(t, () => '', { routes: { '/w.js': { body: echo, headers: ALLOW } } });
    const trace = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const worker = new Worker('/w.js');
          let profiler;
          worker.onmessage = function hear({ data }) {
            if (profiler === undefined) {
              profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100, includeSameOriginFrames: true });
              profiler.addEventListener('samplebufferfull', () => resolve(profiler.stop()));
            }
            spin(1);
            worker.postMessage(data);
          };
          worker.postMessage({ list: [1] });
        }),
    );
    assertWellFormed(trace);
    assert.ok(trace.frames.some(({ name }) => name === 'hear'));
    assertNothingOf(trace, 'workerSecret', 'w.js');
  });
});
