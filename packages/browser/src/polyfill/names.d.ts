// Names that `selfprof instrument` replaces by those of the build: see `Names` in crates/instrument. vite.config.ts declares them in the
// global lexical scope, which modules see too.

/** Whether a profiler is recording. */
declare let SELFPROF_ACTIVE: boolean;
/** Events until the next tick. Instrumented code decrements it. */
declare let SELFPROF_COUNTDOWN: number;
/** The tick at the entry of a function. With `--mode trace`, the entry of a function with this number, which returns what its exit gets. */
declare let SELFPROF_ENTER: (id: number, isResumed?: 1) => unknown;
/** The tick at the exit of a function, and in loops. */
declare let SELFPROF_CHECK: () => void;
/** Returns the value of a native call, after a tick. */
declare let SELFPROF_NATIVE: <T>(value: T) => T;
