// `import { createTiming } from 'selfprof/timing'`: the same function as `require('selfprof/timing')`.

import timing from './timing.cjs';

export const { createTiming } = timing;
