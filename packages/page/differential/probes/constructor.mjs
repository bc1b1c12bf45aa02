// The constructor of `Profiler`, and how it converts its options.

import { probes } from '../page/probe.mjs';
import { outcome, settled, show } from '../page/show.mjs';
import { frameWith } from '../page/surroundings.mjs';
import { start } from '../page/profiling.mjs';

const file = 'constructor';

/** Constructs a profiler, stops it, and shows which interval it got. */
function intervalOf(options) {
  const profiler = new Profiler(options);
  const { sampleInterval } = profiler;
  profiler.stop();
  return sampleInterval;
}

const SIZE = { maxBufferSize: 100 };
const INTERVAL = { sampleInterval: 10 };

/** Values of an option, as JavaScript text. */
const VALUES = [
  'undefined',
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1',
  '-1',
  '0.5',
  '10',
  '100',
  '-0.5',
  'NaN',
  'Infinity',
  '-Infinity',
  '2 ** 31',
  '2 ** 32',
  '2 ** 53',
  '1e300',
  '10n',
  "''",
  "'10'",
  "'ten'",
  "' 10 '",
  "'0x10'",
  "'1e1'",
  "'10n'",
  'Symbol()',
  'Symbol.iterator',
  '[]',
  '[10]',
  '[1, 2]',
  '({})',
  '({ valueOf: () => 10 })',
  "({ toString: () => '10' })",
  '({ valueOf: () => 10n })',
  "({ valueOf: () => { throw new EvalError('own'); } })",
  'new Date(10)',
  'new Number(10)',
  "new String('10')",
  '() => 10',
  'document.all',
  '({ [Symbol.toPrimitive]: () => 10 })',
  '({ [Symbol.toPrimitive]: 1 })',
  '({ valueOf: () => ({}), toString: () => ({}) })',
];
const valueOf = (text) => Function(`return (${text});`)();

for (const text of VALUES) {
  probes(
    'the constructor',
    {
      [`sampleInterval: ${text}`]: () => show(typeof intervalOf({ ...SIZE, sampleInterval: valueOf(text) })),
      [`maxBufferSize: ${text}`]: () => intervalOf({ ...INTERVAL, maxBufferSize: valueOf(text) }) > 0,
      [`called with ${text}`]: () => intervalOf(valueOf(text)) > 0,
    },
    { file },
  );
}

/** Options whose members note when they are read. */
function noting(members, log) {
  return new Proxy(members, {
    get(target, key) {
      log.push(`get ${String(key)}`);
      return target[key];
    },
    has(_, key) {
      log.push(`has ${String(key)}`);
      return true;
    },
    ownKeys(target) {
      log.push('ownKeys');
      return Reflect.ownKeys(target);
    },
  });
}
/** A value that notes when it is converted. */
const converted = (log, name, value) => ({ valueOf: () => (log.push(`convert ${name}`), value) });
/** The members that Chromium knows. */
const STANDARD = /sampleInterval|maxBufferSize|ownKeys|has/;

probes(
  'the options',
  {
    'are read in this order': () => {
      const log = [];
      intervalOf(
        noting(
          { sampleInterval: converted(log, 'sampleInterval', 10), maxBufferSize: converted(log, 'maxBufferSize', 9) },
          log,
        ),
      );
      return log.filter((line) => STANDARD.test(line));
    },
    'are all read': () => {
      const log = [];
      intervalOf(noting({ sampleInterval: 10, maxBufferSize: 9 }, log));
      return log;
    },
    'until one is missing': () => {
      const log = [];
      return [
        outcome(() => intervalOf(noting({ sampleInterval: 10 }, log))),
        ...log.filter((line) => STANDARD.test(line)),
      ];
    },
    'when both are missing': () => {
      const log = [];
      return [outcome(() => intervalOf(noting({}, log))), ...log.filter((line) => STANDARD.test(line))];
    },
    'until one throws': () => {
      const log = [];
      const options = noting(
        {
          get maxBufferSize() {
            throw new URIError('own');
          },
          sampleInterval: 10,
        },
        log,
      );
      return [outcome(() => intervalOf(options)), ...log.filter((line) => STANDARD.test(line))];
    },
    'are read once': () => {
      let reads = 0;
      intervalOf({
        get sampleInterval() {
          reads++;
          return 10;
        },
        maxBufferSize: 10,
      });
      return reads;
    },
    'may be inherited': () => intervalOf(Object.create({ sampleInterval: 10, maxBufferSize: 10 })),
    'may be without a prototype': () => intervalOf({ __proto__: null, sampleInterval: 10, maxBufferSize: 10 }),
    'may be a function': () => intervalOf(Object.assign(() => {}, { sampleInterval: 10, maxBufferSize: 10 })),
    'may be an array': () => intervalOf(Object.assign([], { sampleInterval: 10, maxBufferSize: 10 })),
    'may be a frozen object': () => intervalOf(Object.freeze({ sampleInterval: 10, maxBufferSize: 10 })),
    'may have other members': () => intervalOf({ sampleInterval: 10, maxBufferSize: 10, another: 1 }),
    'may be a revoked proxy': () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return intervalOf(proxy);
    },
    'an error of a frame': async () => {
      const frame = await frameWith('');
      return outcome(() => new frame.contentWindow.Profiler({ sampleInterval: -1, maxBufferSize: 1 }));
    },
    'interval 0 becomes the least one': () => intervalOf({ ...SIZE, sampleInterval: 0 }) > 0,
    'an interval that is a multiple': () => intervalOf({ ...SIZE, sampleInterval: 30 }),
    'an interval of 10': () => intervalOf({ ...SIZE, sampleInterval: 10 }),
    'an interval of 100': () => intervalOf({ ...SIZE, sampleInterval: 100 }),
    'an interval of 1': () => intervalOf({ ...SIZE, sampleInterval: 1 }),
    'an interval of 11': () => intervalOf({ ...SIZE, sampleInterval: 11 }),
    'an interval of 15': () => intervalOf({ ...SIZE, sampleInterval: 15 }),
    'an interval of 10.5': () => intervalOf({ ...SIZE, sampleInterval: 10.5 }),
    'an interval of 1000': () => intervalOf({ ...SIZE, sampleInterval: 1000 }),
    'an interval beyond 32 bits of microseconds': () =>
      outcome(() => intervalOf({ ...SIZE, sampleInterval: 2 ** 31 / 1000 })),
    'an interval just below that': () => outcome(() => intervalOf({ ...SIZE, sampleInterval: 2147480 })),
  },
  { file },
);

probes(
  'new Profiler',
  {
    'with a second argument': () => {
      const profiler = new Profiler({ ...SIZE, ...INTERVAL }, 5);
      profiler.stop();
      return profiler.stopped;
    },
    'gives an event target': () => start() instanceof EventTarget,
    'gives own properties': () => Reflect.ownKeys(start()),
    'text of the object': () => String(start()),
    'as JSON': () => JSON.stringify(start()),
    spread: () => ({ ...start() }),
    'for in': () => {
      const keys = [];
      for (const key in start()) keys.push(key);
      return keys.sort();
    },
    'for in, in order': () => {
      const keys = [];
      for (const key in start()) keys.push(key);
      return keys;
    },
    'of a subclass': () => {
      class Own extends Profiler {
        extra() {
          return 1;
        }
      }
      const own = start({}, { Profiler: Own });
      return [own instanceof Own, own instanceof Profiler, own.extra(), own.stopped, String(own)];
    },
    'with new.target without a prototype': () => {
      function Other() {}
      Other.prototype = null;
      const made = Reflect.construct(Profiler, [{ ...SIZE, ...INTERVAL }], Other);
      Profiler.prototype.stop.call(made);
      return Object.getPrototypeOf(made) === Profiler.prototype;
    },
    'with new.target whose prototype throws': () => {
      const Other = new Proxy(() => {}, {
        get() {
          throw new EvalError('own');
        },
      });
      return outcome(() => Reflect.construct(Profiler, [{ ...SIZE, ...INTERVAL }], Other));
    },
    'order of new.target and the options': () => {
      const log = [];
      const Other = new Proxy(() => {}, {
        get(target, key) {
          log.push(`new.target.${String(key)}`);
          return target[key];
        },
      });
      outcome(() =>
        Profiler.prototype.stop.call(Reflect.construct(Profiler, [noting({ ...SIZE, ...INTERVAL }, log)], Other)),
      );
      return log.filter((line) => /new\.target|sampleInterval|maxBufferSize/.test(line));
    },
    'order of new.target and an error': () => {
      const log = [];
      const Other = new Proxy(() => {}, {
        get(target, key) {
          log.push(String(key));
          return target[key];
        },
      });
      return [outcome(() => Reflect.construct(Profiler, [{}], Other)), ...log];
    },
    called: () => outcome(() => Profiler({ ...SIZE, ...INTERVAL })),
    'applied to a profiler': () => outcome(() => Profiler.call(start(), { ...SIZE, ...INTERVAL })),
    'can be structured-cloned': () => outcome(() => structuredClone(start())),
    'can be posted': () => outcome(() => postMessage(start(), '*')),
    'is the same class in each read': () => Profiler === window.Profiler,
    'can be replaced': () => {
      const original = Profiler;
      window.Profiler = 5;
      const replaced = window.Profiler;
      window.Profiler = original;
      return replaced;
    },
    'can be constructed 90 times': () => {
      const made = Array.from({ length: 90 }, () => start());
      return new Set(made).size;
    },
  },
  { file },
);

probes(
  'the limit of 100 profilers',
  {
    'the 101st': () => {
      const results = Array.from({ length: 101 }, () => outcome(() => start()));
      return [results.lastIndexOf('a Profiler') + 1, results.at(-1)];
    },
    'counts no stopped ones': async () => {
      for (let count = 0; count < 110; count++) await start().stop();
      return outcome(() => start());
    },
    'a place becomes free at once': () => {
      const all = Array.from({ length: 100 }, () => start());
      all[0].stop();
      return outcome(() => start());
    },
    'is for a frame too': async () => {
      const frame = await frameWith('');
      for (let count = 0; count < 100; count++) start();
      return outcome(() => typeof start({}, { Profiler: frame.contentWindow.Profiler }));
    },
  },
  { file },
);

/** Prototypes that a page has changed must not matter beyond what WebIDL reads. */
const pollute = (name, value) => {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true });
};
probes(
  'a changed Object.prototype',
  {
    'sampleInterval is inherited': () => {
      pollute('sampleInterval', 20);
      return outcome(() => intervalOf({ maxBufferSize: 10 }));
    },
    'sampleInterval is wrong': () => {
      pollute('sampleInterval', 'wrong');
      return outcome(() => intervalOf({ sampleInterval: 10, maxBufferSize: 10 }));
    },
    'sampleInterval is inherited without options': () => {
      pollute('sampleInterval', 20);
      pollute('maxBufferSize', 20);
      return outcome(() => intervalOf(undefined));
    },
    format: async () => {
      pollute('format', 'x');
      const profiler = start();
      return [await settled(() => profiler.stop().then(() => 'a trace')), profiler.stopped];
    },
    bufferPolicy: () => {
      pollute('bufferPolicy', 'chunks');
      return outcome(() => intervalOf({ sampleInterval: 10, maxBufferSize: 10 }));
    },
    required: () => {
      pollute('required', true);
      return outcome(() => intervalOf({ sampleInterval: 10, maxBufferSize: 10 }));
    },
    convert: () => {
      pollute('convert', () => 1);
      return outcome(() => intervalOf({ sampleInterval: 10, maxBufferSize: 10 }));
    },
    get: () => {
      pollute('get', () => 1);
      return outcome(() => intervalOf({ sampleInterval: 10, maxBufferSize: 10 }));
    },
    'a setter for sampleInterval': () => {
      Object.defineProperty(Object.prototype, 'sampleInterval', {
        set() {
          throw new EvalError('set');
        },
        get: () => 5,
        configurable: true,
      });
      return outcome(() => intervalOf({ sampleInterval: 10, maxBufferSize: 10 }));
    },
    'a setter for id': () => {
      Object.defineProperty(Object.prototype, 'id', {
        set() {
          throw new EvalError('set');
        },
        configurable: true,
      });
      return outcome(() => intervalOf({ sampleInterval: 10, maxBufferSize: 10 }));
    },
    then: async () => {
      pollute('then', undefined);
      const calls = [];
      Object.defineProperty(Object.prototype, 'then', {
        get() {
          calls.push('then');
          return undefined;
        },
        configurable: true,
      });
      const trace = await start().stop();
      return [Array.isArray(trace.samples), calls.length > 0];
    },
    'samples of the trace': async () => {
      Object.defineProperty(Object.prototype, 'samples', {
        set() {
          throw new EvalError('set');
        },
        configurable: true,
      });
      return await settled(async () => Object.keys(await start().stop()).sort());
    },
    'detail of a mark': () => {
      pollute('detail', 'x');
      return [performance.mark('m').detail, performance.measure('n').detail];
    },
    'startTime of a mark': () => {
      pollute('startTime', 5);
      return [performance.mark('m').startTime === 5, performance.mark('m', {}).startTime];
    },
    'start of a measure': () => {
      pollute('start', 5);
      return [performance.measure('m').startTime, outcome(() => performance.measure('m', {}).startTime)];
    },
    'buffered of an observer': () => {
      pollute('buffered', true);
      pollute('type', 'mark');
      return outcome(() => new PerformanceObserver(() => {}).observe());
    },
  },
  { file, alone: true },
);

probes(
  'changed intrinsics',
  {
    'Promise.prototype.then sees nothing of a stop': async () => {
      const { then } = Promise.prototype;
      const seen = [];
      Promise.prototype.then = function (...handlers) {
        return then.call(
          this,
          (value) => {
            seen.push(show(value));
            return handlers[0]?.(value);
          },
          handlers[1],
        );
      };
      const stopped = start().stop();
      await new Promise((resolve) => setTimeout(resolve, 50));
      Promise.prototype.then = then;
      return [show(await stopped).slice(0, 8), seen];
    },
    'Promise.resolve': async () => {
      Promise.resolve = () => {
        throw new EvalError('own');
      };
      return await settled(async () => Object.keys(await start().stop()).sort());
    },
    'Promise.prototype.constructor': async () => {
      let reads = 0;
      Object.defineProperty(Promise.prototype, 'constructor', {
        get() {
          reads++;
          return Promise;
        },
        configurable: true,
      });
      const stopped = start().stop();
      await new Promise((resolve) => stopped.then(resolve));
      return reads;
    },
    'Promise is replaced': async () => {
      globalThis.Promise = class {};
      return Object.prototype.toString.call(start().stop());
    },
    'Array.prototype[Symbol.iterator]': async () => {
      Array.prototype[Symbol.iterator] = () => {
        throw new EvalError('own');
      };
      return await settled(async () =>
        Object.keys(await start().stop())
          .sort()
          .join(),
      );
    },
    'Array.prototype.push': async () => {
      Array.prototype.push = () => {
        throw new EvalError('own');
      };
      return await settled(async () =>
        Object.keys(await start().stop())
          .sort()
          .join(),
      );
    },
    'Array.prototype.map': async () => {
      Array.prototype.map = () => {
        throw new EvalError('own');
      };
      const trace = await start().stop();
      return Object.keys(trace).length;
    },
    'a setter on Array.prototype': async () => {
      Object.defineProperty(Array.prototype, 0, {
        set() {
          throw new EvalError('own');
        },
        configurable: true,
      });
      const trace = await start().stop();
      return trace.samples.length > 0;
    },
    'Object.entries': () => {
      Object.entries = () => {
        throw new EvalError('own');
      };
      return outcome(() => start());
    },
    'Object.keys': async () => {
      Object.keys = () => {
        throw new EvalError('own');
      };
      return outcome(() => start());
    },
    'Map.prototype.set': () => {
      Map.prototype.set = () => {
        throw new EvalError('own');
      };
      return outcome(() => start());
    },
    WeakRef: () => {
      globalThis.WeakRef = undefined;
      return outcome(() => start());
    },
    'WeakRef.prototype.deref': () => {
      WeakRef.prototype.deref = () => {
        throw new EvalError('own');
      };
      return outcome(() => start());
    },
    'FinalizationRegistry.prototype.register': () => {
      FinalizationRegistry.prototype.register = () => {
        throw new EvalError('own');
      };
      return outcome(() => start());
    },
    'EventTarget is replaced': () => {
      globalThis.EventTarget = class {};
      return outcome(() => start());
    },
    'TypeError is replaced': () => {
      const { TypeError } = globalThis;
      globalThis.TypeError = class {};
      try {
        new Profiler();
      } catch (thrown) {
        return thrown instanceof TypeError;
      }
    },
    'DOMException is replaced': () => {
      const Original = DOMException;
      globalThis.DOMException = class {};
      try {
        performance.measure('m', 'none');
      } catch (thrown) {
        return thrown instanceof Original;
      }
    },
    'JSON.parse': async () => {
      JSON.parse = () => {
        throw new EvalError('own');
      };
      return await settled(async () => typeof (await start().stop()));
    },
    'Symbol.hasInstance of EventTarget': () => {
      Object.defineProperty(EventTarget, Symbol.hasInstance, { value: () => false });
      return outcome(() => start());
    },
    'the prototype of Profiler': async () => {
      Object.setPrototypeOf(Profiler, Object);
      return outcome(() => start());
    },
    'the prototype of Profiler.prototype': async () => {
      Object.setPrototypeOf(Profiler.prototype, null);
      return outcome(() => Profiler.prototype.stop.call(new Profiler({ ...SIZE, ...INTERVAL })));
    },
  },
  { file, alone: true },
);
