// The numbers of the runtime. They are in a module of their own because the bundler puts imported numbers in place of
// their names.

/** Ticks in a millisecond of code with many events. */
export const TICKS = 100;

/**
 * How many times as many where a sample is due soon. The function of the event after which the clock has passed that
 * time gets the sample: with many events between two ticks that is often the one with the most events, and not the one
 * with the most time.
 */
export const SOON_FACTOR = 20;
/** How soon that is, in milliseconds. A step of the clock is added. */
export const SOON = 0.05;

/**
 * After more than so many milliseconds from one tick to the next, and half a step of the clock, each event is a tick.
 */
export const SURPRISE = 0.15;

/** Intervals are multiples of it, in milliseconds, as in Chromium. */
export const BASE_INTERVAL = 10;

/** The largest interval in Chromium, in milliseconds. */
export const MAX_INTERVAL = 2_147_483;

/** Profilers that may be started and not stopped at a time, as in Chromium. */
export const MAX_PROFILERS = 100;

/** Milliseconds. Timers with delays of 2^31 or more fire at once. */
export const MAX_DELAY = 1e9;

/** V8's profiler records as many frames. Outer ones are left out. */
export const MAX_FRAMES = 255;

/** How long a trace waits for the table, in milliseconds. */
export const TABLE_TIMEOUT = 5_000;
