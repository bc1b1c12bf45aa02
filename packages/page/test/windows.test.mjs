// Windows of one origin, which can reach each other: who sent a message, and whose objects a function takes.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { logged, openHtml, serve, until } from './server.mjs';

const CHILD = `<script>
  addEventListener('message', (e) => { e.source.postMessage('reply to ' + e.data, '*'); });
  function callParent() { parent.postMessage('called', '*'); }
  function evalAndCall() { eval("parent.postMessage('evaluated', '*')"); }
</script>`;

suite('a message between windows of one origin', () => {
  test('says which window sent it', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        addEventListener('message', (e) => {
          const sender = e.source === window ? 'self' : e.source === frames[0] ? 'frame' : 'none';
          console.log(e.data, sender, e.origin === origin);
        });
      </script>
      <iframe src="/child"></iframe>
      <script>
        onload = () => {
          frames[0].postMessage('direct', '*');
          eval("frames[0].postMessage('eval', '*')");
          new Function("frames[0].postMessage('function', '*')")();
          setTimeout("frames[0].postMessage('text', '*')");
          frames[0].callParent();
          frames[0].evalAndCall();
          parent.postMessage('own', '*');
          frames[0].parent.postMessage.bind(parent)('bound', '*');
          frames[0].postMessage.call(window, 'this', '*');
          postMessage.call(undefined, 'no this', '*');
          setTimeout(frames[0].postMessage, 0, 'timer', '*');
          try { postMessage.call({}, 'x', '*'); } catch (e) { console.log(e instanceof TypeError); }
        };
      </script>`,
      { routes: { '/child': CHILD } },
    );
    // As Chromium answers.
    const expected = [
      'true',
      'own self true',
      'bound self true',
      'this self true',
      'no this self true',
      'timer self true',
      'called frame true',
      'evaluated frame true',
      ...['direct', 'eval', 'function', 'text'].map((name) => `reply to ${name} frame true`),
    ];
    await logged(page, ...expected);
    assert.deepEqual(page.log.sort(), expected.sort());
  });

  test('says so also when the frame is of another origin', async (t) => {
    const foreign = await serve(t, { '/child': CHILD });
    const page = await openHtml(
      t,
      `<script>
        addEventListener('message', (e) => console.log(e.data, e.source === frames[0]));
      </script>
      <iframe src="${foreign.url('/child')}" onload="frames[0].postMessage('hello', '*')"></iframe>`,
    );
    await logged(page, 'reply to hello true');
  });
});

const ALLOW = { 'document-policy': 'js-profiling' };

suite('a member of an interface', () => {
  test('takes objects of other windows of the origin', async (t) => {
    const page = await openHtml(t, '<iframe src="/child"></iframe>', {
      headers: ALLOW,
      routes: { '/child': { body: '', headers: ALLOW } },
    });
    const seen = await page.evaluate(async () => {
      const { 0: frame } = frames;
      const profiler = new frame.Profiler({ sampleInterval: 10, maxBufferSize: 10 });
      const get = (name, object) => Object.getOwnPropertyDescriptor(PerformanceEntry.prototype, name).get.call(object);
      const observer = new frame.PerformanceObserver(() => {});
      const mark = performance.mark.call(frame.performance, 'theirs', { detail: [] });
      const list = performance.getEntriesByName.call(frame.performance, 'theirs');
      const thrown = [
        () => performance.now.call({}),
        () => Profiler.prototype.cancel.call(new EventTarget()),
        () => performance.mark.call(frame.performance),
        () => get('name', Object.create(mark)),
      ].map((call) => {
        try {
          return call();
        } catch (error) {
          return [error instanceof TypeError, error instanceof frame.TypeError];
        }
      });
      const trace = await Profiler.prototype.stop.call(profiler);
      return {
        stop: [trace instanceof frame.Object, Object.keys(trace).sort().join(), profiler.stopped],
        refused: await Profiler.prototype.stop.call({}).catch((error) => error instanceof TypeError),
        now: typeof performance.now.call(frame.performance),
        mark: [mark instanceof frame.PerformanceMark, get('name', mark), get('entryType', mark)],
        list: [list instanceof frame.Array, list.length, performance.getEntriesByName('theirs').length],
        observer: [
          PerformanceObserver.prototype.observe.call(observer, { entryTypes: ['mark'] }),
          PerformanceObserver.prototype.takeRecords.call(observer) instanceof frame.Array,
        ],
        thrown,
        shape: [performance.now.name, performance.now.length, performance.mark.length, Object.keys(performance.now)],
      };
    });
    // As Chromium answers, except that errors for arguments are of the object's window.
    assert.deepEqual(seen, {
      stop: [true, 'frames,resources,samples,stacks', true],
      refused: true,
      now: 'number',
      mark: [true, 'theirs', 'mark'],
      list: [true, 1, 0],
      observer: [undefined, true],
      thrown: [
        [true, false],
        [true, false],
        [false, true],
        [true, false],
      ],
      shape: ['now', 0, 1, []],
    });
  });
});

suite('the profiler of a frame that was removed', () => {
  test('fails with exceptions of the frame', async (t) => {
    const page = await openHtml(t, '<iframe src="/child"></iframe>', {
      headers: ALLOW,
      routes: { '/child': { body: '', headers: ALLOW } },
    });
    const seen = await page.evaluate(async () => {
      const { 0: frame } = frames;
      const { DOMException, Profiler } = frame;
      const options = { sampleInterval: 10, maxBufferSize: 10 };
      const profiler = new Profiler(options);
      document.querySelector('iframe').remove();
      const describe = (error) => [error.name, error instanceof DOMException, error.message];
      let made;
      try {
        new Profiler(options);
      } catch (error) {
        made = describe(error);
      }
      return [await profiler.stop().catch(describe), made];
    });
    const why = 'the document of the profiler is not shown any more.';
    assert.deepEqual(seen, [
      ['InvalidStateError', true, `Failed to execute 'stop' on 'Profiler': ${why}`],
      ['InvalidStateError', true, `Failed to construct 'Profiler': the document is not shown any more.`],
    ]);
  });
});

suite('members of Performance and Document', () => {
  test('count events of user input', async (t) => {
    const page = await openHtml(t, '<input id="i">');
    const seen = await page.evaluate(() => {
      const { eventCounts } = performance;
      document.body.click();
      document.body.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      let thrown;
      try {
        new EventCounts();
      } catch (error) {
        thrown = error instanceof TypeError;
      }
      const pairs = [];
      eventCounts.forEach((count, type, object) => {
        pairs.push([count, type, object === eventCounts]);
      });
      return {
        text: `${eventCounts}`,
        same: eventCounts === performance.eventCounts,
        size: eventCounts.size,
        first: [...eventCounts][0],
        pair: pairs[0],
        lookups: [eventCounts.get('click'), eventCounts.has('click'), eventCounts.get('x'), eventCounts.has('x')],
        lists: [[...eventCounts.keys()].length, [...eventCounts.values()].every((count) => count === 0)],
        iterator: EventCounts.prototype[Symbol.iterator] === EventCounts.prototype.entries,
        interactions: performance.interactionCount,
        thrown,
        json: Object.keys(performance.toJSON()),
      };
    });
    assert.deepEqual(seen, {
      text: '[object EventCounts]',
      same: true,
      size: 36,
      first: ['pointerdown', 0],
      pair: [0, 'pointerdown', true],
      lookups: [0, true, undefined, false],
      lists: [36, true],
      iterator: true,
      interactions: 0,
      thrown: true,
      json: ['timeOrigin', 'timing', 'navigation'],
    });
  });

  test('tell the size of the heap in steps, and rarely', async (t) => {
    const page = await openHtml(t, '');
    const seen = await page.evaluate(() => {
      const read = () => {
        const { totalJSHeapSize, usedJSHeapSize, jsHeapSizeLimit } = performance.memory;
        return [totalJSHeapSize, usedJSHeapSize, jsHeapSizeLimit];
      };
      const before = read();
      globalThis.held = Array.from({ length: 4_000_000 }, (_, i) => ({ i }));
      const { memory } = performance;
      return {
        before,
        after: read(),
        shape: [`${memory}`, JSON.stringify(memory), memory === performance.memory, typeof MemoryInfo],
        names: Object.keys(Object.getPrototypeOf(memory)),
      };
    });
    assert.deepEqual(seen.after, seen.before);
    assert.ok(
      seen.before.every((size) => size > 0 && (size % 10_000_000 === 0 || size === 1_024_000_000)),
      `${seen.before}`,
    );
    assert.deepEqual(seen.shape, ['[object MemoryInfo]', '{}', false, 'undefined']);
    assert.deepEqual(seen.names, ['totalJSHeapSize', 'usedJSHeapSize', 'jsHeapSizeLimit']);
  });

  test('have a handler of visibilitychange', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        const { get, set } = Object.getOwnPropertyDescriptor(Document.prototype, 'onvisibilitychange');
        console.log(document.onvisibilitychange, typeof get, typeof set);
        document.onvisibilitychange = function (e) { console.log(e.type, this === document, document.visibilityState); };
      </script>`,
    );
    await page.setVisible(false);
    assert.deepEqual(page.log, ['null function function', 'visibilitychange true hidden']);
  });
});

suite('a document of a blob: URL', () => {
  test('is shown in a frame, with the origin of its page', async (t) => {
    const page = await openHtml(t, '', { headers: ALLOW });
    const seen = await page.evaluate(async () => {
      const html = `<p>hi</p><script>
        let refused;
        try { new Profiler({ sampleInterval: 10, maxBufferSize: 10 }); } catch (e) { refused = e.name; }
        parent.seen = [location.href === parent.url, document.URL === parent.url, origin === parent.origin, document.contentType, document.referrer, refused];
      </script>`;
      globalThis.url = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
      const frame = document.createElement('iframe');
      const loaded = new Promise((resolve) => {
        frame.onload = resolve;
      });
      frame.src = url;
      document.body.append(frame);
      URL.revokeObjectURL(url);
      await loaded;
      return [frame.contentDocument.querySelector('p').textContent, ...globalThis.seen];
    });
    assert.deepEqual(seen, ['hi', true, true, true, 'text/html', page.server.url('/'), 'NotAllowedError']);
  });

  test('is not shown to another origin, and is opaque in a sandboxed frame', async (t) => {
    const foreign = await serve(t, {
      '/': `<script>
        onmessage = ({ data }) => {
          const frame = Object.assign(document.createElement('iframe'), { src: data });
          frame.onload = () => console.log('foreign', frame.contentDocument?.body?.textContent ?? 'nothing');
          document.documentElement.append(frame);
        };
        parent.postMessage('ready', '*');
      </script>`,
    });
    const page = await openHtml(
      t,
      `<script>
        const url = URL.createObjectURL(new Blob(['<p>secret</p><script>console.log("sandboxed", origin)<\\/script>'], { type: 'text/html' }));
        onmessage = ({ source }) => {
          source.postMessage(url, '*');
          const sandboxed = Object.assign(document.createElement('iframe'), { src: url, sandbox: 'allow-scripts' });
          document.documentElement.append(sandboxed);
        };
      </script>
      <iframe src="${foreign.url('/')}"></iframe>`,
    );
    await logged(page, 'sandboxed null');
    await until(page, () => page.log.some((line) => line.startsWith('foreign')));
    assert.ok(!page.log.some((line) => line.includes('secret')));
  });
});
