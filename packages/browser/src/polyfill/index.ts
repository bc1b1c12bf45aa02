// `Profiler` for instrumented pages and workers, in browsers without it.

import { defineProperty } from './intrinsics.ts';
import { Profiler } from './profiler.ts';

for (const name of ['ProfilerPolyfill', 'Profiler'])
  if (name !== 'Profiler' || !(name in globalThis))
    defineProperty(globalThis, name, { value: Profiler, writable: true, configurable: true });
