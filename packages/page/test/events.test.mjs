// Events and callbacks: their times, and when promise jobs run.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { logged, openHtml } from './server.mjs';

suite('the time of an event', () => {
  test('counts from the time origin, on the clock of performance.now()', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        const check = (name, time) => console.log(name, time > 0 && time < 1e8 && time <= performance.now(), time * 10 % 1);
        addEventListener('load', (e) => check('load', e.timeStamp));
        for (const e of [new Event('x'), new CustomEvent('x'), document.createEvent('Event')]) check('made', e.timeStamp);
        requestAnimationFrame((time) => check('frame', time));
        const { get } = Object.getOwnPropertyDescriptor(Event.prototype, 'timeStamp');
        Performance.prototype.now = () => 1e9;
        check('replaced', new Event('x').timeStamp);
        new Worker('data:,' + encodeURIComponent('postMessage([new Event("x").timeStamp, performance.now()])')).onmessage = ({ data: [time, now] }) => console.log('worker', time <= now);
      </script>`,
    );
    await logged(page, 'worker true');
    assert.deepEqual(page.log.map((line) => line.replace(/(?<=\.\d)0*[1-9]\d*$/, '')).sort(), [
      'frame true 0',
      'load true 0',
      'made true 0',
      'made true 0',
      'made true 0',
      'replaced true 0',
      'worker true',
    ]);
  });
});

suite('promise jobs', () => {
  test('are run after each listener, script and callback', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        const say = (text) => () => { console.log(text); Promise.resolve().then(() => console.log('job of ' + text)); };
        addEventListener('load', say('load 1'));
        addEventListener('load', say('load 2'));
        onload = say('onload');
        document.addEventListener('DOMContentLoaded', say('parsed'), true);
        addEventListener('DOMContentLoaded', say('parsed 2'));
        requestAnimationFrame(say('frame 1'));
        requestAnimationFrame(say('frame 2'));
        say('script 1')();
      </script>
      <script>say('script 2')();</script>`,
    );
    await logged(page, 'job of frame 2', 'job of onload');
    const expected = ['script 1', 'script 2', 'parsed', 'parsed 2', 'load 1', 'load 2', 'onload'].flatMap((text) => [
      text,
      `job of ${text}`,
    ]);
    assert.deepEqual(
      page.log.filter((line) => !line.includes('frame')),
      expected,
    );
    assert.deepEqual(
      page.log.filter((line) => line.includes('frame')),
      ['frame 1', 'job of frame 1', 'frame 2', 'job of frame 2'],
    );
  });

  test('are not run in the middle of a script, whatever it calls', async (t) => {
    const page = await openHtml(
      t,
      `<input id="i"><script>
        const jobs = [];
        i.addEventListener('focus', () => { Promise.resolve().then(() => jobs.push('focus')); });
        i.addEventListener('click', () => { Promise.resolve().then(() => jobs.push('click')); });
        const act = () => {
          const before = jobs.length;
          i.focus();
          i.click();
          i.dispatchEvent(new Event('focus'));
          document.body.append(Object.assign(document.createElement('script'), { textContent: 'Promise.resolve().then(() => jobs.push("script"))' }));
          document.body.append(document.createElement('iframe'));
          return jobs.length - before;
        };
        // Code of eval has no name, or one that the page chooses.
        console.log(act(), eval('(' + act + ')()'), [1].map(eval('() => act()\\n//# sourceURL=node:x'))[0]);
        setTimeout(() => console.log('timer', act()));
        setTimeout('console.log("text", act())');
        onload = () => console.log('load', jobs.length > 0, act());
      </script>`,
    );
    await logged(page, 'timer 0', 'text 0', 'load true 0');
    assert.equal(page.log[0], '0 0 0');
  });
});
