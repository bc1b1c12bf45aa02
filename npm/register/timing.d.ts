/**
 * What `selfprof/register/timing` puts on `globalThis`: the interfaces that are declared there already, and more of them.
 */

declare global {
  interface Performance {
    /** The start times of all marks by name, in the order of the calls; a copy. From User Timing's draft of 2012. */
    getMarks(): Record<string, number[]>;
    /** The start times of the marks of a name, in the order of the calls; a copy. */
    getMarks(markName: string): number[];
    /** The durations of all measures by name, in the order of the calls; a copy. From User Timing's draft of 2012. */
    getMeasures(): Record<string, number[]>;
    /** The durations of the measures of a name, in the order of the calls; a copy. */
    getMeasures(measureName: string): number[];
  }
}

export {};
