// Names that `selfprof instrument` replaces by those of the build: see `Names` in crates/instrument. vite.config.ts declares them in the
// global lexical scope, which modules see too.

/** Counts the entry of a function, or that it goes on: what ran before was its caller. `undefined` unless a profiler records. */
declare let SELFPROF_ENTER: ((isResumption?: boolean) => void) | undefined;
/** Counts several events, or 1; after 0 the clock is read at once. What ran before was the function itself. */
declare let SELFPROF_CHECK: ((events?: number) => void) | undefined;

// Those that return their argument are declared with their code, so that engines see that it never changes: SELFPROF_LEAVE,
// SELFPROF_NATIVE, SELFPROF_SCAN and SELFPROF_RESUME.
