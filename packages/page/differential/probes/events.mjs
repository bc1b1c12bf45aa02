// Events, microtasks, timers, navigation events and storage.

import { probes } from '../page/probe.mjs';
import { outcome, show } from '../page/show.mjs';
import { addScript, answer, atEnd, event, frameWith, fromWorker, later } from '../page/surroundings.mjs';

const file = 'events';
/** Neither the policy nor isolation changes what happens here. */
const variants = ['policy'];

/** Notes the order in which things happen during the work, and shortly after. */
async function order(work) {
  const log = [];
  await work((text) => log.push(text));
  await later(30);
  return log;
}
const micro = (note, text) => Promise.resolve().then(() => note(text));

probes(
  'microtasks',
  {
    'between listeners of a click': () =>
      order((note) => {
        const button = document.createElement('button');
        for (const name of ['a', 'b'])
          button.addEventListener('click', () => {
            note(name);
            micro(note, `after ${name}`);
          });
        button.click();
        note('end');
      }),
    'between listeners of a message': () =>
      order(async (note) => {
        for (const name of ['a', 'b'])
          addEventListener(
            'message',
            () => {
              note(name);
              micro(note, `after ${name}`);
            },
            { once: true },
          );
        postMessage('x', '*');
        await event(window, 'message');
      }),
    'between listeners of load': () =>
      order(async (note) => {
        const frame = document.createElement('iframe');
        for (const name of ['a', 'b'])
          frame.addEventListener('load', () => {
            note(name);
            micro(note, `after ${name}`);
          });
        frame.src = answer('frame.html', '');
        const loaded = event(frame, 'load');
        document.body.append(frame);
        atEnd(() => frame.remove());
        await loaded;
      }),
    'between targets of a bubbling event': () =>
      order(async (note) => {
        const image = document.createElement('img');
        const failed = new Promise((resolve) =>
          image.addEventListener('error', () => {
            note('image');
            micro(note, 'after image');
            resolve();
          }),
        );
        addEventListener(
          'error',
          () => {
            note('window');
            micro(note, 'after window');
          },
          { once: true, capture: true },
        );
        image.src = 'data:,';
        await failed;
      }),
    'between a listener and a handler': () =>
      order(async (note) => {
        const { port1, port2 } = new MessageChannel();
        const got = new Promise((resolve) => {
          port2.onmessage = () => {
            note('handler');
            micro(note, 'after handler');
          };
          port2.addEventListener('message', () => {
            note('listener');
            micro(note, 'after listener');
            resolve();
          });
        });
        port1.postMessage('x');
        await got;
      }),
    'between timers': () =>
      order(async (note) => {
        for (const name of ['a', 'b'])
          setTimeout(() => {
            note(name);
            micro(note, `after ${name}`);
          });
        await later(20);
      }),
    'and animation frames': () =>
      order(async (note) => {
        for (const name of ['a', 'b'])
          requestAnimationFrame(() => {
            note(name);
            micro(note, `after ${name}`);
          });
        await new Promise(requestAnimationFrame);
      }),
    'between listeners of resourcetimingbufferfull': () =>
      order(async (note) => {
        performance.setResourceTimingBufferSize(1);
        for (const name of ['a', 'b'])
          performance.addEventListener(
            'resourcetimingbufferfull',
            () => {
              note(name);
              micro(note, `after ${name}`);
            },
            { once: true },
          );
        for (const body of ['1', '2']) await (await fetch(answer('data.txt', body))).text();
        await later(20);
        performance.setResourceTimingBufferSize(250);
      }),
    'of dispatchEvent': () =>
      order((note) => {
        const target = new EventTarget();
        for (const name of ['a', 'b'])
          target.addEventListener('x', () => {
            note(name);
            micro(note, `after ${name}`);
          });
        target.dispatchEvent(new Event('x'));
        note('end');
      }),
    'of a mutation observer': () =>
      order((note) => {
        const element = document.createElement('p');
        new MutationObserver(() => note('observer')).observe(element, { attributes: true });
        element.id = 'x';
        micro(note, 'microtask');
        note('end');
      }),
    'an error in one': () =>
      order(async (note) => {
        addEventListener(
          'error',
          (error) => {
            error.preventDefault();
            note(`error: ${error.error.name}`);
          },
          { once: true },
        );
        queueMicrotask(() => {
          throw new EvalError('own');
        });
        micro(note, 'next');
        await later(10);
      }),
    'an unhandled rejection': () =>
      order(async (note) => {
        addEventListener(
          'unhandledrejection',
          (rejection) => {
            rejection.preventDefault();
            note([rejection.reason.name, rejection.promise instanceof Promise]);
          },
          { once: true },
        );
        Promise.reject(new EvalError('own'));
        micro(note, 'microtask');
        await later(10);
      }),
  },
  { file, variants },
);

probes(
  'an event handler',
  {
    'text of an inline one': async () => {
      const frame = await frameWith('<button onclick="a; b">x</button>');
      return String(frame.contentDocument.querySelector('button').onclick);
    },
    'name and length of an inline one': async () => {
      const frame = await frameWith('<button onclick="a; b">x</button>');
      return show(frame.contentDocument.querySelector('button').onclick);
    },
    'text of an inline error handler': async () => {
      const frame = await frameWith('<img onerror="a">');
      return String(frame.contentDocument.querySelector('img').onerror);
    },
    'text of the error handler of a window': async () => {
      const frame = await frameWith('');
      frame.contentDocument.body.setAttribute('onerror', 'a');
      return String(frame.contentWindow.onerror);
    },
    'with a syntax error': async () => {
      const frame = await frameWith(
        '<script>window.onerror = (...all) => { window.said = all.slice(2, 4).concat(all[4]?.name); return true; };</script><button onclick="a b">x</button>',
      );
      const handler = frame.contentDocument.querySelector('button').onclick;
      return [handler, frame.contentWindow.said?.at(-1)];
    },
    'that throws': async () => {
      const frame = await frameWith(
        '<script>window.onerror = (...all) => { window.said = all; return true; };</script><p>\n<button onclick="throw new EvalError()">x</button>',
      );
      frame.contentDocument.querySelector('button').click();
      const [message, , line, column, error] = frame.contentWindow.said ?? [];
      return [message, line, column, error?.name];
    },
    'that throws on its second line': async () => {
      const frame = await frameWith(
        '<script>window.onerror = (...all) => { window.said = all; return true; };</script><p>\n<button onclick="\n  throw new EvalError()">x</button>',
      );
      frame.contentDocument.querySelector('button').click();
      const [message, , line, column] = frame.contentWindow.said ?? [];
      return [message, line, column];
    },
    'this and event': async () => {
      const frame = await frameWith(
        '<button onclick="window.said = [this.localName, event.type, arguments.length]">x</button>',
      );
      frame.contentDocument.querySelector('button').click();
      return frame.contentWindow.said;
    },
    scopes: async () => {
      const frame = await frameWith(
        '<form name="f"><input name="own" value="v"><button type=button onclick="window.said = [own.value, typeof getElementById, localName]">x</button></form>',
      );
      frame.contentDocument.querySelector('button').click();
      return frame.contentWindow.said;
    },
    'that returns false': async () => {
      const frame = await frameWith('<a href="#x" onclick="return false">x</a>');
      frame.contentDocument.querySelector('a').click();
      return frame.contentWindow.location.hash;
    },
    'its own name inside': async () => {
      const frame = await frameWith('<button onclick="window.said = typeof onclick">x</button>');
      frame.contentDocument.querySelector('button').click();
      return frame.contentWindow.said;
    },
    'replaced by null': () => {
      const button = document.createElement('button');
      button.setAttribute('onclick', 'x');
      button.onclick = null;
      return [button.onclick, button.getAttribute('onclick')];
    },
    'an object': () => {
      const button = document.createElement('button');
      const object = {};
      button.onclick = object;
      return button.onclick === object;
    },
    'a number': () => {
      const button = document.createElement('button');
      button.onclick = 5;
      return button.onclick;
    },
    'document.onvisibilitychange': () => [
      typeof Object.getOwnPropertyDescriptor(Document.prototype, 'onvisibilitychange')?.get,
      document.onvisibilitychange,
    ],
  },
  { file, variants },
);

const TYPES = ['beforeunload', 'pagehide', 'visibilitychange', 'unload'];
probes(
  'a navigation',
  {
    'fires events in the window that ends': async () => {
      const frame = await frameWith('');
      const seen = [];
      for (const type of TYPES) frame.contentWindow.addEventListener(type, () => seen.push(type));
      frame.contentDocument.addEventListener('visibilitychange', () => seen.push('document'));
      const loaded = event(frame, 'load');
      frame.src = answer('next.html', 'next');
      await loaded;
      return seen;
    },
    'persisted of pagehide': async () => {
      const frame = await frameWith('');
      let seen;
      frame.contentWindow.addEventListener(
        'pagehide',
        ({ persisted, constructor, isTrusted }) => (seen = [persisted, constructor.name, isTrusted]),
      );
      const loaded = event(frame, 'load');
      frame.src = answer('next.html', 'next');
      await loaded;
      return seen;
    },
    pageshow: async () => {
      const frame = await frameWith(
        '<script>addEventListener("pageshow", ({ persisted }) => { window.said = persisted; });</script>',
      );
      await later(30);
      return frame.contentWindow.said;
    },
    'visibilityState during pagehide': async () => {
      const frame = await frameWith('');
      let seen;
      frame.contentWindow.addEventListener('pagehide', () => (seen = frame.contentDocument.visibilityState));
      const loaded = event(frame, 'load');
      frame.src = answer('next.html', 'next');
      await loaded;
      return seen;
    },
    'order of the loading events': async () => {
      const frame = await frameWith(
        '<script>window.said = [document.readyState]; document.onreadystatechange = () => said.push(document.readyState); document.addEventListener("DOMContentLoaded", () => said.push("DOMContentLoaded")); addEventListener("load", () => said.push("load")); addEventListener("pageshow", () => said.push("pageshow"));</script>',
      );
      await later(30);
      return frame.contentWindow.said;
    },
    'keeps the contentWindow': async () => {
      const frame = await frameWith('');
      const before = frame.contentWindow;
      const loaded = event(frame, 'load');
      frame.src = answer('next.html', 'next');
      await loaded;
      return before === frame.contentWindow;
    },
    'ends performance entries': async () => {
      const frame = await frameWith('');
      frame.contentWindow.performance.mark('m');
      const loaded = event(frame, 'load');
      frame.src = answer('next.html', 'next');
      await loaded;
      return frame.contentWindow.performance.getEntriesByName('m').length;
    },
    'to a fragment': async () => {
      const frame = await frameWith('');
      const changed = event(frame.contentWindow, 'hashchange');
      frame.contentWindow.location.hash = 'x';
      const { isTrusted } = await changed;
      return [isTrusted, frame.contentWindow.location.hash];
    },
    'history.length of pushState': async () => {
      const frame = await frameWith('');
      const { history } = frame.contentWindow;
      const before = history.length;
      history.pushState({ a: 1 }, '');
      return [history.length - before, show(history.state)];
    },
    popstate: async () => {
      const frame = await frameWith('');
      const { history } = frame.contentWindow;
      history.pushState({ a: 1 }, '');
      history.pushState({ a: 2 }, '');
      const popped = event(frame.contentWindow, 'popstate');
      history.back();
      return show({ ...(await popped).state });
    },
  },
  { file, variants },
);

probes(
  'storage',
  {
    'localStorage in a frame': async () => {
      localStorage.setItem('own', '1');
      const frame = await frameWith('');
      const value = frame.contentWindow.localStorage.getItem('own');
      localStorage.clear();
      return value;
    },
    'localStorage after a navigation': async () => {
      const frame = await frameWith('<script>localStorage.setItem("kept", "1");</script>');
      const loaded = event(frame, 'load');
      frame.src = answer('next.html', 'next');
      await loaded;
      const value = frame.contentWindow.localStorage.getItem('kept');
      localStorage.clear();
      return value;
    },
    'sessionStorage after a navigation': async () => {
      const frame = await frameWith('<script>sessionStorage.setItem("kept", "1");</script>');
      const loaded = event(frame, 'load');
      frame.src = answer('next.html', 'next');
      await loaded;
      const value = frame.contentWindow.sessionStorage.getItem('kept');
      sessionStorage.clear();
      return value;
    },
    'the event storage': async () => {
      const frame = await frameWith('');
      const stored = Promise.race([event(frame.contentWindow, 'storage'), later(200)]);
      localStorage.setItem('own', '1');
      const { key, newValue, oldValue, storageArea } = (await stored) ?? {};
      localStorage.clear();
      return [key, newValue, oldValue, storageArea === frame.contentWindow.localStorage];
    },
    'a missing item': () => localStorage.getItem('none'),
    'a property': () => {
      localStorage.own = 5;
      const value = localStorage.getItem('own');
      localStorage.clear();
      return value;
    },
    keys: () => {
      localStorage.setItem('b', 1);
      localStorage.setItem('a', 2);
      const keys = Object.keys(localStorage).sort();
      localStorage.clear();
      return keys;
    },
    'too much': () => outcome(() => localStorage.setItem('big', 'x'.repeat(6 * 2 ** 20))),
    'text of it': () => String(localStorage),
    'a cookie': () => {
      document.cookie = 'own=1';
      const value = document.cookie;
      document.cookie = 'own=; max-age=0';
      return value;
    },
    'a cookie that is HttpOnly': () => {
      document.cookie = 'own=1; httponly';
      return document.cookie;
    },
  },
  { file, variants },
);

probes(
  'errors',
  {
    reportError: async () => {
      const said = event(window, 'error');
      addEventListener('error', (error) => error.preventDefault(), { once: true });
      reportError(new EvalError('own'));
      const { message, error, isTrusted, cancelable } = await said;
      return [message, error.name, isTrusted, cancelable];
    },
    'reportError of a text': async () => {
      const said = event(window, 'error');
      addEventListener('error', (error) => error.preventDefault(), { once: true });
      reportError('own');
      const { message, error } = await said;
      return [message, error];
    },
    'a timer that throws': async () => {
      const said = event(window, 'error');
      addEventListener('error', (error) => error.preventDefault(), { once: true });
      setTimeout(() => {
        throw new EvalError('own');
      });
      const { message, error, lineno } = await said;
      return [message, error.name, lineno > 0];
    },
    'a script with a syntax error': async () => {
      const said = event(window, 'error');
      addEventListener('error', (error) => error.preventDefault(), { once: true });
      await addScript({ src: answer('script.js', '\n\n  a b') });
      const { error, lineno, colno } = await said;
      return [error.name, lineno, colno];
    },
    'a script that throws': async () => {
      const said = event(window, 'error');
      addEventListener('error', (error) => error.preventDefault(), { once: true });
      await addScript({ src: answer('script.js', '\n\n  throw new EvalError("own");') });
      const { message, error, lineno, colno } = await said;
      return [message, error.name, lineno, colno];
    },
    'a module that throws': async () => {
      const said = event(window, 'error');
      addEventListener('error', (error) => error.preventDefault(), { once: true });
      await addScript({ type: 'module', src: answer('script.js', '\n\n  throw new EvalError("own");') });
      const { message, error, lineno, colno } = await said;
      return [message, error.name, lineno, colno];
    },
  },
  { file, variants },
);

probes(
  'a worker',
  {
    'globals of windows': () =>
      fromWorker(
        "postMessage(['window', 'document', 'Profiler', 'localStorage', 'parent', 'requestAnimationFrame', 'importScripts', 'performance'].filter((name) => name in self))",
      ),
    'constructor of the scope': () =>
      fromWorker('postMessage([self.constructor.name, String(self), Object.prototype.toString.call(self)])'),
    name: () => fromWorker('postMessage(name)', { name: 'own' }),
    location: () => fromWorker('postMessage([location.pathname, origin === location.origin, isSecureContext])'),
    'a module': () => fromWorker('postMessage(typeof importScripts)', { type: 'module' }),
    'a syntax error': () => fromWorker('a b'),
    'an error': () => fromWorker("throw new EvalError('own')"),
    'of another origin': () => outcome(() => new Worker(answer('worker.js', '', { isOther: true }))),
    'of a wrong URL': () => outcome(() => new Worker('http://[')),
    'of data:': async () => {
      const worker = new Worker('data:text/javascript,postMessage(origin)');
      atEnd(() => worker.terminate());
      return (await event(worker, 'message')).data;
    },
    'with a wrong type': () => outcome(() => new Worker(answer('worker.js', ''), { type: 'other' })),
    'with wrong credentials': () => outcome(() => new Worker(answer('worker.js', ''), { credentials: 'other' })),
    'microtasks between listeners': () =>
      fromWorker(
        "const log = []; for (const name of ['a', 'b']) addEventListener('message', () => { log.push(name); Promise.resolve().then(() => log.push('after ' + name)); }); addEventListener('message', () => setTimeout(() => postMessage(log))); const { port1, port2 } = new MessageChannel(); port2.onmessage = () => dispatchEvent(new MessageEvent('message')); port1.postMessage(1);",
      ),
    'event.timeStamp': () =>
      fromWorker("const { timeStamp } = new Event('x'); postMessage(Math.abs(timeStamp - performance.now()) < 100)"),
    'properties of Performance': () =>
      fromWorker(
        "postMessage(Object.keys(Performance.prototype).filter((key) => !['memory', 'eventCounts', 'interactionCount', 'getMarks', 'getMeasures', 'measureUserAgentSpecificMemory'].includes(key)).sort().join(' '))",
      ),
    'supported types of entries': () => fromWorker('postMessage(PerformanceObserver.supportedEntryTypes)'),
    'text of a function': () =>
      fromWorker(
        'postMessage([String(performance.now), String(Performance)].map((text) => text.includes("[native code]")))',
      ),
    'a message of an error': async () =>
      fromWorker('postMessage(new RangeError("own"))').then((error) => [error instanceof RangeError, error.message]),
  },
  { file, variants },
);
