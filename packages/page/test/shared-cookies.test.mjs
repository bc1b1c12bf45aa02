// The copies of cookies that the threads of a page have, and the jar of the user's thread.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { suite, test } from 'node:test';

import { CookieCopy } from '../src/fetch/cookie-copy.cjs';
import { useJsdom } from '../src/fetch/jsdom-packages.cjs';
import { SharedCookies } from '../src/host/shared-cookies.cjs';
import { jsdom, openHtml, openInThisProcess } from './server.mjs';

openInThisProcess();

const URL_OF_PAGE = 'http://a.test/';

/**
 * A thread with a copy of the cookies. What it and the user's thread send each other arrives when `deliver` is called.
 */
class Thread extends EventEmitter {
  #shared;
  #sent = [];
  #received = [];
  cookies = new CookieCopy(undefined, (change) => this.#sent.push(change));

  constructor(shared) {
    super();
    this.#shared = shared;
    shared.add(this);
  }

  post(message) {
    this.#received.push(structuredClone(message));
  }

  /** Delivers the first message of one of the two queues. @returns {boolean} whether there was one */
  deliver(isToThread) {
    const message = (isToThread ? this.#received : this.#sent).shift();
    if (message === undefined) return false;
    if (isToThread) this.cookies.receive(message.change, message.isOwn);
    else this.#shared.share(message, this);
    return true;
  }
}

/** Numbers below 1 that look random, the same ones for the same seed. */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const sorted = (jar) => jar.forScript(URL_OF_PAGE, undefined).split('; ').sort().join('; ');

suite('threads that set the same cookie at once', () => {
  useJsdom({ folder: jsdom });

  test('have the same in the end, in any order, and read what they wrote meanwhile', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomOf(seed);
      const shared = new SharedCookies();
      const threads = Array.from({ length: 3 }, () => new Thread(shared));
      for (let step = 0; step < 60; step++) {
        const thread = threads[Math.trunc(random() * threads.length)];
        const { cookies } = random() < 0.2 ? { cookies: shared.jar } : thread;
        const text = `${'ab'[step & 1]}=${step}${random() < 0.3 ? '; Max-Age=0' : ''}`;
        if (random() < 0.4) cookies.setByScript(URL_OF_PAGE, text, undefined);
        else thread.deliver(random() < 0.5);
      }
      const [first] = threads;
      first.cookies.setByScript(URL_OF_PAGE, 'own=1', undefined);
      first.cookies.setByScript(URL_OF_PAGE, 'own=2', undefined);
      let isBusy = true;
      while (isBusy) {
        assert.match(sorted(first.cookies), /own=2/);
        isBusy = threads.flatMap((thread) => [thread.deliver(true), thread.deliver(false)]).includes(true);
      }
      const ends = [shared.jar, ...threads.map(({ cookies }) => cookies)].map(sorted);
      assert.equal(new Set(ends).size, 1, `seed ${seed}: ${ends.join(' | ')}`);
    }
  });

  test('are a page and its worker', async (t) => {
    let count = 0;
    const page = await openHtml(t, '', {
      routes: {
        '/set': () => ({ body: '', headers: { 'set-cookie': count++ % 3 === 0 ? 'x=; Max-Age=0' : `x=${count}` } }),
        '/see': ({ headers }) => headers.cookie ?? 'none',
        '/w.js': 'onmessage = async ({ data }) => postMessage(await (await fetch(data)).text())',
      },
    });
    const isSame = await page.evaluate(async () => {
      const worker = new Worker('/w.js');
      const ask = (url) =>
        new Promise((resolve) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.postMessage(url);
        });
      for (let round = 0; round < 10; round++) {
        await Promise.all([ask('/set'), fetch('/set')]);
        // Until the changes have arrived.
        while ((await (await fetch('/see')).text()) !== (await ask('/see')));
      }
      return true;
    });
    assert.ok(isSame);
  });
});
