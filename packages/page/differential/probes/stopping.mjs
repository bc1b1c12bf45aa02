// `stop()`, `stopped`, and the event `samplebufferfull`.

import { probes } from '../page/probe.mjs';
import { outcome, settled } from '../page/show.mjs';
import { event, frameWith, later } from '../page/surroundings.mjs';
import { start } from '../page/profiling.mjs';

const file = 'stopping';

/** What `stop` gives, as the kind of it. */
const kindOf = (promise) =>
  settled(
    async () =>
      `a trace with ${Object.keys(await promise)
        .sort()
        .join()}`,
  );

for (const text of [
  'undefined',
  'null',
  '5',
  "'text'",
  'true',
  'Symbol()',
  '10n',
  '{}',
  '[]',
  '() => {}',
  'new Date()',
  "{ format: 'object' }",
  '{ format: undefined }',
  '{ another: 1 }',
]) {
  probes(
    'stop()',
    {
      [`with ${text}`]: async () => {
        const profiler = start();
        const kind = await kindOf(profiler.stop(Function(`return (${text});`)()));
        return [kind, profiler.stopped];
      },
    },
    { file, variants: ['policy', 'isolated'] },
  );
}

probes(
  'stop()',
  {
    'gives a promise': () => Object.prototype.toString.call(start().stop()),
    'gives a promise of this window': () => start().stop() instanceof Promise,
    'gives a new promise each time': () => {
      const profiler = start();
      const [first, second] = [profiler.stop(), profiler.stop()];
      second.catch(() => {});
      return first === second;
    },
    twice: async () => {
      const profiler = start();
      await profiler.stop();
      return await kindOf(profiler.stop());
    },
    'twice at once': async () => {
      const profiler = start();
      return await Promise.all([kindOf(profiler.stop()), kindOf(profiler.stop())]);
    },
    'of another object': () => kindOf(Profiler.prototype.stop.call({})),
    'of the prototype': () => kindOf(Profiler.prototype.stop()),
    'of an object that inherits from a profiler': () => kindOf(Object.create(start()).stop()),
    'of a proxy': () => kindOf(new Proxy(start(), {}).stop()),
    'sets stopped at once': () => {
      const profiler = start();
      const before = profiler.stopped;
      profiler.stop();
      return [before, profiler.stopped];
    },
    'as a handler of a promise': async () => {
      const profiler = start();
      return [await kindOf(Promise.resolve(5).then(profiler.stop.bind(profiler))), profiler.stopped];
    },
    'as a handler with a string': async () => {
      const profiler = start();
      return [await kindOf(Promise.resolve('x').then(profiler.stop.bind(profiler))), profiler.stopped];
    },
    'as a listener': async () => {
      const profiler = start();
      const target = new EventTarget();
      target.addEventListener('x', profiler.stop.bind(profiler));
      target.dispatchEvent(new Event('x'));
      return profiler.stopped;
    },
    'as a callback of map': async () => {
      const all = [start(), start()];
      const traces = await Promise.all(all.map((profiler) => profiler.stop()));
      return traces.length;
    },
    'settles after the microtasks that are queued': async () => {
      const order = [];
      const stopped = start()
        .stop()
        .then(() => order.push('stop'));
      Promise.resolve().then(() => order.push('microtask'));
      await stopped;
      return order;
    },
    'of several settles in order': async () => {
      const order = [];
      const all = ['a', 'b', 'c'].map((name) => [name, start()]);
      await Promise.all(all.map(([name, profiler]) => profiler.stop().then(() => order.push(name))));
      return order;
    },
    'leaves other profilers': async () => {
      const [first, second] = [start(), start()];
      await first.stop();
      return [first.stopped, second.stopped, await kindOf(second.stop())];
    },
    'keeps the interval': async () => {
      const profiler = start();
      await profiler.stop();
      return profiler.sampleInterval;
    },
    'of a profiler of a frame that is gone': async () => {
      const frame = await frameWith('');
      const profiler = start({}, { Profiler: frame.contentWindow.Profiler });
      frame.remove();
      const said = settled(async () => typeof (await profiler.stop()));
      return await Promise.race([said, later(500).then(() => 'nothing')]);
    },
    'stopped of a profiler of a frame that is gone': async () => {
      const frame = await frameWith('');
      const profiler = start({}, { Profiler: frame.contentWindow.Profiler });
      frame.remove();
      return outcome(() => profiler.stopped);
    },
    'a profiler constructed in a frame that is gone': async () => {
      const frame = await frameWith('');
      const { Profiler: Theirs } = frame.contentWindow;
      frame.remove();
      try {
        return new Theirs({ sampleInterval: 10, maxBufferSize: 1 }).stopped;
      } catch (thrown) {
        return [thrown.name, thrown.constructor.name];
      }
    },
  },
  { file, variants: ['policy', 'isolated'] },
);

/** Spins until the profiler must have taken samples. */
function spin(ms = 30) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Resolves with the event, or with nothing when it does not come. */
const fullOf = (profiler) => Promise.race([event(profiler, 'samplebufferfull'), later(300)]);

probes(
  'samplebufferfull',
  {
    'fires with a buffer of 1': async () => {
      const profiler = start({ maxBufferSize: 1 });
      const full = fullOf(profiler);
      spin();
      return (await full)?.type;
    },
    'fires with a buffer of 0': async () => {
      const profiler = start({ maxBufferSize: 0 });
      const full = fullOf(profiler);
      spin();
      return (await full)?.type;
    },
    'is an event of this kind': async () => {
      const profiler = start({ maxBufferSize: 1 });
      const full = fullOf(profiler);
      spin();
      const { constructor, bubbles, cancelable, composed, isTrusted, target, defaultPrevented } = await full;
      return [constructor === Event, bubbles, cancelable, composed, isTrusted, target === profiler, defaultPrevented];
    },
    'fires once': async () => {
      const profiler = start({ maxBufferSize: 1 });
      let count = 0;
      profiler.addEventListener('samplebufferfull', () => count++);
      for (let turn = 0; turn < 3; turn++) {
        spin();
        await later();
      }
      await later(50);
      return count;
    },
    'does not fire in the same task': async () => {
      const profiler = start({ maxBufferSize: 1 });
      let count = 0;
      profiler.addEventListener('samplebufferfull', () => count++);
      spin();
      return count;
    },
    'leaves the profiler started': async () => {
      const profiler = start({ maxBufferSize: 1 });
      const full = fullOf(profiler);
      spin();
      await full;
      return profiler.stopped;
    },
    'leaves the samples': async () => {
      const profiler = start({ maxBufferSize: 2 });
      const full = fullOf(profiler);
      spin(60);
      await full;
      return (await profiler.stop()).samples.length;
    },
    'has no handler attribute': () => 'onsamplebufferfull' in start(),
    'may stop the profiler': async () => {
      const profiler = start({ maxBufferSize: 1 });
      const stopped = new Promise((resolve) =>
        profiler.addEventListener('samplebufferfull', () => resolve(profiler.stop())),
      );
      spin();
      return (await stopped).samples.length;
    },
    'a listener object': async () => {
      const profiler = start({ maxBufferSize: 1 });
      const called = new Promise((resolve) => profiler.addEventListener('samplebufferfull', { handleEvent: resolve }));
      spin();
      return (await called).type;
    },
    'a listener that is once': async () => {
      const profiler = start({ maxBufferSize: 1 });
      const called = new Promise((resolve) => profiler.addEventListener('samplebufferfull', resolve, { once: true }));
      spin();
      return (await called).type;
    },
    'a page can dispatch one of its own': () => {
      const profiler = start();
      let seen;
      profiler.addEventListener('samplebufferfull', (full) => (seen = full.isTrusted));
      profiler.dispatchEvent(new Event('samplebufferfull'));
      return seen;
    },
  },
  { file, variants: ['policy', 'isolated'] },
);
