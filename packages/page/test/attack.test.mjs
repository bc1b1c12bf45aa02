// Attacks of hostile pages. Objects that a page can reach belong to its own realm or to the DOM realm, and neither leads to Node.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { walk } from './reachable.mjs';
import { eventually, host, jsdom, openHtml } from './server.mjs';

/** Helpers for the functions below: keep a value, what a function returns or throws, or what its promise is settled with. */
function keepIn(values) {
  const keep = (name, value) => {
    values[`${name}#${Object.keys(values).length}`] = value;
  };
  const attempt = (name, work) => {
    try {
      const value = work();
      keep(name, value);
      return value;
    } catch (error) {
      keep(`${name} thrown`, error);
      return undefined;
    }
  };
  const settled = async (name, work) => {
    const promise = attempt(name, work);
    try {
      keep(`${name} value`, await promise);
    } catch (error) {
      keep(`${name} rejected`, error);
    }
  };
  const atOverflow = (name, work) => {
    let attempts = 0;
    const recurse = () => {
      try {
        recurse();
      } catch (error) {
        if (attempts === 0) keep('overflow', error);
      }
      // At the overflow, and at each frame above it.
      if (attempts++ < 60) attempt(`overflow in ${name}`, work);
    };
    attempt('recursion', recurse);
  };
  return { keep, attempt, settled, atOverflow };
}

/** Runs in the page: collects values that the host's functions return or throw. */
async function collect() {
  const values = {};
  const { keep, attempt, settled, atOverflow } = keepIn(values);
  keep('arguments', arguments);
  attempt('setTimeout', () => setTimeout(() => {}, 0));
  attempt('setTimeout of a symbol', () => setTimeout(() => {}, Symbol()));
  attempt('setTimeout of text', () => setTimeout('keep', 0));
  attempt('atob', () => atob('\u2603'));
  attempt('postMessage', () => postMessage());
  attempt('eval', () => (0, eval)('1 +'));
  attempt('Function', () => Function('1 +'));
  attempt('style', () => getComputedStyle(document.body));
  attempt('style of nothing', () => getComputedStyle(null));
  attempt('selector', () => document.querySelector('>>'));
  attempt('node', () => document.body.appendChild(1));
  attempt('XMLHttpRequest', () => new XMLHttpRequest().send());
  attempt('synchronous XMLHttpRequest', () => {
    const request = new XMLHttpRequest();
    request.open('GET', '/', false);
    request.send();
  });
  attempt('WebSocket', () => new WebSocket('ws://127.0.0.1:1/'));
  attempt('WebSocket of nothing', () => new WebSocket(''));
  attempt('crypto', () => crypto.getRandomValues(new Uint8Array(4)));
  attempt('crypto of floats', () => crypto.getRandomValues(new Float32Array(4)));
  attempt('crypto of nothing', () => crypto.getRandomValues({ constructor: Uint8Array, byteLength: 1 }));
  attempt('TextDecoder', () => new TextDecoder('nonsense'));
  attempt('decode', () => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])));
  attempt('cookie', () => document.cookie);
  attempt('localStorage', () => localStorage);
  attempt('iframe', () => document.body.appendChild(document.createElement('iframe')).contentWindow);
  attempt('handler', () => {
    document.body.setAttribute('onclick', 'return [arguments, arguments.callee, this]');
    return document.body.onclick({});
  });
  attempt('broken handler', () => {
    document.body.setAttribute('onclick', '1 +');
    return document.body.onclick;
  });
  attempt('Profiler', () => new Profiler({ sampleInterval: 1, maxBufferSize: 10 }));
  attempt('Profiler of nothing', () => new Profiler());
  attempt('Profiler of text', () => new Profiler({ sampleInterval: -1, maxBufferSize: 10 }));
  attempt('capabilities', () => Profiler.capabilities());
  await settled('stop', () => new Profiler({ sampleInterval: 1, maxBufferSize: 10 }).stop());
  await settled('stop with entries', () =>
    new Profiler({ sampleInterval: 1, maxBufferSize: 10, includeEntries: true }).stop(),
  );
  await settled('stop in JSON', () =>
    new Profiler({ sampleInterval: 1, maxBufferSize: 10 }).stop({ format: 'json-gzip' }),
  );
  await settled('stop of nothing', () => Profiler.prototype.stop.call({}));
  await settled('chunks', () =>
    new Profiler({ sampleInterval: 1, maxBufferSize: 10, bufferPolicy: 'chunks' }).chunks().return(1),
  );
  attempt('mark', () => performance.mark('m', { detail: {} }));
  attempt('mark of a symbol', () => performance.mark(Symbol()));
  attempt('mark with a function', () => performance.mark('m', { detail: () => {} }));
  attempt('measure', () => performance.measure('d', 'm'));
  attempt('measure of nothing', () => performance.measure('d', 'none'));
  attempt('entries', () => performance.getEntries());
  attempt('now of nothing', () => performance.now.call({}));
  attempt('toJSON', () => performance.toJSON());
  attempt('timing', () => performance.timing.toJSON());
  attempt('observer', () => {
    const observer = new PerformanceObserver((list, ...others) => keep('observed', [list, others]));
    observer.observe({ type: 'mark', buffered: true });
    return observer;
  });
  attempt('structuredClone', () => structuredClone(new Map([[new Error('x'), [new Uint8Array(2), /x/, new Date()]]])));
  attempt('structuredClone of a function', () => structuredClone(() => {}));
  attempt('structuredClone of a proxy', () => structuredClone(new Proxy({}, {})));
  await settled('import', () => import('/module.mjs'));
  await settled('import of nothing', () => import('/none.mjs'));
  await settled('import of a bare name', () => import('bare'));
  await settled('import of a symbol', () => import(Symbol()));
  await settled('import with attributes', () => import('/module.mjs', { with: { type: 'nonsense' } }));
  await settled('import in eval', () => eval("import('/module.mjs')"));
  await settled('import in a function', () => new Function("return import('/module.mjs')")());
  await settled('module', () =>
    import('/meta.mjs').then((module) => [module.meta, module.meta.resolve, module.promise]),
  );
  await settled('blob', () => new Blob(['x']).text());
  // Call sites, also of calls through the host's own code.
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (_error, sites) => [
    sites,
    ...sites.flatMap((site) => [site, site.getThis(), site.getFunction(), site.getTypeName()]),
  ];
  attempt('call sites', () => new Error('x').stack);
  document.body.addEventListener('x', () => attempt('call sites in a listener', () => new Error('x').stack));
  document.body.dispatchEvent(new Event('x'));
  attempt('call sites of a host error', () => document.querySelector('>>'));
  attempt('call sites of a type error', () => document.body.appendChild(1));
  await new Promise((resolve) =>
    setTimeout(() => {
      attempt('call sites in a timer', () => new Error('x').stack);
      resolve();
    }),
  );
  await settled('call sites of a rejection', () => Promise.reject(new Error('x')));
  Error.prepareStackTrace = prepare;
  // Stack overflows in many places of the host.
  for (const [name, work] of Object.entries({
    timer: () => setTimeout(() => {}, 1),
    script: () => setTimeout('1', 1),
    decode: () => new TextDecoder().decode(new Uint8Array(9)),
    encode: () => new TextEncoder().encode('x'),
    random: () => crypto.getRandomValues(new Uint8Array(1)),
    style: () => getComputedStyle(document.body).color,
    cookie: () => document.cookie,
    frame: () => document.body.appendChild(document.createElement('iframe')),
    inline: () => {
      const script = document.createElement('script');
      script.text = '1';
      document.body.appendChild(script);
    },
    request: () => {
      const request = new XMLHttpRequest();
      request.open('GET', '/');
      request.send();
    },
    import: () => import('/module.mjs'),
    stack: () => new Error('x').stack,
    now: () => performance.now(),
    mark: () => performance.mark('overflow'),
    Profiler: () => new Profiler({ sampleInterval: 1, maxBufferSize: 10 }).stop(),
    clone: () => structuredClone({}),
    handler: () => {
      document.body.setAttribute('onclick', `/* ${Math.random()} */`);
      return document.body.onclick;
    },
  })) {
    atOverflow(name, work);
  }
  return values;
}

/** The same in a worker. */
async function collectInWorker(messageEvent) {
  const values = { messageEvent, data: messageEvent.data };
  const { attempt, settled, atOverflow } = keepIn(values);
  attempt('setTimeout', () => setTimeout(() => {}, 0));
  attempt('setTimeout of a symbol', () => setTimeout(() => {}, Symbol()));
  attempt('setTimeout of wrong text', () => setTimeout('1 +', 0));
  attempt('importScripts', () => importScripts('/script.js'));
  attempt('importScripts of nothing', () => importScripts('/none.js'));
  attempt('importScripts of a symbol', () => importScripts(Symbol()));
  attempt('importScripts of what is wrong', () => importScripts('data:text/javascript,1 +'));
  attempt('importScripts of what throws', () => importScripts('data:text/javascript,throw [self, arguments]'));
  attempt('atob', () => atob('\u2603'));
  attempt('postMessage', () => postMessage());
  attempt('postMessage of a function', () => postMessage(() => {}));
  attempt('close of nothing', () => close.call({}));
  attempt('crypto', () => crypto.getRandomValues(new Float32Array(4)));
  attempt('TextDecoder', () => new TextDecoder('nonsense'));
  attempt('FormData', () => new FormData({}));
  attempt('location', () => Object.getOwnPropertyDescriptor(WorkerLocation.prototype, 'href').get.call({}));
  attempt('Worker', () => new Worker());
  await settled(
    'Worker that fails',
    () =>
      new Promise((resolve) => {
        new Worker('/none.js').onerror = resolve;
      }),
  );
  await settled(
    'Worker that throws',
    () =>
      new Promise((resolve) => {
        new Worker('data:text/javascript,throw 1').onerror = (event) => {
          event.preventDefault();
          resolve(event);
        };
      }),
  );
  await settled(
    'Worker that answers',
    () =>
      new Promise((resolve) => {
        new Worker('data:text/javascript,postMessage([new Map()])').onmessage = resolve;
      }),
  );
  await settled(
    'error',
    () =>
      new Promise((resolve) => {
        onerror = (...all) => {
          resolve([all, self.event]);
          return true;
        };
        setTimeout(() => {
          throw new Error('x');
        });
      }),
  );
  await settled('fetch', () => fetch('/module.mjs'));
  await settled('fetch of nothing', () => fetch('http://['));
  await settled('import', () => import('/module.mjs'));
  await settled('import of nothing', () => import('/none.mjs'));
  await settled('stop', () => new Profiler({ sampleInterval: 1, maxBufferSize: 10 }).stop());
  attempt('Profiler of nothing', () => new Profiler());
  attempt('mark', () => performance.mark('m', { detail: {} }));
  attempt('toJSON', () => performance.toJSON());
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (_error, sites) => [
    sites,
    ...sites.flatMap((site) => [site, site.getThis(), site.getFunction(), site.getTypeName()]),
  ];
  attempt('call sites', () => new Error('x').stack);
  attempt('call sites of a host error', () => new FormData({}));
  await new Promise((resolve) =>
    setTimeout(() => {
      attempt('call sites in a timer', () => new Error('x').stack);
      resolve();
    }),
  );
  Error.prepareStackTrace = prepare;
  for (const [name, work] of Object.entries({
    timer: () => setTimeout(() => {}, 1),
    script: () => setTimeout('1', 1),
    importScripts: () => importScripts('/script.js'),
    post: () => postMessage({ ignore: true }),
    worker: () => new Worker('/none.js'),
    log: () => console.log('x'),
    blob: () => URL.createObjectURL(new Blob(['x'])),
    Profiler: () => new Profiler({ sampleInterval: 1, maxBufferSize: 10 }).stop(),
  })) {
    atOverflow(name, work);
  }
  return values;
}

const ROUTES = {
  '/module.mjs': 'export default 1',
  '/meta.mjs': "export const meta = import.meta; export const promise = import('./module.mjs')",
};

const ALLOW = { 'document-policy': 'js-profiling' };

suite('objects that a page can reach', () => {
  test('are of its own realm or of the DOM realm', async (t) => {
    const page = await openHtml(
      t,
      `<body onload="window.event2 = event"><p id="p"><script>window.event1 = window.event</script>`,
      {
        routes: ROUTES,
        headers: ALLOW,
      },
    );
    const { found, count, isComplete } = await page.evaluate(`(${walk})({})`);
    assert.deepEqual(found, []);
    assert.ok(isComplete, `more than ${count} objects`);
    assert.ok(count > 5_000, `${count} objects`);
  });

  test("are so also when the host's functions returned or threw them", async (t) => {
    const page = await openHtml(t, '<body>', { routes: ROUTES, headers: ALLOW });
    const { found, count, isComplete } = await page.evaluateIn(
      { timeout: 120_000 },
      `(() => {
      ${keepIn}
      return (${collect})().then((values) => (${walk})(values));
    })()`,
    );
    assert.deepEqual(found, []);
    assert.ok(isComplete, `more than ${count} objects`);
    assert.ok(count > 5_000, `${count} objects`);
    assert.deepEqual(
      page.problems.filter(({ kind }) => kind === 'host'),
      [],
    );
  });

  test('are so also where the stack is full while a window is made', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '<div></div>');
    const [thrown, foreign] = await page.evaluateIn({ timeout: 100_000 }, () => {
      const rootOf = (object) => {
        for (let root = object; ; ) {
          const next = Object.getPrototypeOf(root);
          if (next === null) return root;
          root = next;
        }
      };
      const known = new Set([Object.prototype, rootOf(Headers.prototype)]);
      const add = () => {
        document.querySelector('div').append(document.createElement('iframe'));
      };
      // The realms of whole windows are of the page's origin.
      const removeFrames = () => {
        for (const frame of [...document.querySelector('div').children]) {
          if (frame.contentWindow) known.add(frame.contentWindow.Object.prototype);
          frame.remove();
        }
      };
      // Once V8 has compiled the regular expressions on the way: version 12.4 ends the process when it does that on a full stack.
      for (let count = 0; count < 20; count++) add();
      removeFrames();
      const errors = new Set();
      // Frames of many sizes end the stack at many places of the host's code.
      for (let size = 1; size < 60; size += 5) {
        const variables = Array.from({ length: size }, (_, n) => `v${n} = ${n}`);
        const around = new Function('callback', `let ${variables}; return callback() + v0`);
        let tries = 0;
        const dig = () => {
          try {
            dig();
          } catch {}
          if (tries++ >= 200) return;
          try {
            add();
          } catch (error) {
            errors.add(error);
          }
        };
        try {
          around(() => {
            dig();
            return 1;
          });
        } catch {}
        removeFrames();
      }
      return [errors.size, [...errors].filter((error) => !known.has(rootOf(error))).map(String)];
    });
    assert.deepEqual(foreign, []);
    assert.ok(thrown > 10, `${thrown} errors`);
  });
});

suite('objects that a worker can reach', () => {
  test('are of its own realm or of the DOM realm, as in a page', async (t) => {
    const script = `${keepIn}
      ${collectInWorker}
      ${walk}
      onmessage = (event) => collectInWorker(event).then(walk).then((result) => postMessage(result), (error) => postMessage({ found: [String(error)], count: 0 }));`;
    const page = await openHtml(t, '', {
      routes: { ...ROUTES, '/script.js': '1', '/w.js': { body: script, headers: ALLOW } },
      headers: ALLOW,
    });
    const { found, count, isComplete } = await page.evaluateIn({ timeout: 120_000 }, () => {
      const worker = new Worker('/w.js');
      worker.postMessage([new Map([[1, new Uint8Array(2)]]), new Error('x'), new Blob(['x'])]);
      return new Promise((resolve) => {
        worker.onmessage = ({ data }) => data.ignore || resolve(data);
      });
    });
    assert.deepEqual(found, []);
    assert.ok(isComplete, `more than ${count} objects`);
    assert.ok(count > 1_000, `${count} objects`);
    assert.deepEqual(
      page.problems.filter(({ kind }) => kind === 'host'),
      [],
    );
  });

  test('include nothing of Node', async (t) => {
    const script = `
      const attacks = {
        globals: () => ['process', 'require', 'module', 'Buffer', 'global', 'setImmediate', 'gc'].filter((name) => name in self).join(),
        operation: () => importScripts.constructor('return typeof process')(),
        dom: () => Headers.constructor('return typeof process')(),
        method: () => new Headers().get.constructor('return typeof process')(),
        settings: () => self._settings.virtualConsole.emit.constructor('return typeof process')(),
        error: () => { try { importScripts('/none.js') } catch (error) { return error.constructor.constructor('return typeof process')() } },
      };
      const attempt = (attack) => { try { return attack() } catch (error) { return error.name } };
      postMessage(Object.entries(attacks).map(([name, attack]) => [name, attempt(attack)]));`;
    const page = await openHtml(t, '', { routes: { '/w.js': script } });
    assert.deepEqual(
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            new Worker('/w.js').onmessage = ({ data }) => resolve(data);
          }),
      ),
      [
        ['globals', ''],
        ['operation', 'undefined'],
        ['dom', 'EvalError'],
        ['method', 'EvalError'],
        ['settings', 'EvalError'],
        ['error', 'EvalError'],
      ],
    );
  });
});

suite('functions of V8 that Node answers', () => {
  test('give a page no object of the main realm: WebAssembly streaming', async (t) => {
    const page = await openHtml(t, '<iframe></iframe>', {
      routes: { '/w.js': 'postMessage(Object.keys(Object.getOwnPropertyDescriptors(WebAssembly)).join())' },
    });
    const names = await page.evaluate(async () => [
      ...Object.getOwnPropertyNames(WebAssembly),
      ...Object.getOwnPropertyNames(frames[0].WebAssembly),
      await new Promise((resolve) => {
        new Worker('/w.js').onmessage = ({ data }) => resolve(data);
      }),
    ]);
    assert.ok(names.includes('instantiate'));
    assert.doesNotMatch(names.join(), /Streaming/);
  });
});

suite('a page cannot reach Node', () => {
  test('by globals', async (t) => {
    const page = await openHtml(t, '');
    const names = [
      'process',
      'require',
      'module',
      'exports',
      'Buffer',
      'global',
      'setImmediate',
      '__filename',
      'node',
      'gc',
    ];
    assert.deepEqual(await page.evaluate((list) => list.filter((name) => name in window), names), []);
  });

  for (const [name, attack] of Object.entries({
    'the constructor of a host function': "setTimeout.constructor('return process')()",
    'the constructor of a method of the DOM': "document.createElement.constructor('return process')()",
    'the constructor of a host object': "window._settings.virtualConsole.emit.constructor('return process')()",
    "a generator of the DOM's realm":
      "Object.getPrototypeOf(function* () {}).constructor.call(null), document.querySelectorAll.constructor.constructor('return process')()",
    'an error of the host':
      "(() => { try { atob('\\u2603') } catch (e) { return e.constructor.constructor('return process')() } })()",
    'the stack of an error':
      '(() => { Error.prepareStackTrace = (e, s) => s; const s = new Error().stack; return s.map((x) => [x.getThis(), x.getFunction()]).flat().find((x) => x && x !== window && x.process).process })()',
    'an event':
      "(() => { let e; addEventListener('x', (x) => { e = x }); dispatchEvent(new Event('x')); return e.constructor.constructor.constructor('return process')() })()",
    'arguments.callee.caller':
      "(() => { let c; document.body.onclick = Function('c = arguments.callee.caller; window.c = c'); document.body.click(); return window.c.constructor('return process')() })()",
    'import()': "import('node:process').then((m) => m.default.version)",
    'import() of a file': "import('file:///etc/passwd')",
    'the promise of import()': "import('x').catch((e) => e.constructor.constructor('return process')())",
  })) {
    test(`through ${name}`, async (t) => {
      const page = await openHtml(t, '<body>');
      await assert.rejects(page.evaluate(`Promise.resolve(${attack}).then((p) => typeof p.version + p)`), {
        name: 'PageError',
      });
    });
  }

  test('but can compile strings in its own realm', async (t) => {
    const page = await openHtml(t, '');
    assert.equal(await page.evaluate("eval('1 + 1') + new Function('return 1')() + Function('return 1')()"), 4);
  });
});

suite('replaced intrinsics', () => {
  test('of the DOM realm get no object of the main realm', async (t) => {
    // Even a page that controls the DOM realm's intrinsics sees no object of the main realm.
    const page = await openHtml(
      t,
      `<body><script>
        const root = (object) => { let o = object; while (Object.getPrototypeOf(o) !== null) o = Object.getPrototypeOf(o); return o; };
        const domObject = root(document.createElement);
        const domFunction = Object.getPrototypeOf(document.createElement);
        window.caught = [];
        const watch = (value) => {
          if ((typeof value === 'object' || typeof value === 'function') && value !== null) {
            const r = root(value);
            if (r !== Object.prototype && r !== domObject && r !== value) caught.push(String(r.constructor));
          }
          return value;
        };
        for (const name of ['call', 'apply', 'bind']) {
          const original = domFunction[name];
          domFunction[name] = function (...parameters) { watch(this); parameters.forEach(watch); return Reflect.apply(original, this, parameters); };
        }
        for (const constructor of [domObject.constructor]) {
          for (const key of ['then', 'message', 'stack', 'error', 'toJSON', 'host', 'process', 'signal', 'body', 'url']) {
            domObject.__defineGetter__(key, function () { watch(this); return undefined; });
            domObject.__defineSetter__(key, function (value) { watch(this); watch(value); Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true }); });
          }
        }
        document.cookie; document.cookie = 'a=1'; getComputedStyle(document.body);
        window.done = [new Promise((resolve) => setTimeout(resolve, 0)), import('/module.mjs')];
        const request = new XMLHttpRequest(); request.open('GET', '/module.mjs'); request.send();
        done.push(new Promise((resolve) => { request.onloadend = resolve; }));
        const script = document.createElement('script'); script.src = '/a.js'; document.body.append(script);
        done.push(new Promise((resolve) => { script.onload = resolve; }));
        console.log({}, [], new Error('x'));
      </script>`,
      { routes: { ...ROUTES, '/a.js': 'window.ran = true' }, waitUntil: 'commit' },
    );
    await page.evaluate('Promise.all(done).then(() => {})');
    assert.deepEqual(await page.evaluate('window.caught'), []);
  });
});

suite('stacks', () => {
  test('show a page its own frames and no path of the host', async (t) => {
    const page = await openHtml(
      t,
      `<body><script>
        function inner() { return new Error('x').stack; }
        document.body.addEventListener('x', function listener() { console.log(inner()); });
        document.body.dispatchEvent(new Event('x'));
        try { document.querySelector('>>'); } catch (error) { console.log(error.stack); }
        try { document.body.appendChild(1); } catch (error) { console.log(error.stack); }
      </script>`,
    );
    assert.match(
      page.log[0],
      /^Error: x\n {4}at inner \(http.*\n {4}at HTMLBodyElement\.listener \(http.*\n {4}at http[^\n]*$/,
    );
    for (const text of page.log) assert.doesNotMatch(text, /node:|node_modules|\.cjs|jsdom/);
  });

  test('show no path of the host where the packages of jsdom are beside a folder around it', async (t) => {
    const workspace = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(workspace, { recursive: true }));
    const original = path.dirname(fs.realpathSync(jsdom));
    const copy = path.join(workspace, 'packages', 'one', 'node_modules', 'jsdom');
    fs.cpSync(path.join(original, 'jsdom'), copy, { recursive: true });
    const modules = path.join(workspace, 'node_modules');
    fs.mkdirSync(modules);
    for (const name of fs.readdirSync(original)) {
      if (name === 'whatwg-url') fs.cpSync(path.join(original, name), path.join(modules, name), { recursive: true });
      else if (name !== 'jsdom') fs.symlinkSync(path.join(original, name), path.join(modules, name));
    }
    const page = await openHtml(t, '<script>try { new URL("x"); } catch ({ stack }) { console.log(stack); }</script>', {
      host: host(t, { jsdom: copy }),
    });
    assert.match(page.log[0], /^TypeError: Invalid URL: x\n {4}at http:\S+$/);
  });

  test('show no path of the host where each package of jsdom is in a folder of its own', async (t) => {
    const store = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(store, { recursive: true }));
    const original = path.dirname(fs.realpathSync(jsdom));
    const placeOf = (name) => path.join(store, name.replace('/', '+'), 'node_modules', name);
    const installed = new Set(['jsdom']);
    for (const name of installed) {
      fs.cpSync(path.join(original, name), placeOf(name), { recursive: true });
      const { dependencies = {} } = JSON.parse(fs.readFileSync(path.join(placeOf(name), 'package.json'), 'utf8'));
      for (const dependency of Object.keys(dependencies)) {
        installed.add(dependency);
        const link = path.join(store, name.replace('/', '+'), 'node_modules', dependency);
        fs.mkdirSync(path.dirname(link), { recursive: true });
        fs.symlinkSync(placeOf(dependency), link);
      }
    }
    const page = await openHtml(t, '<script>try { new URL("x"); } catch ({ stack }) { console.log(stack); }</script>', {
      host: host(t, { jsdom: placeOf('jsdom') }),
    });
    assert.match(page.log[0], /^TypeError: Invalid URL: x\n {4}at http:\S+$/);
  });

  test('show no path of the host where a timer or a listener of it evaluates code', async (t) => {
    const page = await openHtml(t, '');
    const texts = await page.evaluate(async () => {
      const texts = [];
      globalThis.note = (text) => texts.push(text);
      globalThis.sites = () => {
        Error.prepareStackTrace = (_error, sites) => sites.map((site) => `${site} ${site.getEvalOrigin()}`).join();
        note(new Error('x').stack);
        Error.prepareStackTrace = undefined;
      };
      const target = new EventTarget();
      const code = "note(new Error('x').stack), sites(), eval('note(new Error().stack), sites()')";
      target.addEventListener('x', eval.bind(null, code));
      target.dispatchEvent(new Event('x'));
      setTimeout(eval, 0, code);
      await new Promise((resolve) => setTimeout(resolve, 50));
      // What a page's own script evaluates stays.
      (0, eval)('note(new Error().stack)');
      return texts;
    });
    assert.equal(texts.length, 9);
    for (const text of texts) assert.doesNotMatch(text, /node:|node_modules|\.cjs|jsdom/);
    assert.match(texts.at(-1), /at eval \(eval at/);
  });

  test('can be formatted by the page, as V8 allows', async (t) => {
    const page = await openHtml(t, '');
    const [isArray, name, count] = await page.evaluate(() => {
      Error.prepareStackTrace = (_error, sites) => [sites instanceof Array, sites[0].getFunctionName(), sites.length];
      return (function named() {
        return new Error('x').stack;
      })();
    });
    assert.deepEqual([isArray, name, count], [true, 'named', 2]);
  });
});

suite('what a page rejects promises with', () => {
  /** Runs in a page or a worker: a value whose prototype cannot be asked for without another one being thrown, and in the end `last`. */
  const reject = `(last) => {
    const thrower = (next) => new Proxy({}, { getPrototypeOf() { throw next(); } });
    Promise.reject(thrower(() => Object.create(thrower(() => last))));
  }`;
  /** Node shows an error of a thread by this method, to which it gives a function of its own. */
  const shown = `{ [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) { return 'given ' + typeof inspect; } }`;

  for (const last of ['null', shown]) {
    test(`does not end the thread, nor is it inspected: ${last === 'null' ? 'null' : 'an object'}`, async (t) => {
      const page = await openHtml(t, '<body>');
      const crashes = [];
      page.on('crash', (error) => crashes.push(error));
      await page.evaluate(`(${reject})(${last}); 0`);
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
      assert.equal(await page.evaluate('1 + 1'), 2);
      assert.deepEqual(crashes, []);
    });

    test(`does not end the process from a worker: ${last === 'null' ? 'null' : 'an object'}`, async (t) => {
      const page = await openHtml(t, '<body>', {
        routes: { '/worker.js': `(${reject})(${last}); setTimeout(() => postMessage('alive'), 100)` },
      });
      await page.evaluate(`{ new Worker('/worker.js').onmessage = ({ data }) => console.log(data); 0 }`);
      await eventually(() => page.log.includes('alive') || page.problems.some(({ kind }) => kind === 'crash'));
      assert.deepEqual(page.log, ['alive']);
    });
  }

  for (const answer of ['NaN', '{}', "'x'", 'Symbol()']) {
    test(`does not end the process, whatever a promise answers for Node's symbols: ${answer}`, async (t) => {
      const page = await openHtml(t, '<body>');
      const asked = await page.evaluate(`(async () => {
        const asked = [];
        const promise = Promise.reject('rejected');
        Object.setPrototypeOf(promise, new Proxy(Promise.prototype, {
          get(target, key, receiver) {
            if (typeof key === 'symbol') asked.push(String(key));
            return /async_id/.test(String(key)) ? ${answer} : Reflect.get(target, key, receiver);
          },
        }));
        await new Promise((resolve) => setTimeout(resolve, 50));
        return asked;
      })()`);
      assert.deepEqual(asked, []);
      await eventually(() => page.errors.length === 1);
      assert.match(page.errors[0].message, /rejected/);
      assert.deepEqual(page.problems, []);
    });
  }

  test('is reported once the jobs of the turn have run, if it is not handled by then', async (t) => {
    const page = await openHtml(t, '<body>');
    const reasons = await page.evaluate(async () => {
      const reasons = [];
      addEventListener('unhandledrejection', (event) => {
        reasons.push(event.reason);
        // One that this handles is not reported any more.
        handledMeanwhile.catch(() => {});
        event.preventDefault();
      });
      const handledNow = Promise.reject('handled now');
      handledNow.catch(() => {});
      const handledSoon = Promise.reject('handled soon');
      Promise.resolve()
        .then(() => {})
        .then(() => handledSoon.catch(() => {}));
      Promise.reject('first');
      const handledMeanwhile = Promise.reject('handled meanwhile');
      await new Promise((resolve) => setTimeout(resolve));
      reasons.push('timer');
      Promise.resolve().then(() => {
        throw 'second';
      });
      await new Promise((resolve) => setTimeout(resolve));
      return reasons;
    });
    assert.deepEqual(reasons, ['first', 'timer', 'second']);
    assert.deepEqual(page.errors, []);
  });
});

suite('proxies as functions', () => {
  test('get no list of arguments of the main realm, whatever calls them', async (t) => {
    const page = await openHtml(t, '<body>', {
      headers: { 'document-policy': 'js-profiling' },
      routes: { '/a.js': 'export default 1', '/w.js': 'postMessage(1)' },
    });
    const run = async (walk) => {
      const seen = {};
      let count = 0;
      const note = (name, ...values) => {
        for (const value of values) seen[`${name} ${count++}`] = value;
      };
      const calls = new Set();
      const trap = (name, real) =>
        new Proxy(real, {
          apply(target, self, list) {
            note(name, list, self);
            calls.add(name);
            return Reflect.apply(target, self, list);
          },
          construct(target, list, newTarget) {
            note(name, list, newTarget);
            calls.add(name);
            return Reflect.construct(target, list, newTarget);
          },
          defineProperty(target, key, descriptor) {
            note(name, descriptor);
            return Reflect.defineProperty(target, key, descriptor);
          },
        });
      const handler = (name) =>
        Object.fromEntries(
          Object.getOwnPropertyNames(Reflect)
            .filter((key) => key !== 'apply' && key !== 'construct')
            .map((key) => [key, trap(`${name}: ${key}`, Reflect[key])]),
        );
      const spy = (name, object) => new Proxy(object, handler(name));
      const got = (name, object, ...keys) => {
        for (const key of keys) {
          const value = object[key];
          Object.defineProperty(object, key, {
            get: trap(`${name}: get ${String(key)}`, () => value),
            configurable: true,
          });
        }
        return object;
      };
      const attempt = async (work) => {
        try {
          note('result', await Promise.race([work(), new Promise((resolve) => setTimeout(resolve, 300))]));
        } catch (error) {
          note('error', error);
        }
      };

      // Errors, thrown and rejected.
      const errorOf = (name) =>
        got(name, new Error('x'), 'name', 'message', 'stack', 'cause', 'toString', 'constructor');
      got('stack', new Error('x'), 'name', 'message').stack;
      Object.setPrototypeOf(new Error('x'), spy('prototype of an error', Error.prototype)).stack;
      const captured = Object.setPrototypeOf({}, spy('captured', {}));
      Error.captureStackTrace(captured);
      captured.stack;
      Promise.reject(errorOf('rejected'));
      Promise.reject(spy('rejected proxy', {}));
      Object.setPrototypeOf(Promise.reject(1), spy('prototype of a promise', Promise.prototype));
      got('promise', Promise.reject(2), 'constructor', 'then');
      setTimeout(() => {
        throw errorOf('thrown');
      });
      setTimeout(() => {
        throw Object.setPrototypeOf(new Error('x'), spy('prototype of what is thrown', Error.prototype));
      });
      // What code of a page formats stacks with.
      Error.prepareStackTrace = trap('prepareStackTrace', () => 'formatted');
      new Error('x').stack;
      delete Error.prepareStackTrace;

      // A syntax error, whose stack is set.
      Error.prepareStackTrace = (error) => {
        Object.defineProperty(error, 'stack', { configurable: true, set: trap('stack of a syntax error', () => {}) });
        return 'text';
      };
      document.body.setAttribute('onclick', '} {');
      document.body.onclick;
      delete Error.prepareStackTrace;

      // Memory that the main realm fills.
      const typed = Object.getPrototypeOf(Uint8Array.prototype);
      for (const name of ['buffer', 'byteOffset', 'byteLength', 'length']) {
        const property = Object.getOwnPropertyDescriptor(typed, name);
        Object.defineProperty(typed, name, { ...property, get: trap(`memory: ${name}`, property.get) });
      }

      // Functions that the platform calls.
      const target = new EventTarget();
      target.addEventListener(
        'x',
        trap('listener', () => {}),
      );
      target.addEventListener('x', got('listener object', { handleEvent() {} }, 'handleEvent'));
      target.dispatchEvent(new Event('x'));
      setTimeout(
        trap('timer', () => {}),
        0,
        {},
      );
      requestAnimationFrame(trap('frame', () => {}));
      requestIdleCallback(trap('idle', () => {}));
      queueMicrotask(trap('microtask', () => {}));
      new MutationObserver(trap('mutations', () => {})).observe(document.body, { attributes: true });
      document.body.id = 'x';
      new PerformanceObserver(trap('entries', () => {})).observe({ type: 'mark', buffered: true });
      onmessage = trap('onmessage', () => {});
      customElements.define('x-y', trap('element', class extends HTMLElement {}));
      document.createElement('x-y');

      // Values that the platform reads.
      await attempt(() => structuredClone(got('cloned', { a: 1 }, 'a')));
      await attempt(() => structuredClone(spy('cloned proxy', {})));
      await attempt(() => postMessage(got('posted', { a: 1 }, 'a'), '*'));
      await attempt(() =>
        postMessage(1, got('options', { targetOrigin: '*', transfer: [] }, 'targetOrigin', 'transfer')),
      );
      await attempt(() =>
        console.log(got('logged', { a: 1 }, 'a', Symbol.toStringTag), errorOf('logged error'), spy('logged proxy', {})),
      );
      await attempt(() => performance.mark('m', got('mark', { startTime: 1, detail: 1 }, 'startTime', 'detail')));
      await attempt(() => performance.measure(got('name', {}, 'toString', Symbol.toPrimitive)));
      await attempt(async () => {
        const options = { sampleInterval: 1, maxBufferSize: 1, includeEntries: true };
        const profiler = new Profiler(got('profiler', options, 'sampleInterval', 'maxBufferSize', 'includeEntries'));
        profiler.addEventListener(
          'samplebufferfull',
          trap('full', () => {}),
        );
        for (const end = performance.now() + 20; performance.now() < end; );
        await new Promise((resolve) => setTimeout(resolve, 20));
        return profiler.stop(got('stop', { format: 'object' }, 'format'));
      });
      await attempt(() =>
        fetch('/a.js', got('fetch', { method: 'GET', headers: {} }, 'method', 'headers', 'signal', 'body')),
      );
      await attempt(() => fetch(spy('url', { toString: () => '/a.js' })));
      await attempt(() => import(got('specifier', { toString: () => '/a.js' }, 'toString', Symbol.toPrimitive)));
      await attempt(() => import('/none.js', got('import', { with: {} }, 'with')));
      await attempt(() => {
        const worker = new Worker(
          got('worker', { toString: () => '/w.js' }, 'toString'),
          got('worker options', { type: 'classic' }, 'type', 'name'),
        );
        worker.onmessage = trap('message of a worker', () => {});
        worker.postMessage(got('to a worker', { a: 1 }, 'a'));
      });
      await attempt(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = trap('message of a port', () => {});
        port2.postMessage(1);
      });
      await attempt(() => new Blob([got('part', {}, 'toString')], got('blob', { type: 'x' }, 'type')).text());
      await attempt(() => URL.createObjectURL(spy('object of a URL', new Blob())));
      await attempt(() => got('thenable', Object.fromEntries([['then', (resolve) => resolve(1)]]), 'then'));
      await attempt(() => crypto.getRandomValues(spy('random', new Uint8Array(2))));
      await attempt(() => new TextDecoder().decode(spy('decoded', new Uint8Array(2))));
      await attempt(() => {
        document.cookie = got('cookie', {}, 'toString');
      });
      await attempt(() => {
        location.hash = got('hash', {}, 'toString');
      });
      await attempt(() =>
        history.pushState(got('state', { a: 1 }, 'a'), '', got('url', { toString: () => '#y' }, 'toString')),
      );
      await attempt(() => {
        document.body.innerHTML = got('markup', {}, 'toString');
      });

      // What the DOM realm's objects inherit, and the main realm might read.
      let root = Headers.prototype;
      for (let next = root; next !== null; next = Object.getPrototypeOf(next)) root = next;
      const names = [
        'bytes',
        'tag',
        'buffers',
        'ports',
        'objects',
        'type',
        'name',
        'message',
        'media',
        'lastModified',
        'x',
        'pipe',
        'out',
        'into',
        'toJSON',
        'then',
        'process',
        'setImmediate',
        'apply',
        'shared',
        'record',
      ];
      for (const name of names)
        root.constructor.defineProperty(root, name, {
          configurable: true,
          get: trap(`inherited ${name}`, () => undefined),
          set() {},
        });
      await attempt(() => postMessage(new DOMException('x'), '*'));
      await attempt(() => postMessage({ a: [1] }, '*'));
      await attempt(() => console.log({ a: 1 }, new Error('x')));
      for (const name of names) delete root[name];

      await new Promise((resolve) => setTimeout(resolve, 300));
      return { calls: [...calls], ...walk(seen, 300_000) };
    };
    const { found, calls } = await page.evaluateIn({ timeout: 60_000 }, `(${run})(${walk})`);
    // Those whose lists were made in the main realm, or could be.
    for (const name of ['stack: get name', 'thrown: get message', 'listener', 'timer', 'idle', 'full'])
      assert.ok(calls.includes(name), `${name} was not called: ${calls.join(', ')}`);
    assert.deepEqual(found, []);
  });

  test('get none by functions of the host that a page has replaced', async (t) => {
    const page = await openHtml(t, '<body>', { routes: { '/m.js': 'export const url = import.meta.resolve("/x")' } });
    const run = async (walk) => {
      let root = Headers.prototype;
      for (let next = root; next !== null; next = Object.getPrototypeOf(next)) root = next;
      const DomArray = root.constructor.keys({}).constructor;
      const { find } = DomArray.prototype;
      let code;
      // The DOM realm looks the window of a promise up.
      DomArray.prototype.find = function (callback) {
        if (this[0]?.code !== undefined) code = this[0].code;
        return Reflect.apply(find, this, [callback]);
      };
      addEventListener('unhandledrejection', (event) => event.preventDefault());
      Promise.reject(1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      DomArray.prototype.find = find;
      const seen = [];
      const names = Object.keys(code);
      for (const name of names) {
        const original = code[name];
        code[name] = new Proxy(original, {
          apply(target, self, list) {
            seen.push(list, self, ...list);
            return Reflect.apply(target, self, list);
          },
        });
      }
      performance.mark('x');
      performance.getEntries();
      await import('/m.js');
      await import('/none.js').catch(() => {});
      await import('data:text/javascript,}').catch(() => {});
      return { names, ...walk({ seen }, 100_000) };
    };
    const { found, names } = await page.evaluate(`(${run})(${walk})`);
    assert.ok(names.includes('settle') && names.includes('describeModule'), names.join());
    assert.deepEqual(found, []);
  });

  test('get none from what a script of the user returns, throws or rejects', async (t) => {
    const page = await openHtml(t, '<body>');
    await page.evaluate(() => {
      seen = [];
      // The memory that holds results.
      for (const prototype of [ArrayBuffer.prototype, Object.getPrototypeOf(Uint8Array.prototype)]) {
        for (const name of ['buffer', 'byteOffset', 'byteLength', 'length', 'slice']) {
          const property = Object.getOwnPropertyDescriptor(prototype, name);
          if (property?.get === undefined) continue;
          const get = new Proxy(property.get, {
            apply(target, self, list) {
              seen.push(list);
              return Reflect.apply(target, self, []);
            },
          });
          Object.defineProperty(prototype, name, { ...property, get });
        }
      }
      trap = (real) =>
        new Proxy(real, {
          apply(target, self, list) {
            seen.push(list, self);
            return Reflect.apply(target, self, list);
          },
        });
      hostile = (object) => {
        for (const key of ['name', 'message', 'stack', 'then', 'toJSON', 'toString', 'constructor', 'length', 0])
          Object.defineProperty(object, key, { get: trap(() => undefined), enumerable: true, configurable: true });
        return object;
      };
    });
    for (const script of [
      'hostile({})',
      'hostile([])',
      'hostile(new Error())',
      'hostile(Promise.resolve(1))',
      'new Proxy({}, { get: trap(() => undefined) })',
      // Large enough to be read in the page's thread first.
      "Array(5_000).fill('text')",
    ])
      for (const way of [script, `(() => { throw ${script}; })()`, `Promise.reject(${script})`])
        await page.evaluate(way).catch(() => {});
    const { found, length } = await page.evaluate(`({ length: seen.length, ...(${walk})({ seen }, 100_000) })`);
    assert.ok(length > 0);
    assert.deepEqual(found, []);
  });

  test('and errors of the main realm do not reach a page where the stack is full', { timeout: 60_000 }, async (t) => {
    const page = await openHtml(t, '<body>', { headers: { 'document-policy': 'js-profiling' } });
    const run = async (walk) => {
      const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
      const proxy = new Proxy({}, {});
      const calls = [
        () => new WebAssembly.Tag({ parameters: ['i32'] }),
        () => new WebAssembly.Module(bytes),
        () => new WebAssembly.Memory({ initial: 1 }),
        () => new ArrayBuffer(1, { maxByteLength: 2 }),
        () => Object.setPrototypeOf(proxy, null),
        () => encodeURIComponent('x'),
        () => 'x'.normalize(),
        () => performance.now(),
        () => performance.mark('x'),
        () => performance.getEntries(),
        () => crypto.randomUUID(),
        () => new Error('x').stack,
        () => structuredClone(1),
        () => new MessageChannel(),
        () => document.cookie,
        () => URL.createObjectURL(new Blob([])),
        () => new Profiler({ sampleInterval: 1, maxBufferSize: 1 }).cancel(),
      ];
      const seen = [];
      let count = 0;
      for (const call of calls) {
        for (let pad = 0; pad < 20; pad++) {
          const parameters = new Array(pad).fill(1);
          let left = 150;
          const fill = (...rest) => {
            try {
              fill(...parameters);
            } catch {}
            if (left-- <= 0) return rest;
            try {
              call();
            } catch (error) {
              count += 1;
              if (!(error instanceof Error) && seen.length < 1_000) seen.push(error);
            }
          };
          fill();
        }
      }
      return { count, ...walk({ seen }, 100_000) };
    };
    const { found, count } = await page.evaluateIn({ timeout: 50_000 }, `(${run})(${walk})`);
    assert.ok(count > 100, `${count} errors`);
    assert.deepEqual(found, []);
  });
});
