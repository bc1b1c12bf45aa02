/** What `selfprof/register` puts on `globalThis`. */

import type { Profiler as SelfprofProfiler } from 'selfprof';

declare global {
  var Profiler: typeof SelfprofProfiler;
  type Profiler = SelfprofProfiler;
}

export {};
