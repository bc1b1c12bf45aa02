// `import { Profiler } from 'selfprof/lazy'`: see lazy.cjs.

import selfprof from './lazy.cjs';

export const {
  Profiler,
  profileThreads,
  withMarker,
  performance,
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceObserver,
  PerformanceObserverEntryList,
} = selfprof;
