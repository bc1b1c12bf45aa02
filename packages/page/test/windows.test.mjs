// Windows of one origin, which can reach each other: who sent a message, and whose objects a function takes.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { logged, openHtml, serve } from './server.mjs';

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
          setTimeout(postMessage, 0, 'timer', '*');
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
