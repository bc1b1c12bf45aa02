// Names that `selfprof instrument --mode trace` replaces by those of the build: see `instrument_calls` in
// crates/instrument. vite.config.ts declares them in the global lexical scope.

/** Whether a profiler is recording. */
declare let SELFPROF_ACTIVE: boolean;
/** The entry of the function with this number, or its resumption. Returns what its exit gets. */
declare let SELFPROF_ENTRY: (id: number, isResumed?: 1) => number;
/** The exit of a function: its number, what its entry has returned, and whether it is only suspended. Returns -1. */
declare let SELFPROF_EXIT: (id: number, activation: number | false, isSuspended?: 1) => -1;
/** Returns its first argument. */
declare let SELFPROF_FIRST: <T>(value: T) => T;
