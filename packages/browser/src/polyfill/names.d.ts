// Names that `selfprof instrument` replaces by those of the build: see `Names` in crates/instrument. vite.config.ts declares them in the
// global lexical scope, which modules see too.

/** Whether a profiler is recording. */
declare let SELFPROF_ACTIVE: boolean;
/** Events until the next tick. Instrumented code decrements it. */
declare let SELFPROF_COUNTDOWN: number;
/** The tick at the entry of a function. */
declare let SELFPROF_ENTER: () => void;
/** The tick at the exit of a function, and in loops. */
declare let SELFPROF_CHECK: () => void;
/** Returns the value of a native call, after a tick. */
declare let SELFPROF_NATIVE: <T>(value: T) => T;
