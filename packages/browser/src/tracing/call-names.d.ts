// Names that `selfprof instrument --mode trace` replaces by those of the build: see `instrument_calls` in crates/instrument. SELFPROF_ACTIVE is
// that of sampling.

/** The exit of a function: its number, what its entry has returned, and whether it is only suspended. Returns -1. */
declare let SELFPROF_EXIT: (id: number, activation: number | false, isSuspended?: 1) => -1;
/** Returns its first argument. */
declare let SELFPROF_FIRST: <T>(value: T) => T;
