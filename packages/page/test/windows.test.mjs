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
