// `import { Profiler } from 'selfprof'`: the same class as `require('selfprof')` gives.

import selfprof from './index.cjs';

export const { Profiler, profileThreads } = selfprof;
