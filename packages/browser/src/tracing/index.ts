// `Profiler` for pages whose scripts are instrumented with `--mode trace`.

import { defineProperty } from '../polyfill/intrinsics.ts';
import { Profiler } from './call-profiler.ts';

for (const name of ['ProfilerPolyfill', 'Profiler'])
  if (name !== 'Profiler' || !(name in globalThis))
    defineProperty(globalThis, name, { value: Profiler, writable: true, configurable: true });
