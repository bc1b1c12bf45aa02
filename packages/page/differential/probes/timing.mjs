// User Timing and the performance timeline.

import { probes } from '../page/probe.mjs';
import { outcome, show } from '../page/show.mjs';
import { VARIANT, addScript, answer, atEnd, event, fromWorker, later, readsOf } from '../page/surroundings.mjs';

const file = 'timing';

const VALUES = [
  'undefined',
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '1.5',
  'NaN',
  'Infinity',
  '10n',
  "''",
  "'m'",
  "'5'",
  "'navigationStart'",
  "'domComplete'",
  "'secureConnectionStart'",
  "'toJSON'",
  'Symbol()',
  '[]',
  '({})',
  '({ toString() { throw new EvalError(); } })',
  "'\\ud800'",
  "'\\0'",
  'document.body',
  '() => {}',
];
const valueOf = (text) => Function(`return (${text});`)();
/** What can be compared of an entry. */
const entryOf = (entry) => {
  const { name, entryType, detail, startTime, duration } = entry;
  const time = (ms) => (ms > 0 && ms !== Math.round(ms) ? 'a time' : ms);
  return [
    name,
    entryType,
    detail ?? null,
    startTime > 20 ? 'a time' : time(startTime),
    duration > 20 ? 'a time' : time(duration),
  ];
};
for (const text of VALUES) {
  probes(
    'performance.mark',
    {
      [`name ${text}`]: () => entryOf(performance.mark(valueOf(text))).slice(0, 2),
      [`options ${text}`]: () => entryOf(performance.mark('m', valueOf(text))).slice(0, 2),
      [`startTime ${text}`]: () => entryOf(performance.mark('m', { startTime: valueOf(text) })),
      [`detail ${text}`]: () => show(performance.mark('m', { detail: valueOf(text) }).detail),
    },
    { file },
  );
  probes(
    'performance.measure',
    {
      [`name ${text}`]: () => entryOf(performance.measure(valueOf(text))).slice(0, 2),
      [`start ${text}`]: () => outcome(() => entryOf(performance.measure('n', valueOf(text))).slice(0, 4)),
      [`end ${text}`]: () =>
        outcome(() => entryOf(performance.measure('n', 'navigationStart', valueOf(text))).slice(0, 4)),
      [`options.start ${text}`]: () =>
        outcome(() => entryOf(performance.measure('n', { start: valueOf(text) })).slice(0, 4)),
      [`options.duration ${text}`]: () =>
        outcome(() => entryOf(performance.measure('n', { start: 1, duration: valueOf(text) }))),
    },
    { file },
  );
  probes(
    'performance',
    {
      [`getEntriesByName(${text})`]: () => outcome(() => performance.getEntriesByName(valueOf(text)).length),
      [`getEntriesByType(${text})`]: () => outcome(() => performance.getEntriesByType(valueOf(text)).length),
      [`clearMarks(${text})`]: () => {
        performance.mark('m');
        performance.mark('null');
        performance.mark('5');
        return [
          outcome(() => performance.clearMarks(valueOf(text))),
          performance.getEntriesByType('mark').map(({ name }) => name),
        ];
      },
      [`setResourceTimingBufferSize(${text})`]: () => {
        const said = outcome(() => performance.setResourceTimingBufferSize(valueOf(text)));
        performance.setResourceTimingBufferSize(250);
        return said;
      },
    },
    { file },
  );
  probes(
    'new PerformanceMark',
    { [text]: () => outcome(() => entryOf(new PerformanceMark(valueOf(text))).slice(0, 2)) },
    { file },
  );
  probes(
    'PerformanceObserver',
    {
      [`constructed with ${text}`]: () => outcome(() => new PerformanceObserver(valueOf(text))),
      [`observe(${text})`]: () => outcome(() => new PerformanceObserver(() => {}).observe(valueOf(text))),
      [`type ${text}`]: () => outcome(() => new PerformanceObserver(() => {}).observe({ type: valueOf(text) })),
      [`entryTypes ${text}`]: () =>
        outcome(() => new PerformanceObserver(() => {}).observe({ entryTypes: valueOf(text) })),
    },
    { file },
  );
}

probes(
  'performance.measure',
  {
    'between marks': () => {
      performance.mark('a', { startTime: 1 });
      performance.mark('b', { startTime: 4 });
      return entryOf(performance.measure('n', 'a', 'b'));
    },
    'of the latest mark': () => {
      performance.mark('a', { startTime: 5 });
      performance.mark('a', { startTime: 2 });
      return entryOf(performance.measure('n', { start: 'a', duration: 1 }));
    },
    'a negative duration': () => entryOf(performance.measure('n', { start: 5, end: 2 })),
    'duration and end': () => entryOf(performance.measure('n', { duration: 2, end: 5 })),
    'start, duration and end': () => outcome(() => performance.measure('n', { start: 1, duration: 2, end: 5 })),
    'empty options': () => outcome(() => entryOf(performance.measure('n', {}))),
    'options and an end mark': () => outcome(() => performance.measure('n', { start: 1 }, 'm')),
    'only detail': () => outcome(() => performance.measure('n', { detail: 5 }).detail),
    'detail and an end mark': () => outcome(() => performance.measure('n', { detail: 5 }, 'm')),
    'both marks are missing': () => outcome(() => performance.measure('n', 'x', 'y')),
    'a detail that cannot be cloned': () => outcome(() => performance.measure('n', { start: 1, detail: () => {} })),
    'order of reads': () => readsOf((options) => performance.measure('n', options)),
    'order of reads of a mark': () => readsOf((options) => performance.mark('n', options)),
    'order of reads of an observer': () => readsOf((options) => new PerformanceObserver(() => {}).observe(options)),
  },
  { file },
);

for (const name of [
  'navigationStart',
  'unloadEventStart',
  'redirectStart',
  'fetchStart',
  'domainLookupStart',
  'connectStart',
  'requestStart',
  'responseStart',
  'responseEnd',
  'domLoading',
  'domInteractive',
  'domContentLoadedEventStart',
  'loadEventEnd',
]) {
  probes(
    'an attribute of performance.timing',
    {
      [`mark('${name}')`]: () => outcome(() => performance.mark(name)),
      [`measure from ${name}`]: () => outcome(() => typeof performance.measure('n', name).startTime),
      [`value of ${name}`]: () => {
        const value = performance.timing[name];
        return value === 0 ? 0 : typeof value;
      },
    },
    { file },
  );
}

probes(
  'entries',
  {
    'toJSON of a mark': () => Object.keys(performance.mark('m').toJSON()),
    'toJSON of a measure': () => Object.keys(performance.measure('m').toJSON()),
    'JSON of a mark': () => Object.keys(JSON.parse(JSON.stringify(performance.mark('m')))).sort(),
    'are the same object each time': () => performance.mark('m') === performance.getEntriesByName('m')[0],
    'detail is the same object each time': () => {
      const mark = performance.mark('m', { detail: {} });
      return mark.detail === mark.detail;
    },
    'detail is a copy': () => {
      const detail = { a: 1 };
      return performance.mark('m', { detail }).detail === detail;
    },
    'in the order of their times': () => {
      performance.mark('b', { startTime: 5 });
      performance.mark('a', { startTime: 1 });
      performance.measure('c', { start: 3, duration: 1 });
      return performance
        .getEntries()
        .filter(({ name }) => 'abc'.includes(name))
        .map(({ name }) => name);
    },
    'of equal times': () => {
      for (const name of ['b', 'a', 'c']) performance.mark(name, { startTime: 1 });
      return performance.getEntriesByType('mark').map(({ name }) => name);
    },
    'getEntries gives a new array': () => performance.getEntries() === performance.getEntries(),
    'types at first': () =>
      [...new Set(performance.getEntries().map(({ entryType }) => entryType))].filter((type) =>
        ['navigation', 'resource', 'mark'].includes(type),
      ),
    'getEntriesByName with a type': () => {
      performance.mark('m');
      performance.measure('m');
      return performance.getEntriesByName('m', 'measure').length;
    },
    'getEntriesByName with an undefined type': () => {
      performance.mark('m');
      performance.measure('m');
      return performance.getEntriesByName('m', undefined).length;
    },
    'getEntriesByName with a null type': () => {
      performance.mark('m');
      return performance.getEntriesByName('m', null).length;
    },
    'supported types that both have': () =>
      ['longtask', 'mark', 'measure', 'navigation', 'resource'].filter((type) =>
        PerformanceObserver.supportedEntryTypes.includes(type),
      ),
    'supported types': () => PerformanceObserver.supportedEntryTypes,
    'supported types are frozen': () => Object.isFrozen(PerformanceObserver.supportedEntryTypes),
    'supported types are one object': () =>
      PerformanceObserver.supportedEntryTypes === PerformanceObserver.supportedEntryTypes,
    'a mark of a worker': () =>
      fromWorker(
        "performance.mark('navigationStart'); postMessage(performance.getEntriesByType('mark').map(({ name }) => name))",
      ),
    'a measure of a worker': () =>
      fromWorker(
        "let said; try { performance.measure('m', 'navigationStart'); } catch (error) { said = error.name; } postMessage(said)",
      ),
    'the navigation': () => {
      const { name, entryType, startTime, type, redirectCount, initiatorType } =
        performance.getEntriesByType('navigation')[0];
      return [name === location.href, entryType, startTime, type, redirectCount, initiatorType];
    },
    'a resource': async () => {
      performance.clearResourceTimings();
      await (await fetch(answer('data.txt', 'text'))).text();
      await later(20);
      const {
        entryType,
        initiatorType,
        responseStatus,
        contentType,
        decodedBodySize,
        encodedBodySize,
        transferSize,
        nextHopProtocol,
      } = performance.getEntriesByType('resource')[0];
      return [
        entryType,
        initiatorType,
        responseStatus,
        contentType,
        decodedBodySize,
        encodedBodySize,
        transferSize > 0,
        nextHopProtocol,
      ];
    },
    'a resource of another origin': async () => {
      performance.clearResourceTimings();
      await (
        await fetch(answer('data.txt', 'text', { isOther: true, headers: { 'access-control-allow-origin': '*' } }))
      ).text();
      await later(20);
      const {
        responseStatus,
        contentType,
        decodedBodySize,
        encodedBodySize,
        transferSize,
        nextHopProtocol,
        requestStart,
        redirectStart,
      } = performance.getEntriesByType('resource')[0];
      return [
        responseStatus,
        contentType,
        decodedBodySize,
        encodedBodySize,
        transferSize,
        nextHopProtocol,
        requestStart,
        redirectStart,
      ];
    },
    'a resource that allows its times': async () => {
      performance.clearResourceTimings();
      await (
        await fetch(
          answer('data.txt', 'text', {
            isOther: true,
            headers: { 'access-control-allow-origin': '*', 'timing-allow-origin': '*' },
          }),
        )
      ).text();
      await later(20);
      const { responseStatus, decodedBodySize, requestStart } = performance.getEntriesByType('resource')[0];
      return [responseStatus, decodedBodySize, requestStart > 0];
    },
    'a resource that fails': async () => {
      performance.clearResourceTimings();
      await fetch(answer('data.txt', 'text', { isOther: true })).catch(() => {});
      await later(20);
      return performance
        .getEntriesByType('resource')
        .map(({ initiatorType, responseStatus }) => [initiatorType, responseStatus]);
    },
    'a script': async () => {
      performance.clearResourceTimings();
      await addScript({ src: answer('script.js', '') });
      return performance
        .getEntriesByType('resource')
        .map(({ initiatorType, renderBlockingStatus }) => [initiatorType, renderBlockingStatus]);
    },
    'the buffer of resources': async () => {
      performance.clearResourceTimings();
      performance.setResourceTimingBufferSize(1);
      const full = event(performance, 'resourcetimingbufferfull');
      for (const body of ['1', '2']) await (await fetch(answer('data.txt', body))).text();
      const { isTrusted, bubbles, cancelable } = await full;
      performance.setResourceTimingBufferSize(250);
      return [isTrusted, bubbles, cancelable];
    },
  },
  { file },
);

/** What an observer is called with. */
const observed = (options, work) =>
  new Promise((resolve) => {
    const observer = new PerformanceObserver((...parameters) => resolve(parameters));
    atEnd(() => observer.disconnect());
    observer.observe(options);
    work(observer);
    later(100).then(() => resolve([{ getEntries: () => [] }]));
  });
probes(
  'an observer',
  {
    'is called with': async () => {
      const [list, observer, options] = await observed({ type: 'mark' }, () => performance.mark('m'));
      return [show(list), show(observer), Object.keys(options ?? {})];
    },
    'gets all entries at once': async () => {
      const [list] = await observed({ type: 'mark' }, () => {
        performance.mark('a');
        performance.mark('b');
      });
      return list.getEntries().map(({ name }) => name);
    },
    'gets buffered entries': async () => {
      performance.mark('a');
      const [list] = await observed({ type: 'mark', buffered: true }, () => {});
      return list.getEntries().map(({ name }) => name);
    },
    'buffered of entryTypes': async () => {
      performance.mark('a');
      const [list] = await observed({ entryTypes: ['mark'], buffered: true }, () => {});
      return list.getEntries().map(({ name }) => name);
    },
    'of an unknown type': () => outcome(() => new PerformanceObserver(() => {}).observe({ type: 'unknown' })),
    'of unknown types': () => outcome(() => new PerformanceObserver(() => {}).observe({ entryTypes: ['unknown'] })),
    'type after entryTypes': () => {
      const observer = new PerformanceObserver(() => {});
      observer.observe({ entryTypes: ['mark'] });
      return outcome(() => observer.observe({ type: 'mark' }));
    },
    'entryTypes after type': () => {
      const observer = new PerformanceObserver(() => {});
      observer.observe({ type: 'mark' });
      return outcome(() => observer.observe({ entryTypes: ['mark'] }));
    },
    'type after disconnect': () => {
      const observer = new PerformanceObserver(() => {});
      observer.observe({ entryTypes: ['mark'] });
      observer.disconnect();
      return outcome(() => observer.observe({ type: 'mark' }));
    },
    'type and entryTypes': () =>
      outcome(() => new PerformanceObserver(() => {}).observe({ type: 'mark', entryTypes: ['mark'] })),
    takeRecords: async () => {
      const observer = new PerformanceObserver(() => {});
      observer.observe({ type: 'mark' });
      performance.mark('a');
      const taken = observer.takeRecords().map(({ name }) => name);
      observer.disconnect();
      return taken;
    },
    'after a microtask': async () => {
      const order = [];
      await observed({ type: 'mark' }, () => {
        performance.mark('m');
        queueMicrotask(() => order.push('microtask'));
      }).then(() => order.push('observer'));
      return order;
    },
    this: () =>
      new Promise((resolve) => {
        const observer = new PerformanceObserver(function () {
          resolve(this === observer);
          observer.disconnect();
        });
        observer.observe({ type: 'mark' });
        performance.mark('m');
      }),
    droppedEntriesCount: async () => {
      const [, , options] = await observed({ type: 'mark' }, () => performance.mark('m'));
      return options?.droppedEntriesCount;
    },
    'several are called in order': async () => {
      const order = [];
      const all = [1, 2, 3].map((number) => {
        const observer = new PerformanceObserver(() => order.push(number));
        observer.observe({ type: 'mark' });
        return observer;
      });
      performance.mark('m');
      await later(50);
      for (const observer of all) observer.disconnect();
      return order;
    },
    'getEntriesByName of a list': async () => {
      const [list] = await observed({ type: 'mark' }, () => {
        performance.mark('a');
        performance.mark('b');
      });
      return list.getEntriesByName('b').length;
    },
    'a list is iterable': async () => {
      const [list] = await observed({ type: 'mark' }, () => performance.mark('a'));
      return Symbol.iterator in list;
    },
  },
  { file },
);

probes(
  'the clock',
  {
    'resolution of performance.now': () => {
      const grid = VARIANT === 'isolated' ? 0.005 : 0.1;
      const steps = performance.now() / grid;
      return Math.abs(steps - Math.round(steps)) < 1e-3;
    },
    'resolution of a mark': () => {
      const grid = VARIANT === 'isolated' ? 0.005 : 0.1;
      const steps = performance.mark('m').startTime / grid;
      return Math.abs(steps - Math.round(steps)) < 1e-3;
    },
    'timeOrigin and now are near Date.now': () =>
      Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 1000,
    'timeOrigin is the same each time': () => performance.timeOrigin === performance.timeOrigin,
    'timing.navigationStart is near timeOrigin': () =>
      Math.abs(performance.timing.navigationStart - performance.timeOrigin) < 2,
    'does not go back': () => {
      let last = 0;
      for (let count = 0; count < 1000; count++) {
        const now = performance.now();
        if (now < last) return false;
        last = now;
      }
      return true;
    },
    'of a worker begins anew': () => fromWorker('postMessage(performance.now() < 5000)'),
    'event.timeStamp': () => {
      const { timeStamp } = new Event('x');
      return [timeStamp <= performance.now(), timeStamp > performance.now() - 100];
    },
    'event.timeStamp of a click': () =>
      new Promise((resolve) => {
        const button = document.createElement('button');
        button.onclick = ({ timeStamp }) => resolve(Math.abs(timeStamp - performance.now()) < 1000);
        button.click();
      }),
    'resolution of event.timeStamp': () => {
      const grid = VARIANT === 'isolated' ? 0.005 : 0.1;
      const steps = new Event('x').timeStamp / grid;
      return Math.abs(steps - Math.round(steps)) < 1e-2;
    },
    requestAnimationFrame: async () => {
      const time = await new Promise(requestAnimationFrame);
      return Math.abs(time - performance.now()) < 1000;
    },
    'performance.toJSON': () => Object.keys(performance.toJSON()),
    crossOriginIsolated: () => crossOriginIsolated,
    'crossOriginIsolated of a worker': () => fromWorker('postMessage(crossOriginIsolated)'),
    isSecureContext: () => isSecureContext,
  },
  { file },
);
