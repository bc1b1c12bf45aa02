// `import { Profiler } from 'selfprof/lazy'`: see lazy.cjs.

import './lazy.cjs';

export * from './index.mjs';
