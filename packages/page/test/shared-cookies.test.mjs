// The copies of cookies that the threads of a page have, and the jar of the user's thread.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { suite, test } from 'node:test';

import { Cookies } from '../src/fetch/cookies.cjs';
import { useJsdom } from '../src/fetch/jsdom-packages.cjs';
import { SharedCookies } from '../src/host/shared-cookies.cjs';
import { jsdom, openHtml, openInThisProcess } from './server.mjs';

openInThisProcess();

const URL_OF_PAGE = 'http://a.test/';

/** A thread with a copy of the cookies. What it and the user's thread send each other arrives when `receive` and `answer` are called. */
class Thread extends EventEmitter {
  #shared;
  #sent = [];
  #received = [];
  cookies = new Cookies(undefined, (change) => this.#sent.push(() => this.#shared.share(change, this)));

  constructor(shared) {
    super();
    this.#shared = shared;
    shared.add(this);
  }

  deliver({ change }, lease) {
    this.#received.push(() => {
      this.cookies.apply(change);
      this.#sent.push(() => lease.release());
    });
  }

  receive() {
    this.#received.shift()?.();
  }

  answer() {
    this.#sent.shift()?.();
  }

  get isBusy() {
    return this.#received.length + this.#sent.length > 0;
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

suite('threads that set the same cookie at once', () => {
  useJsdom({ folder: jsdom, version: '' });

  test('have the same in the end, in any order', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomOf(seed);
      const shared = new SharedCookies();
      const threads = Array.from({ length: 3 }, () => new Thread(shared));
      const jars = [shared.jar, ...threads.map(({ cookies }) => cookies)];
      for (let step = 0; step < 60; step++) {
        const thread = threads[Math.trunc(random() * threads.length)];
        const jar = jars[Math.trunc(random() * jars.length)];
        const act = [
          () => jar.setByScript(URL_OF_PAGE, `${'ab'[step & 1]}=${step}`, undefined),
          () => jar.setByScript(URL_OF_PAGE, `${'ab'[step & 1]}=; Max-Age=0`, undefined),
          () =>
            jar.setByScript(
              URL_OF_PAGE,
              [`nameless${step}`, `=a=${step}`, `==a=${step}`, `=nameless${step}`][step & 3],
              undefined,
            ),
          () => thread.receive(),
          () => thread.answer(),
        ][Math.trunc(random() * 5)];
        act();
      }
      while (threads.some(({ isBusy }) => isBusy))
        for (const thread of threads) {
          thread.receive();
          thread.answer();
        }
      const sorted = (jar) => jar.forScript(URL_OF_PAGE, undefined).split('; ').sort().join('; ');
      assert.deepEqual(new Set(jars.map(sorted)).size, 1, `seed ${seed}: ${jars.map(sorted).join(' | ')}`);
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
    const seen = await page.evaluate(async () => {
      const worker = new Worker('/w.js');
      const ask = (url) =>
        new Promise((resolve) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.postMessage(url);
        });
      const seen = [];
      for (let round = 0; round < 30; round++) {
        await Promise.all([ask('/set'), fetch('/set')]);
        await new Promise((resolve) => setTimeout(resolve, 50));
        seen.push([await (await fetch('/see')).text(), await ask('/see')]);
      }
      return seen;
    });
    for (const [ofPage, ofWorker] of seen) assert.equal(ofPage, ofWorker);
  });
});
