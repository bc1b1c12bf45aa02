// Frames: their permissions, sandboxes, messages, and objects of one window that another one uses.

import { probes } from '../page/probe.mjs';
import { outcome, settled, show, showThrown } from '../page/show.mjs';
import { answer, atEnd, event, frameWith, later } from '../page/surroundings.mjs';
import { firstStack, start } from '../page/profiling.mjs';

const file = 'frames';
/** Where neither the policy nor isolation changes anything. */
const variants = ['policy'];

/** The text that a document posts to the page. */
async function posted(attributes, html, options = {}) {
  const frame = document.createElement('iframe');
  for (const [name, value] of Object.entries(attributes)) frame.setAttribute(name, value);
  if (html !== undefined) frame.setAttribute('src', answer('frame.html', `<!doctype html><body>${html}`, options));
  const message = event(window, 'message').then(({ data }) => data);
  // What a document posts while it loads arrives soon after its load event, also on a busy machine.
  const loaded = event(frame, 'load').then(() => later(1000));
  document.body.append(frame);
  atEnd(() => frame.remove());
  return await Promise.race([message, loaded.then(() => 'no message'), later(5000).then(() => 'not loaded')]);
}
const post = (expression) =>
  `<script>let said; try { said = String(${expression}); } catch (error) { said = error.name; } parent.postMessage(said, '*');</script>`;
const PROFILER = "new Profiler({ sampleInterval: 10, maxBufferSize: 1 }) && 'may profile'";

const HEADERS = {
  'no policy': {},
  'js-profiling': { 'document-policy': 'js-profiling' },
  'js-profiling=?1': { 'document-policy': 'js-profiling=?1' },
  'js-profiling=?0': { 'document-policy': 'js-profiling=?0' },
  'in a list': { 'document-policy': 'other, js-profiling' },
  'with a report-to': { 'document-policy': 'js-profiling;report-to=x' },
  'in capitals': { 'document-policy': 'JS-Profiling' },
  'a syntax error': { 'document-policy': 'js-profiling, ((' },
  'a text': { 'document-policy': '"js-profiling"' },
  'a number': { 'document-policy': 'js-profiling=1' },
  'report only': { 'document-policy-report-only': 'js-profiling' },
  'a feature policy': { 'feature-policy': 'js-profiling *' },
  'a permissions policy': { 'permissions-policy': 'js-profiling=*' },
  eager: { 'document-policy': 'js-profiling-mode=eager' },
  lazy: { 'document-policy': 'js-profiling-mode=lazy' },
  'an empty header': { 'document-policy': '' },
  'twice, off at last': { 'document-policy': 'js-profiling, js-profiling=?0' },
};
for (const [how, headers] of Object.entries(HEADERS)) {
  probes(
    'Document-Policy',
    {
      [how]: () =>
        posted({}, post(PROFILER), {
          variant: 'none',
          headers: { 'cross-origin-embedder-policy': 'require-corp', ...headers },
        }),
    },
    { file },
  );
}

const blobOf = (html) => {
  const url = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
  atEnd(() => URL.revokeObjectURL(url));
  return url;
};
probes(
  'a frame may profile',
  {
    'of this origin': () => posted({}, post(PROFILER)),
    'of another origin': () => posted({}, post(PROFILER), { isOther: true }),
    'of srcdoc': () => posted({ srcdoc: post(PROFILER) }),
    'of data:': () => posted({ src: `data:text/html,${encodeURIComponent(post(PROFILER))}` }),
    'of blob:': () => posted({ src: blobOf(post(PROFILER)) }),
    'of javascript:': () =>
      posted({ src: `javascript:${encodeURIComponent(`'${post(PROFILER).replace(/'/g, "\\'")}'`)}` }),
    'of about:blank': async () => {
      const frame = document.createElement('iframe');
      document.body.append(frame);
      atEnd(() => frame.remove());
      return outcome(() => start({}, { Profiler: frame.contentWindow.Profiler }));
    },
    'written by document.write': async () => {
      const frame = document.createElement('iframe');
      document.body.append(frame);
      atEnd(() => frame.remove());
      const message = Promise.race([event(window, 'message'), later(2000)]);
      frame.contentDocument.write(post(PROFILER));
      frame.contentDocument.close();
      return (await message)?.data;
    },
  },
  { file },
);

const SANDBOXES = [
  '',
  'allow-scripts',
  'allow-same-origin',
  'allow-scripts allow-same-origin',
  'ALLOW-SCRIPTS',
  'allow-scripts\tallow-forms',
  'unknown allow-scripts',
];
const STATES = {
  origin: 'self.origin',
  'the parent': "parent.document && 'reached'",
  localStorage: 'localStorage.length >= 0',
  cookie: 'document.cookie.length >= 0',
  profiler: PROFILER,
  crossOriginIsolated: 'crossOriginIsolated',
};
for (const sandbox of SANDBOXES) {
  // One frame says everything: each frame of an opaque origin is a process, or a thread.
  let said;
  const state = Object.entries(STATES).map(
    ([what, expression]) => `${JSON.stringify(what)}: tell(() => ${expression})`,
  );
  const html = `<script>const tell = (work) => { try { return String(work()); } catch (error) { return error.name; } }; parent.postMessage({ ${state} }, '*');</script>`;
  for (const what of Object.keys(STATES)) {
    probes(
      `sandbox="${sandbox.replace('\t', '\\t')}"`,
      {
        [what]: async () => {
          said ??= posted({ sandbox }, html);
          const all = await said;
          return all[what] ?? all;
        },
      },
      { file, variants },
    );
  }
  probes(
    `sandbox="${sandbox.replace('\t', '\\t')}"`,
    {
      srcdoc: () => posted({ sandbox, srcdoc: post('self.origin') }),
    },
    { file, variants },
  );
}

/** Attributes of frames that reflect content attributes. */
const REFLECTED = {
  sandbox: ['allow-scripts', 'text'],
  allow: ['camera', ''],
  loading: ['lazy', 'eager', 'other'],
  referrerPolicy: ['no-referrer', 'other', ''],
  name: ['text'],
  src: ['/x', ''],
  srcdoc: ['x'],
  width: ['5'],
  height: ['5'],
  allowFullscreen: [true, false],
  csp: ['x'],
  credentialless: [true],
};
for (const [name, values] of Object.entries(REFLECTED)) {
  probes(
    `HTMLIFrameElement.${name}`,
    {
      'the property': () => {
        const { get, set, ...flags } = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, name) ?? {};
        return [typeof get, typeof set, flags];
      },
      'at first': () => show(document.createElement('iframe')[name]),
    },
    { file, variants },
  );
  for (const value of values) {
    probes(
      `HTMLIFrameElement.${name}`,
      {
        [`set to ${JSON.stringify(value)}`]: () => {
          const frame = document.createElement('iframe');
          frame[name] = value;
          return [String(frame[name]), frame.getAttribute(name.toLowerCase())];
        },
      },
      { file, variants },
    );
  }
}
probes(
  'HTMLIFrameElement.sandbox',
  {
    add: () => {
      const frame = document.createElement('iframe');
      return outcome(() => {
        frame.sandbox.add('allow-scripts');
        return frame.getAttribute('sandbox');
      });
    },
    supports: () =>
      outcome(() =>
        ['allow-scripts', 'allow-other', 'allow-downloads'].map((token) =>
          document.createElement('iframe').sandbox.supports(token),
        ),
      ),
    'is one object': () => {
      const frame = document.createElement('iframe');
      return frame.sandbox === frame.sandbox;
    },
    'set before it is inserted': async () => {
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-scripts';
      frame.src = answer('frame.html', post('self.origin'));
      const message = Promise.race([event(window, 'message'), later(2000)]);
      document.body.append(frame);
      atEnd(() => frame.remove());
      return (await message)?.data;
    },
  },
  { file, variants },
);

const ALLOW = [
  '',
  "cross-origin-isolated 'none'",
  "cross-origin-isolated 'self'",
  'cross-origin-isolated *',
  'cross-origin-isolated',
  "camera 'none'",
];
for (const allow of ALLOW) {
  probes(
    'the clock of a frame',
    {
      [`allow="${allow}"`]: () => posted({ allow }, post('crossOriginIsolated')),
      [`of another origin, allow="${allow}"`]: () => posted({ allow }, post('crossOriginIsolated'), { isOther: true }),
    },
    { file },
  );
}
probes(
  'the clock of a frame',
  {
    'with a header that denies it': () =>
      posted({}, post('crossOriginIsolated'), { headers: { 'permissions-policy': 'cross-origin-isolated=()' } }),
    'with a header that allows it': () =>
      posted({}, post('crossOriginIsolated'), { headers: { 'permissions-policy': 'cross-origin-isolated=(self)' } }),
    'of srcdoc': () => posted({ srcdoc: post('crossOriginIsolated') }),
    SharedArrayBuffer: () => posted({}, post('typeof SharedArrayBuffer')),
  },
  { file },
);

/** Members that work, or do not, on objects of a window of the same origin. */
const BRANDS = {
  'Profiler.prototype.stop': (theirs) => Profiler.prototype.stop.call(start({}, { Profiler: theirs.Profiler })),
  'Profiler.prototype.stopped': (theirs) =>
    Object.getOwnPropertyDescriptor(Profiler.prototype, 'stopped').get.call(start({}, { Profiler: theirs.Profiler })),
  'Profiler.prototype.sampleInterval': (theirs) =>
    Object.getOwnPropertyDescriptor(Profiler.prototype, 'sampleInterval').get.call(
      start({}, { Profiler: theirs.Profiler }),
    ),
  'performance.now': (theirs) => typeof performance.now.call(theirs.performance),
  'performance.mark': (theirs) => performance.mark.call(theirs.performance, 'm').name,
  'the window of the mark': (theirs) => {
    performance.mark.call(theirs.performance, 'm');
    return [theirs.performance.getEntriesByType('mark').length, performance.getEntriesByType('mark').length];
  },
  'performance.measure': (theirs) => performance.measure.call(theirs.performance, 'm').name,
  'performance.getEntries': (theirs) => Array.isArray(performance.getEntries.call(theirs.performance)),
  'performance.timeOrigin': (theirs) =>
    typeof Object.getOwnPropertyDescriptor(Performance.prototype, 'timeOrigin').get.call(theirs.performance),
  'performance.toJSON': (theirs) => Object.keys(performance.toJSON.call(theirs.performance)).sort(),
  'performance.timing': (theirs) =>
    typeof Object.getOwnPropertyDescriptor(Performance.prototype, 'timing').get.call(theirs.performance),
  'performance.clearMarks': (theirs) => performance.clearMarks.call(theirs.performance),
  'PerformanceTiming.toJSON': (theirs) => typeof performance.timing.toJSON.call(theirs.performance.timing),
  'PerformanceNavigation.type': (theirs) =>
    Object.getOwnPropertyDescriptor(PerformanceNavigation.prototype, 'type').get.call(theirs.performance.navigation),
  'PerformanceEntry.name': (theirs) =>
    Object.getOwnPropertyDescriptor(PerformanceEntry.prototype, 'name').get.call(theirs.performance.mark('m')),
  'PerformanceEntry.startTime': (theirs) =>
    typeof Object.getOwnPropertyDescriptor(PerformanceEntry.prototype, 'startTime').get.call(
      theirs.performance.mark('m'),
    ),
  'PerformanceEntry.toJSON': (theirs) => typeof PerformanceEntry.prototype.toJSON.call(theirs.performance.mark('m')),
  'PerformanceMark.detail': (theirs) =>
    Object.getOwnPropertyDescriptor(PerformanceMark.prototype, 'detail').get.call(theirs.performance.mark('m')),
  'PerformanceMeasure.detail': (theirs) =>
    Object.getOwnPropertyDescriptor(PerformanceMeasure.prototype, 'detail').get.call(theirs.performance.measure('m')),
  'PerformanceObserver.observe': (theirs) =>
    PerformanceObserver.prototype.observe.call(new theirs.PerformanceObserver(() => {}), { type: 'mark' }),
  'PerformanceObserver.disconnect': (theirs) =>
    PerformanceObserver.prototype.disconnect.call(new theirs.PerformanceObserver(() => {})),
  'PerformanceObserver.takeRecords': (theirs) =>
    PerformanceObserver.prototype.takeRecords.call(new theirs.PerformanceObserver(() => {})),
  'PerformanceResourceTiming.initiatorType': (theirs) =>
    Object.getOwnPropertyDescriptor(PerformanceResourceTiming.prototype, 'initiatorType').get.call(
      theirs.performance.getEntriesByType('navigation')[0],
    ),
  'PerformanceNavigationTiming.type': (theirs) =>
    Object.getOwnPropertyDescriptor(PerformanceNavigationTiming.prototype, 'type').get.call(
      theirs.performance.getEntriesByType('navigation')[0],
    ),
  'Headers.get': (theirs) => Headers.prototype.get.call(new theirs.Headers({ a: 'b' }), 'a'),
  'Response.status': (theirs) =>
    Object.getOwnPropertyDescriptor(Response.prototype, 'status').get.call(new theirs.Response()),
  'Request.method': (theirs) =>
    Object.getOwnPropertyDescriptor(Request.prototype, 'method').get.call(new theirs.Request('/')),
  'MessagePort.postMessage': (theirs) => MessagePort.prototype.postMessage.call(new theirs.MessageChannel().port1, 1),
  'MessagePort that is transferred': (theirs) => {
    const { port1 } = new theirs.MessageChannel();
    postMessage(1, '*', [port1]);
    return 'sent';
  },
  'DOMRect.width': (theirs) =>
    Object.getOwnPropertyDescriptor(DOMRect.prototype, 'width').get.call(new theirs.DOMRect(1, 2, 3, 4)),
  'EventTarget.addEventListener': (theirs) =>
    EventTarget.prototype.addEventListener.call(theirs.performance, 'x', null),
  'EventTarget.dispatchEvent': (theirs) => EventTarget.prototype.dispatchEvent.call(theirs.performance, new Event('x')),
  'instanceof Profiler': (theirs) => start({}, { Profiler: theirs.Profiler }) instanceof Profiler,
  'instanceof EventTarget': (theirs) => start({}, { Profiler: theirs.Profiler }) instanceof EventTarget,
  'a promise of stop': (theirs) => start({}, { Profiler: theirs.Profiler }).stop() instanceof theirs.Promise,
  'a promise of our stop': (theirs) =>
    Profiler.prototype.stop.call(start({}, { Profiler: theirs.Profiler })) instanceof Promise,
  matchMedia: (theirs) => matchMedia.call(theirs, 'all').matches,
  setTimeout: (theirs) => typeof setTimeout.call(theirs, '', 0),
  fetch: (theirs) => Object.prototype.toString.call(fetch.call(theirs, 'data:,x')),
  structuredClone: (theirs) => structuredClone.call(theirs, { a: 1 }) instanceof Object,
  'structuredClone of theirs': (theirs) => theirs.structuredClone({ a: 1 }) instanceof theirs.Object,
  requestIdleCallback: (theirs) => typeof requestIdleCallback.call(theirs, () => {}),
};
let shared;
/** A frame that all these probes use. */
function sharedWindow() {
  shared ??= new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.src = answer('frame.html', '<!doctype html>');
    frame.addEventListener('load', () => resolve(frame.contentWindow), { once: true });
    document.body.append(frame);
  });
  return shared;
}
for (const [what, work] of Object.entries(BRANDS)) {
  probes(
    'an object of another window',
    {
      [what]: async () => {
        const theirs = await sharedWindow();
        theirs.performance.clearMarks();
        try {
          const said = work(theirs);
          const isPromise = Object.prototype.toString.call(said) === '[object Promise]';
          return isPromise ? settled(async () => typeof (await said)) : show(said);
        } catch (thrown) {
          return showThrown(thrown);
        }
      },
    },
    { file, variants },
  );
}

probes(
  'a message',
  {
    'of a window to itself': async () => {
      postMessage({ a: 1 }, '*');
      const { data, origin, source, ports, lastEventId, isTrusted, constructor } = await event(window, 'message');
      return [data, origin, source === window, ports.length, lastEventId, isTrusted, constructor === MessageEvent];
    },
    'of a frame': async () => {
      const listened = event(window, 'message');
      const frame = await frameWith("<script>parent.postMessage('x', '*');</script>");
      const { source, origin } = await listened;
      return [source === frame.contentWindow, origin];
    },
    'to a frame and back': async () => {
      const frame = await frameWith(
        "<script>onmessage = (e) => e.source.postMessage(['back', e.origin, e.source === parent], '*');</script>",
      );
      frame.contentWindow.postMessage('x', '*');
      const back = await Promise.race([event(window, 'message'), later(1000)]);
      return [back?.data, back?.source === frame.contentWindow];
    },
    'to a frame of another origin and back': async () => {
      const frame = await frameWith(
        "<script>onmessage = (e) => e.source.postMessage(['back', e.origin, e.source === parent], '*');</script>",
        { isOther: true },
      );
      frame.contentWindow.postMessage('x', '*');
      const back = await Promise.race([event(window, 'message'), later(1000)]);
      return [back?.data, back?.source === frame.contentWindow, back?.origin];
    },
    'with a port': async () => {
      const { port1, port2 } = new MessageChannel();
      postMessage('x', '*', [port2]);
      const { ports } = await event(window, 'message');
      return [
        ports.length,
        ports[0] === port2,
        ports[0] instanceof MessagePort,
        Object.isFrozen(ports),
        port1 instanceof MessagePort,
      ];
    },
    'through a port': async () => {
      const { port1, port2 } = new MessageChannel();
      port1.postMessage('x');
      const listened = event(port2, 'message');
      port2.start();
      const { data, origin, source } = await listened;
      return [data, origin, source];
    },
    'with onmessage of a port': async () => {
      const { port1, port2 } = new MessageChannel();
      const got = new Promise((resolve) => (port2.onmessage = resolve));
      port1.postMessage('x');
      return (await got).data;
    },
    'for another origin': async () => {
      postMessage('x', 'http://c.test');
      return await Promise.race([event(window, 'message').then(() => 'arrived'), later(50).then(() => 'nothing')]);
    },
    'for a wrong origin': () => outcome(() => postMessage('x', 'wrong')),
    'for /': async () => {
      postMessage('x', '/');
      return (await event(window, 'message')).data;
    },
    'with options': async () => {
      postMessage('x', { targetOrigin: '*' });
      return (await event(window, 'message')).data;
    },
    'of a function': () => outcome(() => postMessage(() => {}, '*')),
    'of a symbol': () => outcome(() => postMessage(Symbol(), '*')),
    'of a node': () => outcome(() => postMessage(document.body, '*')),
    'of the window': () => outcome(() => postMessage(window, '*')),
    'of a mark': () => outcome(() => postMessage(performance.mark('m'), '*')),
    'of an error': async () => {
      postMessage(new RangeError('text'), '*');
      const { data } = await event(window, 'message');
      return [data instanceof RangeError, data.message];
    },
    'of a Map': async () => {
      postMessage(new Map([[1, new Set([2])]]), '*');
      const { data } = await event(window, 'message');
      return [data instanceof Map, data.get(1) instanceof Set];
    },
    'of a buffer that is transferred': async () => {
      const buffer = new ArrayBuffer(8);
      postMessage(buffer, '*', [buffer]);
      const { data } = await event(window, 'message');
      return [data.byteLength, buffer.byteLength];
    },
    'of a buffer that is transferred twice': () => {
      const buffer = new ArrayBuffer(8);
      return outcome(() => postMessage(buffer, '*', [buffer, buffer]));
    },
    'without arguments': () => outcome(() => postMessage()),
    'arrives after a microtask': async () => {
      const order = [];
      postMessage('x', '*');
      queueMicrotask(() => order.push('microtask'));
      await event(window, 'message').then(() => order.push('message'));
      return order;
    },
    'arrive in order': async () => {
      const order = [];
      const done = new Promise((resolve) =>
        addEventListener('message', function listen({ data }) {
          order.push(data);
          if (data === 3) {
            removeEventListener('message', listen);
            resolve();
          }
        }),
      );
      for (const data of [1, 2, 3]) postMessage(data, '*');
      await done;
      return order;
    },
  },
  { file, variants },
);

probes(
  'a frame that is gone',
  {
    'performance.now': async () => {
      const frame = await frameWith('');
      const { performance: theirs } = frame.contentWindow;
      frame.remove();
      return outcome(() => typeof theirs.now());
    },
    'performance.mark': async () => {
      const frame = await frameWith('');
      const { performance: theirs } = frame.contentWindow;
      frame.remove();
      return outcome(() => theirs.mark('m'));
    },
    contentWindow: async () => {
      const frame = await frameWith('');
      frame.remove();
      return frame.contentWindow;
    },
    'window.closed': async () => {
      const frame = await frameWith('');
      const { contentWindow } = frame;
      frame.remove();
      return contentWindow.closed;
    },
    'window.parent': async () => {
      const frame = await frameWith('');
      const { contentWindow } = frame;
      frame.remove();
      return contentWindow.parent;
    },
    'a timer': async () => {
      const frame = await frameWith('');
      let called = false;
      frame.contentWindow.setTimeout(() => (called = true), 10);
      frame.remove();
      await later(40);
      return called;
    },
    'an observer': async () => {
      const frame = await frameWith('');
      let called = false;
      const { performance: theirs } = frame.contentWindow;
      new frame.contentWindow.PerformanceObserver(() => (called = true)).observe({ type: 'mark' });
      theirs.mark('m');
      frame.remove();
      await later(40);
      return called;
    },
    pagehide: async () => {
      const frame = await frameWith('');
      const seen = [];
      for (const type of ['beforeunload', 'pagehide', 'visibilitychange', 'unload'])
        frame.contentWindow.addEventListener(type, () => seen.push(type));
      frame.remove();
      await later(20);
      return seen;
    },
    'a message of it': async () => {
      const frame = await frameWith('');
      const { contentWindow } = frame;
      frame.remove();
      return outcome(() => contentWindow.postMessage('x', '*'));
    },
  },
  { file, variants },
);

probes(
  'a profiler and a frame',
  {
    'functions of a frame of this origin': async () => {
      const frame = await frameWith('<script>function framed() { return parent.startHere(); }</script>');
      window.startHere = () => start();
      const trace = await frame.contentWindow.framed().stop();
      return trace.frames.some(({ name }) => name === 'framed');
    },
    'functions of this window, in a profiler of a frame': async () => {
      const frame = await frameWith('');
      const trace = await start({}, { Profiler: frame.contentWindow.Profiler }).stop();
      return firstStack(trace)
        .map(({ name }) => name)
        .slice(0, 1);
    },
    'sampling goes on in both': async () => {
      const frame = await frameWith('');
      const [ours, theirs] = [start(), start({}, { Profiler: frame.contentWindow.Profiler })];
      await later(40);
      return [(await ours.stop()).samples.length > 1, (await theirs.stop()).samples.length > 1];
    },
  },
  { file, variants: ['policy', 'isolated'] },
);
