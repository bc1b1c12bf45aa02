// Scripts of other origins, CORS, and documents of other origins.

import { probes } from '../page/probe.mjs';
import { outcome, settled } from '../page/show.mjs';
import { addScript, answer, atEnd, event, frameWith, later, openFrame } from '../page/surroundings.mjs';
import { sampledStacks } from '../page/profiling.mjs';

const file = 'origins';
const PROFILING = ['policy', 'isolated'];

const SOURCE = 'function foreign() { sample(); }\nforeign();';
const ALLOWED = { 'access-control-allow-origin': '*' };
const CREDENTIALS = { 'access-control-allow-origin': location.origin, 'access-control-allow-credentials': 'true' };

const scripts = {
  'of this origin': [{}, {}],
  'of another origin': [{ isOther: true }, {}],
  'of another origin with crossorigin': [{ isOther: true, headers: ALLOWED }, { crossorigin: '' }],
  'of another origin with crossorigin=anonymous': [{ isOther: true, headers: ALLOWED }, { crossorigin: 'anonymous' }],
  'of another origin with credentials': [{ isOther: true, headers: CREDENTIALS }, { crossorigin: 'use-credentials' }],
  'of another origin with credentials and a star': [
    { isOther: true, headers: ALLOWED },
    { crossorigin: 'use-credentials' },
  ],
  'of another origin that allows, without crossorigin': [{ isOther: true, headers: ALLOWED }, {}],
  'of another origin that does not allow, with crossorigin': [{ isOther: true }, { crossorigin: '' }],
  'of another origin, as a module': [{ isOther: true, headers: ALLOWED }, { type: 'module' }],
  'of another origin, as a module that is not allowed': [{ isOther: true }, { type: 'module' }],
  'with the wrong type': [{ headers: { 'content-type': 'text/plain' } }, {}],
  'with the wrong type and nosniff': [
    { headers: { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' } },
    {},
  ],
  'with the type of an image': [{ headers: { 'content-type': 'image/png' } }, {}],
  'with the status 404': [{ status: 404 }, {}],
  'with the status 500': [{ status: 500 }, {}],
  'with the status 204': [{ status: 204 }, {}],
  'without CORP': [{ isOther: true, headers: { 'cross-origin-resource-policy': 'same-origin' } }, {}],
  'with CORP same-site': [{ isOther: true, headers: { 'cross-origin-resource-policy': 'same-site' } }, {}],
};
for (const [how, [options, attributes]] of Object.entries(scripts)) {
  probes(
    'a script',
    {
      [`${how}: loads`]: () => addScript({ src: answer('script.js', 'window.ran = 1;', options), ...attributes }),
      [`${how}: is shown`]: async () => {
        const type = await addScript({ src: answer('script.js', SOURCE, options), ...attributes });
        return [type, ...(await sampledStacks())];
      },
      [`${how}: an error`]: async () => {
        const failed = event(window, 'error');
        const seen = Promise.race([failed, later(300)]);
        addEventListener('error', (error) => error.preventDefault(), { once: true });
        await addScript({ src: answer('script.js', "throw new EvalError('secret');", options), ...attributes });
        const { message, lineno, colno, error } = (await seen) ?? {};
        return [message, lineno, colno, error?.name];
      },
    },
    { file, variants: PROFILING },
  );
}

probes(
  'a function of another origin',
  {
    'called by the page': async () => {
      await addScript({
        src: answer('script.js', 'window.foreign = function foreign() { sample(); };', { isOther: true }),
      });
      window.foreign();
      return await sampledStacks();
    },
    'that calls the page': async () => {
      await addScript({
        src: answer('script.js', 'window.foreign = function foreign(work) { work(); };', { isOther: true }),
      });
      window.foreign(() => globalThis.sample());
      return (await sampledStacks()).map((stack) => stack.replace(/:\d+:\d+/g, ''));
    },
    'in eval': async () => {
      await addScript({
        src: answer('script.js', "eval('function evaluated() { sample(); } evaluated()');", { isOther: true }),
      });
      return await sampledStacks();
    },
    'in new Function': async () => {
      await addScript({ src: answer('script.js', "new Function('sample()')();", { isOther: true }) });
      return await sampledStacks();
    },
    'in a timer with text': async () => {
      await addScript({
        src: answer('script.js', "setTimeout('function timed() { sample(); } timed()');", { isOther: true }),
      });
      await later(30);
      return await sampledStacks();
    },
    'in a promise': async () => {
      await addScript({
        src: answer('script.js', 'Promise.resolve().then(function reaction() { sample(); });', { isOther: true }),
      });
      await later(30);
      return await sampledStacks();
    },
    'in a built-in function': async () => {
      await addScript({ src: answer('script.js', '[1].forEach(function each() { sample(); });', { isOther: true }) });
      return await sampledStacks();
    },
  },
  { file, variants: PROFILING },
);

const get = (options, init) =>
  settled(async () => {
    const response = await fetch(answer('data.txt', 'text', options), init);
    return [response.type, response.status, response.ok, await response.text()];
  });
probes(
  'fetch',
  {
    'of this origin': () => get({}),
    'of another origin': () => get({ isOther: true }),
    'of another origin that allows': () => get({ isOther: true, headers: ALLOWED }),
    'of another origin, no-cors': () => get({ isOther: true }, { mode: 'no-cors' }),
    'of another origin, same-origin': () => get({ isOther: true, headers: ALLOWED }, { mode: 'same-origin' }),
    'with credentials and a star': () => get({ isOther: true, headers: ALLOWED }, { credentials: 'include' }),
    'with credentials that are allowed': () => get({ isOther: true, headers: CREDENTIALS }, { credentials: 'include' }),
    'with another origin that is allowed': () =>
      get({ isOther: true, headers: { 'access-control-allow-origin': 'http://c.test' } }),
    'with null that is allowed': () => get({ isOther: true, headers: { 'access-control-allow-origin': 'null' } }),
    'with two origins': () =>
      get({ isOther: true, headers: { 'access-control-allow-origin': `${location.origin}, *` } }),
    'of the status 404': () => get({ status: 404 }),
    'of the status 204': () => get({ status: 204 }),
    'of a wrong URL': () => settled(() => fetch('http://[')),
    'of a URL with a password': () => settled(() => fetch('http://a:b@127.0.0.1/')),
    'of a closed port': () => settled(() => fetch('http://127.0.0.1:1/')),
    'of data:': () => settled(async () => await (await fetch('data:,text')).text()),
    'of blob:': () =>
      settled(async () => {
        const url = URL.createObjectURL(new Blob(['text']));
        atEnd(() => URL.revokeObjectURL(url));
        return await (await fetch(url)).text();
      }),
    'of a blob that is gone': () =>
      settled(() => {
        const url = URL.createObjectURL(new Blob(['text']));
        URL.revokeObjectURL(url);
        return fetch(url);
      }),
    'of an unknown scheme': () => settled(() => fetch('own:x')),
    'of file:': () => settled(() => fetch('file:///etc/hosts')),
    'aborted before': () => settled(() => fetch(answer('data.txt', 'text'), { signal: AbortSignal.abort() })),
    'aborted before, with a reason': () =>
      settled(() => fetch(answer('data.txt', 'text'), { signal: AbortSignal.abort(5) })),
    'with a body in GET': () => settled(() => fetch(answer('data.txt', 'text'), { body: 'x' })),
    'with a wrong method': () => settled(() => fetch(answer('data.txt', 'text'), { method: 'a b' })),
    'with a forbidden method': () => settled(() => fetch(answer('data.txt', 'text'), { method: 'TRACE' })),
    'with a wrong mode': () => settled(() => fetch(answer('data.txt', 'text'), { mode: 'other' })),
    'with mode navigate': () => settled(() => fetch(answer('data.txt', 'text'), { mode: 'navigate' })),
    'with redirect error': () =>
      get({ status: 302, headers: { location: answer('data.txt', 'x') } }, { redirect: 'error' }),
    'with redirect manual': () =>
      get({ status: 302, headers: { location: answer('data.txt', 'x') } }, { redirect: 'manual' }),
    redirected: () =>
      settled(
        async () =>
          (await fetch(answer('a.txt', '', { status: 302, headers: { location: answer('data.txt', 'x') } })))
            .redirected,
      ),
    'a response header that is visible': () =>
      settled(async () => (await fetch(answer('a.txt', '', { headers: { 'x-own': '1' } }))).headers.get('x-own')),
    'a response header of another origin': () =>
      settled(async () =>
        (await fetch(answer('a.txt', '', { isOther: true, headers: { ...ALLOWED, 'x-own': '1' } }))).headers.get(
          'x-own',
        ),
      ),
    'a response header that is exposed': () =>
      settled(async () =>
        (
          await fetch(
            answer('a.txt', '', {
              isOther: true,
              headers: { ...ALLOWED, 'x-own': '1', 'access-control-expose-headers': 'x-own' },
            }),
          )
        ).headers.get('x-own'),
      ),
    'the body twice': () =>
      settled(async () => {
        const response = await fetch(answer('data.txt', 'text'));
        await response.text();
        return await response.text();
      }),
    'clone after reading': () =>
      settled(async () => {
        const response = await fetch(answer('data.txt', 'text'));
        await response.text();
        return response.clone();
      }),
    'JSON that is none': () => settled(async () => (await fetch(answer('data.txt', 'text'))).json()),
  },
  { file },
);

/** What a page can read of a window of another origin. */
const FOREIGN = [
  'document',
  'location',
  'name',
  'closed',
  'frames',
  'length',
  'top',
  'parent',
  'opener',
  'window',
  'self',
  'postMessage',
  'focus',
  'blur',
  'close',
  'Profiler',
  'performance',
  'own',
  'then',
  '0',
  'history',
  'origin',
  'crossOriginIsolated',
];
/** All probes look at one frame: each one would be a process, or a thread. */
let shared;
const foreignFrame = () => {
  shared ??= new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.src = answer('frame.html', 'x', { isOther: true, variant: 'isolated' });
    frame.addEventListener('load', () => resolve(frame), { once: true });
    document.body.append(frame);
  });
  return shared;
};
for (const name of FOREIGN) {
  probes(
    'a window of another origin',
    {
      [name]: async () => {
        const { contentWindow } = await foreignFrame();
        return outcome(() => typeof contentWindow[name]);
      },
    },
    { file },
  );
}
probes(
  'a window of another origin',
  {
    'setting a property': async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => {
        contentWindow.own = 1;
      });
    },
    'its keys': async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() =>
        Reflect.ownKeys(contentWindow)
          .map(String)
          .filter((key) => !/^\d+$/.test(key))
          .sort(),
      );
    },
    'its prototype': async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => Object.getPrototypeOf(contentWindow));
    },
    'its descriptor': async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => Object.getOwnPropertyDescriptor(contentWindow, 'closed')?.configurable);
    },
    'its text': async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => String(contentWindow));
    },
    'its string tag': async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => Object.prototype.toString.call(contentWindow));
    },
    delete: async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => delete contentWindow.own);
    },
    in: async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => 'document' in contentWindow);
    },
    'is the same each time': async () => {
      const frame = await foreignFrame();
      return frame.contentWindow === frame.contentWindow;
    },
    'location.href': async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => contentWindow.location.href);
    },
    contentDocument: async () => (await foreignFrame()).contentDocument,
    'await of it': async () => {
      const { contentWindow } = await foreignFrame();
      return settled(async () => typeof (await contentWindow));
    },
    JSON: async () => {
      const { contentWindow } = await foreignFrame();
      return outcome(() => JSON.stringify(contentWindow));
    },
    'a frame that refuses': async () => {
      const frame = await frameWith('x', { headers: { 'x-frame-options': 'DENY' } });
      return outcome(() => frame.contentDocument?.body?.textContent ?? null);
    },
    'a frame without a response': async () => {
      const frame = await openFrame('http://127.0.0.1:1/');
      return outcome(() => frame.contentDocument);
    },
  },
  { file },
);
