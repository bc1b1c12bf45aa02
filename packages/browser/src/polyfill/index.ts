// `Profiler` for instrumented pages and workers, in browsers without it.

import { defineGlobal } from './intrinsics.ts';
import { Profiler } from './profiler.ts';

defineGlobal('ProfilerPolyfill', Profiler);
if (!('Profiler' in globalThis)) defineGlobal('Profiler', Profiler);
