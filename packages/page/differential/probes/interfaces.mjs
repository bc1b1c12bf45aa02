// The interfaces that selfprof defines in windows, member by member: places, property attributes, names, brand checks.

import { probes } from '../page/probe.mjs';
import { outcome, show, showThrown } from '../page/show.mjs';
import { fromWorker } from '../page/surroundings.mjs';

const file = 'interfaces';

/** Members by interface: `name` is an attribute, `name=` can be set, `name()` is an operation, `name#` a constant. */
const MEMBERS = {
  Profiler: 'sampleInterval stopped stop()',
  Performance:
    'timeOrigin onresourcetimingbufferfull= clearMarks() clearMeasures() clearResourceTimings() getEntries() ' +
    'getEntriesByName() getEntriesByType() mark() measure() setResourceTimingBufferSize() toJSON() now() timing navigation ' +
    'memory eventCounts interactionCount',
  PerformanceEntry: 'name entryType startTime duration toJSON() navigationId',
  PerformanceMark: 'detail',
  PerformanceMeasure: 'detail',
  PerformanceObserver: 'disconnect() observe() takeRecords()',
  PerformanceObserverEntryList: 'getEntries() getEntriesByName() getEntriesByType()',
  PerformanceResourceTiming:
    'initiatorType nextHopProtocol deliveryType workerStart redirectStart redirectEnd fetchStart domainLookupStart ' +
    'domainLookupEnd connectStart connectEnd secureConnectionStart requestStart responseStart responseEnd transferSize ' +
    'encodedBodySize decodedBodySize renderBlockingStatus responseStatus contentType contentEncoding ' +
    'finalResponseHeadersStart firstInterimResponseStart toJSON()',
  PerformanceNavigationTiming:
    'unloadEventStart unloadEventEnd domInteractive domContentLoadedEventStart domContentLoadedEventEnd domComplete ' +
    'loadEventStart loadEventEnd type redirectCount criticalCHRestart notRestoredReasons toJSON()',
  PerformanceTiming:
    'navigationStart unloadEventStart unloadEventEnd redirectStart redirectEnd fetchStart domainLookupStart ' +
    'domainLookupEnd connectStart connectEnd secureConnectionStart requestStart responseStart responseEnd domLoading ' +
    'domInteractive domContentLoadedEventStart domContentLoadedEventEnd domComplete loadEventStart loadEventEnd toJSON()',
  PerformanceNavigation: 'type redirectCount TYPE_NAVIGATE# TYPE_RELOAD# TYPE_BACK_FORWARD# TYPE_RESERVED# toJSON()',
  PerformanceLongTaskTiming: 'attribution toJSON()',
  TaskAttributionTiming: 'containerType containerSrc containerId containerName toJSON()',
  MessageChannel: 'port1 port2',
  MessagePort: 'onmessage= onmessageerror= close() postMessage() start()',
  Headers: 'append() delete() get() getSetCookie() has() set() entries() forEach() keys() values()',
  Request:
    'method url headers destination referrer referrerPolicy mode credentials cache redirect integrity keepalive signal ' +
    'duplex bodyUsed arrayBuffer() blob() clone() formData() json() text() body bytes()',
  Response:
    'type url redirected status ok statusText headers body bodyUsed arrayBuffer() blob() clone() formData() json() text() bytes()',
  DOMRectReadOnly: 'x y width height top right bottom left toJSON()',
  DOMRect: 'x= y= width= height=',
  MediaQueryList: 'media matches onchange= addListener() removeListener()',
  IdleDeadline: 'didTimeout timeRemaining()',
  IntersectionObserver: 'root rootMargin thresholds disconnect() observe() takeRecords() unobserve()',
  IntersectionObserverEntry:
    'time rootBounds boundingClientRect intersectionRect isIntersecting intersectionRatio target',
  ResizeObserver: 'disconnect() observe() unobserve()',
  Worker: 'onmessage= postMessage() terminate() onerror=',
};

/** Objects of the interfaces, for brand checks with an object of another interface. */
const STRANGERS = { Profiler: () => performance, Performance: () => new EventTarget() };

/** Which attributes a property has, and what it holds. */
function describe(object, key) {
  const property = Object.getOwnPropertyDescriptor(object, key);
  if (property === undefined) return 'absent';
  const flags = ['enumerable', 'configurable', 'writable'].filter((flag) => property[flag]).join(' ');
  const kind =
    property.get || property.set
      ? [property.get && 'get', property.set && 'set'].filter(Boolean).join('+')
      : typeof property.value;
  return `${kind}, ${flags}`;
}

function functionsOf(object, key) {
  const { get, set, value } = Object.getOwnPropertyDescriptor(object, key) ?? {};
  return [get, set, value].filter((part) => typeof part === 'function');
}

/** Calls what a member consists of on an object that may not have it. */
async function callOn(object, key, receiver) {
  const results = [];
  for (const part of functionsOf(object, key)) {
    try {
      const result = Reflect.apply(part, receiver, []);
      const isPromise = Object.prototype.toString.call(result) === '[object Promise]';
      results.push(isPromise ? `promise: ${await result.then(show, showThrown)}` : show(result));
    } catch (thrown) {
      results.push(showThrown(thrown));
    }
  }
  return results.join('; ');
}

const of = (name) => globalThis[name];
const native = (part) => Function.prototype.toString.call(part).replace(/\s+/g, ' ');

for (const [name, list] of Object.entries(MEMBERS)) {
  probes(
    name,
    {
      'the property of the window': () => describe(globalThis, name),
      'its name and length': () => show(of(name)),
      'its text': () => native(of(name)),
      'its own properties': () => Reflect.ownKeys(of(name)).map(String).sort().join(' '),
      'the order of its own properties': () => Reflect.ownKeys(of(name)).map(String).join(' '),
      'the property prototype': () => describe(of(name), 'prototype'),
      'what it inherits from': () => Object.getPrototypeOf(of(name)).name,
      'what its prototype inherits from': () => Object.getPrototypeOf(of(name).prototype).constructor.name,
      'the members': () => Reflect.ownKeys(of(name).prototype).map(String).sort().join(' '),
      'the order of the members': () => Object.keys(of(name).prototype).join(' '),
      'its string tag': () =>
        `${describe(of(name).prototype, Symbol.toStringTag)} ${of(name).prototype[Symbol.toStringTag]}`,
      'the property constructor': () => describe(of(name).prototype, 'constructor'),
      'called without new': () => outcome(() => of(name)()),
      'constructed without arguments': () => outcome(() => new (of(name))()),
      'constructed by Reflect.construct for another class': () =>
        outcome(() => Object.getPrototypeOf(Reflect.construct(of(name), [], class Other {})).constructor.name),
    },
    { file },
  );

  for (const marked of list.split(' ')) {
    const [, member, kind] = /^(\w+)(\W*)$/.exec(marked);
    const prototype = () => of(name).prototype;
    probes(
      `${name}.${member}`,
      {
        'the property': () =>
          [describe(prototype(), member), ...functionsOf(prototype(), member).map((part) => show(part))].join('; '),
      },
      { file },
    );
    if (kind === '#') continue;
    probes(
      `${name}.${member}`,
      {
        'its text': () => functionsOf(prototype(), member).map(native).join('; '),
        'brand checks': async () =>
          (
            await Promise.all(
              [prototype(), STRANGERS[name]?.() ?? {}, undefined].map((receiver) =>
                callOn(prototype(), member, receiver),
              ),
            )
          ).join(' | '),
      },
      { file },
    );
  }
  probes(
    name,
    {
      'members that can be constructed': () =>
        Reflect.ownKeys(of(name).prototype)
          .filter((key) => key !== 'constructor')
          .flatMap((key) => functionsOf(of(name).prototype, key))
          .filter(isConstructor)
          .map((part) => part.name)
          .join(' '),
    },
    { file },
  );
}

function isConstructor(part) {
  try {
    Reflect.construct(Object, [], part);
    return true;
  } catch {
    return false;
  }
}

probes(
  'interfaces',
  {
    'in a worker': () =>
      fromWorker(`postMessage(${JSON.stringify(Object.keys(MEMBERS))}.filter((name) => name in globalThis).join(' '))`),
  },
  { file },
);

/** Globals that are not interfaces. */
const GLOBALS = [
  'performance',
  'isSecureContext',
  'crossOriginIsolated',
  'SharedArrayBuffer',
  'structuredClone',
  'fetch',
  'matchMedia',
  'requestIdleCallback',
  'cancelIdleCallback',
  'requestAnimationFrame',
  'cancelAnimationFrame',
  'queueMicrotask',
  'reportError',
  'setTimeout',
  'setInterval',
  'clearTimeout',
  'clearInterval',
  'origin',
  'postMessage',
  'localStorage',
  'sessionStorage',
  'onmessage',
  'onmessageerror',
  'onpagehide',
  'onbeforeunload',
  'onunload',
  'onvisibilitychange',
  'ErrorEvent',
  'process',
  'require',
  'Buffer',
  'global',
  'setImmediate',
  'WebAssembly',
  'Atomics',
  'WeakRef',
  'FinalizationRegistry',
];
for (const name of GLOBALS) {
  probes(
    `window.${name}`,
    {
      'the property': () =>
        [
          describe(globalThis, name),
          name in globalThis,
          Object.keys(globalThis).includes(name),
          ...functionsOf(globalThis, name).map((part) => show(part)),
        ].join('; '),
      'its text': () => functionsOf(globalThis, name).map(native).join('; '),
    },
    { file },
  );
}
