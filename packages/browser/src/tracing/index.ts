// `Profiler` for pages whose scripts are instrumented with `--mode trace`.

import { defineGlobal } from '../polyfill/intrinsics.ts';
import { Profiler } from './call-profiler.ts';

defineGlobal('ProfilerPolyfill', Profiler);
if (!('Profiler' in globalThis)) defineGlobal('Profiler', Profiler);
