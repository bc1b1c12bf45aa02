/**
 * The members that `selfprof/register/timing` adds to the global interfaces.
 */

declare global {
  interface Performance {
    /** The start times of all marks by name, in the order of the calls. From the 2012 draft of User Timing. */
    getMarks(): Record<string, number[]>;
    /** The start times of the marks with a name, in the order of the calls. */
    getMarks(markName: string): number[];
    /** The durations of all measures by name, in the order of the calls. From the 2012 draft of User Timing. */
    getMeasures(): Record<string, number[]>;
    /** The durations of the measures with a name, in the order of the calls. */
    getMeasures(measureName: string): number[];
  }
}

export {};
