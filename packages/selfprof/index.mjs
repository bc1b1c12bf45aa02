// `import { Profiler } from 'selfprof'`: the same classes as `require('selfprof')`.

import selfprof from './index.cjs';

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
