// Profilers, one after the other without a gap.

import type { ProfilerClass, Trace } from '../index.d.ts';
import { now } from './scope.ts';

/** What a profiler has recorded. Samples outside of these times are another one's. */
export interface Recording {
  trace: Trace;
  start: number;
  end: number;
}

type Profiler = InstanceType<ProfilerClass>;

export interface Recorder {
  /** Starts the next profiler, then stops the one before. Returns whether there is one. */
  next(): boolean;
  /** Stops. */
  stop(): void;
}

export function recorder(
  make: (next: () => void) => Profiler | undefined,
  keep: (recording: Recording) => void,
): Recorder {
  let current: Profiler | undefined;
  let start = -Infinity;
  const end = (following?: Profiler) => {
    const profiler = current;
    const begun = start;
    current = following;
    // Both take samples now. Those from here on are the next one's.
    const end = now();
    start = profiler ? end : -Infinity;
    // A polyfill may fail.
    profiler?.stop().then(
      (trace) => keep({ trace, start: begun, end }),
      () => {},
    );
  };
  const next = () => {
    const following = make(next);
    if (following) end(following);
    return following !== undefined;
  };
  return { next, stop: () => end() };
}
