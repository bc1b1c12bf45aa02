// The shape of traces.

import { probes } from '../page/probe.mjs';
import { show } from '../page/show.mjs';
import { VARIANT } from '../page/surroundings.mjs';
import { start } from '../page/profiling.mjs';

const file = 'traces';

function inner() {
  return start();
}
function outer() {
  return inner();
}

/**
 * A trace of a profiler that took one sample in `inner`, called by `outer`. It is the only profiler: while others go
 * on, Chromium may not have read the sample yet when the profiler stops.
 */
async function simple() {
  return await outer().stop();
}
const plain = (object) => Object.getPrototypeOf(object) === Object.prototype;
/** The kinds of a property: own, enumerable, writable, configurable. */
const flagsOf = (object) =>
  Object.values(Object.getOwnPropertyDescriptors(object))
    .map(({ value, ...flags }) => show(flags))
    .filter((flags, index, all) => all.indexOf(flags) === index);

for (const table of ['resources', 'frames', 'stacks', 'samples']) {
  probes(
    `trace.${table}`,
    {
      'is an array of this window': async () => Object.getPrototypeOf((await simple())[table]) === Array.prototype,
      'is extensible': async () => Object.isExtensible((await simple())[table]),
      'has only items': async () =>
        Reflect.ownKeys((await simple())[table]).filter((key) => !/^\d+$/.test(String(key))),
      'property attributes': async () => flagsOf((await simple())[table]),
    },
    { file, variants: ['policy', 'isolated'] },
  );
  if (table === 'resources') continue;
  probes(
    `trace.${table}`,
    {
      'items are plain objects': async () => (await simple())[table].every(plain),
      'members of the first item': async () => Object.keys((await simple())[table][0]),
      'types of the members': async () =>
        Object.entries((await simple())[table][0])
          .map(([name, value]) => `${name}: ${typeof value}`)
          .sort(),
      'property attributes of the items': async () => flagsOf((await simple())[table][0]),
      'no members are undefined': async () =>
        (await simple())[table].some((item) => Object.values(item).includes(undefined)),
      'all sets of members': async () =>
        [...new Set((await simple())[table].map((item) => Object.keys(item).sort().join()))].sort(),
      'items are extensible': async () => (await simple())[table].every(Object.isExtensible),
      'no item occurs twice': async () => {
        const texts = (await simple())[table].map((item) => JSON.stringify(item, Object.keys(item).sort()));
        return new Set(texts).size === texts.length;
      },
    },
    { file, variants: ['policy', 'isolated'] },
  );
}

probes(
  'a trace',
  {
    'is a plain object': async () => plain(await simple()),
    members: async () => Object.keys(await simple()),
    'members, sorted': async () => Object.keys(await simple()).sort(),
    'property attributes': async () => flagsOf(await simple()),
    'is extensible': async () => Object.isExtensible(await simple()),
    'can be cloned': async () => show(Object.keys(structuredClone(await simple())).sort()),
    'survives JSON': async () => {
      const trace = await simple();
      return JSON.stringify(JSON.parse(JSON.stringify(trace))) === JSON.stringify(trace);
    },
    'is a new object each time': async () => (await simple()) === (await simple()),
    'shares nothing with another': async () => {
      const [first, second] = [await simple(), await simple()];
      return first.frames === second.frames || first.frames[0] === second.frames[0];
    },
    'resources are texts': async () => (await simple()).resources.every((resource) => typeof resource === 'string'),
    'resources are not repeated': async () => {
      const { resources } = await simple();
      return new Set(resources).size === resources.length;
    },
    'resource ids are in range': async () => {
      const { resources, frames } = await simple();
      return frames.every(({ resourceId }) => resourceId === undefined || resourceId < resources.length);
    },
    'all resources are used': async () => {
      const { resources, frames } = await simple();
      return resources.every((_, id) => frames.some(({ resourceId }) => resourceId === id));
    },
    'all frames are used': async () => {
      const { frames, stacks } = await simple();
      return frames.every((_, id) => stacks.some(({ frameId }) => frameId === id));
    },
    'parents come first': async () =>
      (await simple()).stacks.every(({ parentId }, id) => parentId === undefined || parentId < id),
    'the first stack has no parent': async () => 'parentId' in (await simple()).stacks[0],
    'frames of the first sample': async () => {
      const { frames, stacks, samples } = await simple();
      const names = [];
      for (let id = samples[0].stackId; id !== undefined && names.length < 3; id = stacks[id].parentId)
        names.push(frames[stacks[id].frameId].name);
      return names;
    },
    'the order of the frames': async () => {
      const { frames } = await simple();
      const found = frames
        .map(({ name }) => name)
        .filter((name) => ['start', 'inner', 'outer', 'simple'].includes(name));
      return found;
    },
    'the first sample is taken at construction': async () => 'stackId' in (await simple()).samples[0],
    'timestamps are after the profiler began': async () => {
      const before = performance.now();
      const { samples } = await start().stop();
      return samples[0].timestamp >= before - 1;
    },
    'timestamps are before it ended': async () => {
      const { samples } = await start().stop();
      return samples[0].timestamp <= performance.now() + 1;
    },
    'timestamps are on the grid of the clock': async () => {
      const grid = VARIANT === 'isolated' ? 0.005 : 0.1;
      const { samples } = await start().stop();
      const steps = samples[0].timestamp / grid;
      return Math.abs(steps - Math.round(steps)) < 1e-4;
    },
    'marker of the first sample': async () => (await simple()).samples[0].marker,
    'idle samples have no stack': async () => {
      const profiler = start();
      await new Promise((resolve) => setTimeout(resolve, 60));
      const { samples } = await profiler.stop();
      return samples.slice(1, 3).map((sample) => Object.keys(sample));
    },
    'of a buffer of 1': async () => (await start({ maxBufferSize: 1 }).stop()).samples.length,
    'of a buffer of 0': async () => {
      const { resources, frames, stacks, samples } = await start({ maxBufferSize: 0 }).stop();
      return [resources.length, frames.length, stacks.length, samples.length];
    },
    'two profilers at the same place give equal frames': async () => {
      const [first, second] = [await simple(), await simple()];
      const frameOf = ({ frames }) => show({ ...frames.find(({ name }) => name === 'inner'), resourceId: 0 }).length;
      return frameOf(first) === frameOf(second);
    },
    'recursion gives one frame': async () => {
      const recursive = (depth) => (depth === 0 ? start() : recursive(depth - 1));
      const { frames, stacks } = await recursive(5).stop();
      const id = frames.findIndex(({ name }) => name === 'recursive');
      return [
        frames.filter(({ name }) => name === 'recursive').length,
        stacks.filter(({ frameId }) => frameId === id).length,
      ];
    },
    'deep recursion': async () => {
      const recursive = (depth) => (depth === 0 ? start() : recursive(depth - 1));
      const { stacks } = await recursive(1000).stop();
      return stacks.length > 200 && stacks.length < 300;
    },
  },
  { file, variants: ['policy', 'isolated'] },
);
