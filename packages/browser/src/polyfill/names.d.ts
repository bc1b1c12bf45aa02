// Names that `selfprof instrument` replaces by those of the build: see `Names` in crates/instrument. All scripts and
// modules of the page see them: two are properties of the global object, which sampler.ts defines, and vite.config.ts
// declares the others in the global lexical scope.

/** Counts the entry of a function: what ran before was its caller. */
interface Enter {
  (): void;
  /** The function goes on after `await` or `yield`: what ran before was not the function. */
  resume: () => void;
}

/** Counts an event in a function: what ran before was the function itself. */
interface Check {
  (): void;
  /** Counts several events. */
  scan: () => void;
  /** Reads the clock at once. */
  native: () => void;
}

// While a profiler records, SELFPROF_ENTER is an `Enter` and SELFPROF_CHECK a `Check`; otherwise both are `undefined`.

// Those that return their argument are declared with their code, so that engines see that it never changes:
// SELFPROF_LEAVE, SELFPROF_NATIVE, SELFPROF_SCAN and SELFPROF_RESUME.
