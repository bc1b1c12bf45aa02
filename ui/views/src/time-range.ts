/** A time range in milliseconds: from the trace's time origin, or along the width of a flame graph. */
export interface TimeRange {
  start: number;
  end: number;
}
