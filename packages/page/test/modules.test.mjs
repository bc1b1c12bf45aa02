// Module scripts: static and dynamic imports, import maps, JSON, CORS.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { logged, openHtml, serve, until } from './server.mjs';

suite('module scripts', () => {
  test('run once the document is parsed, in order, each module once', async (t) => {
    const page = await openHtml(
      t,
      `<script type="module">import { value } from './a.mjs'; console.log('inline', value, typeof this, document.readyState, document.currentScript)</script>
       <script type="module" src="/b.mjs"></script><script type="module" async src="/c.mjs"></script>
       <script>console.log('classic')</script><script defer src="/d.js"></script>`,
      {
        routes: {
          '/a.mjs': "console.log('a'); export const value = 1;",
          '/b.mjs':
            "import './a.mjs'; import { b } from './cycle.mjs'; console.log('b', b()); export const name = 'b';",
          '/cycle.mjs':
            "import { name } from './b.mjs'; export const b = () => { try { return name } catch (e) { return e.name } };",
          '/c.mjs': 'export {}',
          '/d.js': "console.log('defer')",
        },
      },
    );
    assert.deepEqual(page.log, ['classic', 'a', 'inline 1 undefined interactive null', 'b ReferenceError', 'defer']);
    assert.equal(page.server.requests.filter(({ url }) => url === '/a.mjs').length, 1);
  });

  test('know their URL', async (t) => {
    const page = await openHtml(t, '<script type="module" src="/from.mjs"></script>', {
      routes: {
        '/from.mjs': { status: 302, headers: { location: '/deep/to.mjs' } },
        '/deep/to.mjs':
          "import './beside.mjs'; console.log(import.meta.url, import.meta.resolve('./x.mjs'), Object.keys(import.meta).join())",
        '/deep/beside.mjs':
          'console.log(Object.getPrototypeOf(import.meta), import.meta.resolve.constructor === Function)',
      },
    });
    const { origin } = page.server;
    assert.deepEqual(page.log, ['null true', `${origin}/deep/to.mjs ${origin}/deep/x.mjs url,resolve`]);
  });

  test('report their errors', async (t) => {
    const page = await openHtml(
      t,
      `<script>onerror = (message, url, line) => { console.log(message, url.replace(/^.*\\//, ''), line); return true }</script>
       <script type="module" src="/throws.mjs" onload="console.log('loaded')"></script>
       <script type="module" src="/syntax.mjs" onload="console.log('loaded')" onerror="console.log('never')"></script>
       <script type="module" src="/missing-export.mjs"></script>
       <script type="module" src="/none.mjs" onerror="console.log('not there')"></script>
       <script type="module" src="/imports-none.mjs" onerror="console.log('import not there')"></script>
       <script type="module" src="/bare.mjs" onerror="console.log('bare')"></script>
       <script type="module" src="/text.txt" onerror="console.log('no script')"></script>
       <script type="module" src="/await.mjs"></script>`,
      {
        routes: {
          '/throws.mjs': "\nthrow new RangeError('thrown')",
          '/syntax.mjs': '\n\n1 +',
          '/missing-export.mjs': "import { nothing } from './ok.mjs'",
          '/ok.mjs': 'export {}',
          '/imports-none.mjs': "import './none.mjs'",
          '/bare.mjs': "import 'bare'",
          '/text.txt': '1',
          '/await.mjs': "await Promise.resolve(); throw new Error('awaited')",
        },
      },
    );
    await logged(page, 'Uncaught Error: awaited await.mjs 1');
    assert.deepEqual(page.log, [
      'Uncaught RangeError: thrown throws.mjs 2',
      'loaded',
      'Uncaught SyntaxError: Unexpected end of input syntax.mjs 0',
      'loaded',
      "Uncaught SyntaxError: The requested module './ok.mjs' does not provide an export named 'nothing' missing-export.mjs 0",
      'not there',
      'import not there',
      'bare',
      'no script',
      'Uncaught Error: awaited await.mjs 1',
    ]);
  });

  test('of other origins need CORS', async (t) => {
    const foreign = await serve(t, {
      '/closed.mjs': "console.log('closed')",
      '/open.mjs': { body: "console.log('open')", headers: { 'access-control-allow-origin': '*' } },
    });
    const page = await openHtml(
      t,
      `<script type="module" src="${foreign.url('/closed.mjs')}" onerror="console.log('refused')"></script>
       <script type="module" src="${foreign.url('/open.mjs')}"></script>`,
    );
    assert.deepEqual(page.log, ['refused', 'open']);
  });

  test('may await at their top level', async (t) => {
    const page = await openHtml(
      t,
      "<script type=module>const { v } = await import('/v.mjs'); console.log('got', v)</script>",
      {
        routes: { '/v.mjs': 'export const v = await new Promise((r) => setTimeout(() => r(7), 5))' },
      },
    );
    await logged(page, 'got 7');
    assert.deepEqual(page.log, ['got 7']);
  });
});

suite('import()', () => {
  test('works in classic scripts, handlers, eval and timers, relative to their URLs', async (t) => {
    const page = await openHtml(
      t,
      `<base href="/base/">
       <script>import('./inline.mjs').then((m) => console.log('inline', m.default))</script>
       <script src="/js/classic.js"></script>
       <b id="b" onclick="import('./handler.mjs').then((m) => console.log('handler', m.default))"></b>
       <script>b.click(); eval("import('./eval.mjs').then((m) => console.log('eval', m.default))");
         setTimeout("import('./timer.mjs').then((m) => console.log('timer', m.default))");</script>`,
      {
        routes: {
          '/base/inline.mjs': 'export default import.meta.url',
          '/base/handler.mjs': 'export default 1',
          '/base/eval.mjs': 'export default 2',
          '/base/timer.mjs': 'export default 3',
          '/js/classic.js': "import('./beside.mjs').then((m) => console.log('classic', m.default))",
          '/js/beside.mjs': 'export default 4',
        },
      },
    );
    const lines = ['classic 4', 'eval 2', 'handler 1', `inline ${page.server.url('/base/inline.mjs')}`, 'timer 3'];
    await logged(page, ...lines);
    assert.deepEqual(page.log.sort(), lines);
  });

  test('resolves with the same namespace each time and rejects with errors of the page', async (t) => {
    const page = await openHtml(t, '', {
      routes: {
        '/m.mjs': 'export let count = 0; export const add = () => ++count;',
        '/throws.mjs': "throw new RangeError('x')",
        '/data.json': '{"__proto__": {"a": 1}, "b": ["__proto__"]}',
        '/broken.json': '{',
      },
    });
    assert.deepEqual(
      await page.evaluate(async () => {
        const [one, two] = await Promise.all([import('/m.mjs'), import('/m.mjs')]);
        one.add();
        return [one === two, two.count, Object.prototype.toString.call(one)];
      }),
      [true, 1, '[object Module]'],
    );
    const rejection = (specifier, options = '') =>
      page.evaluate(
        `(async () => { try { await import(${JSON.stringify(specifier)}${options}); } catch (e) { return [e.constructor === window[e.name], e.name]; } })()`,
      );
    assert.deepEqual(await rejection('/none.mjs'), [true, 'TypeError']);
    assert.deepEqual(await rejection('bare'), [true, 'TypeError']);
    assert.deepEqual(await rejection('/throws.mjs'), [true, 'RangeError']);
    assert.deepEqual(await rejection('/broken.json', ", { with: { type: 'json' } }"), [true, 'SyntaxError']);
    assert.deepEqual(await rejection('/data.json'), [true, 'TypeError']);
    assert.deepEqual(await rejection('/m.mjs', ", { with: { type: 'css' } }"), [true, 'TypeError']);
    assert.deepEqual(await rejection('/m.mjs', ", { with: { other: 'x' } }"), [true, 'TypeError']);
    assert.deepEqual(
      await page.evaluate(
        `import('/data.json', { with: { type: 'json' } }).then(({ default: data }) => [Object.keys(data), Object.getPrototypeOf(data) === Object.prototype, data.b])`,
      ),
      [['__proto__', 'b'], true, ['__proto__']],
    );
  });
});

suite('imports of a source phase', () => {
  test('fail and do not end the process', async (t) => {
    const page = await openHtml(t, '', {
      routes: { '/m.mjs': 'export default 1', '/n.mjs': "import source m from '/m.mjs'; m" },
    });
    for (const text of ["import source m from '/m.mjs'; m", "import '/n.mjs'", "await import('/n.mjs')"]) {
      const count = page.errors.length;
      await page.evaluate((source) => {
        document.head.append(Object.assign(document.createElement('script'), { type: 'module', textContent: source }));
      }, text);
      await until(page, () => page.errors.length > count);
      assert.match(page.errors.at(-1).message, /SyntaxError/);
    }
    const error = await page.evaluate(
      '(async () => { try { return String(await eval("import.source(\'/m.mjs\')")); } catch (e) { return e instanceof Error; } })()',
    );
    assert.equal(error, true);
  });
});

suite('import maps', () => {
  test('resolve specifiers', async (t) => {
    const page = await openHtml(
      t,
      `<script type="importmap">{ "imports": { "app": "/v2.mjs", "lib/": "/library/", "/old.mjs": "/v2.mjs", "blocked": null },
         "scopes": { "/library/": { "app": "/v1.mjs" } } }</script>
       <script type="importmap">{ "imports": { "app": "/never.mjs", "late": "/v1.mjs" } }</script>
       <script type="importmap">not json</script>
       <script type="module">
         import app from 'app'; import lib from 'lib/x.mjs'; import old from '/old.mjs'; import late from 'late';
         console.log(app, lib, old, late, import.meta.resolve('lib/y').endsWith('/library/y'));
         import('blocked').catch((e) => console.log(e.name)); import('lib/../../x').catch((e) => console.log(e.name));
       </script>`,
      {
        routes: {
          '/v1.mjs': "export default 'v1'",
          '/v2.mjs': "export default 'v2'",
          '/library/x.mjs': "import app from 'app'; export default 'x of ' + app",
        },
      },
    );
    await until(page, () => page.log.length === 3);
    assert.deepEqual(page.log, ['v2 x of v1 v2 v1 true', 'TypeError', 'TypeError']);
    assert.match(page.errors[0].message, /TypeError: the import map is not JSON/);
  });
});
