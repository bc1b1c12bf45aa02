/** The globals that `selfprof/register` defines. */

import type { Profiler as SelfprofProfiler } from 'selfprof';

declare global {
  var Profiler: typeof SelfprofProfiler;
  type Profiler = SelfprofProfiler;
}
