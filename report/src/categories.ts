// Kinds of work: the markers of a trace, what ran without one, and nothing.

import { IDLE, UNMARKED, markerColor } from './colors.ts';
import { NO_MARKER, type Profile } from './profile.ts';

export interface Category {
  name: string;
  color: string;
  /** Whether a sample is of this kind. */
  has(sample: number): boolean;
  /** The time of its samples. */
  time: number;
}

/** The kinds that a trace has, in a fixed order. */
export function categoriesOf(profile: Profile): Category[] {
  const { stack, marker, weight } = profile;
  const all: Category[] = profile.markers.map((name, index) => ({ name, color: markerColor(name), has: (sample) => marker[sample] === index, time: 0 }));
  all.push({ name: 'running', color: UNMARKED, has: (sample) => marker[sample] === NO_MARKER && stack[sample] !== -1, time: 0 });
  all.push({ name: 'idle', color: IDLE, has: (sample) => marker[sample] === NO_MARKER && stack[sample] === -1, time: 0 });
  const samples = new Uint32Array(all.length);
  for (let sample = 0; sample < weight.length; sample++) {
    const index = all.findIndex((category) => category.has(sample));
    all[index].time += weight[sample];
    samples[index] += 1;
  }
  return all.filter((_, index) => samples[index] > 0);
}

/** Of each bucket of time, the part that each kind of work took. */
export function categorise(profile: Profile, buckets: number): { categories: Category[]; times: number[]; parts: Float64Array[] } {
  const categories = categoriesOf(profile);
  const { extent } = profile;
  const width = (extent.end - extent.start) / buckets;
  const times = Array.from({ length: buckets }, (_, index) => extent.start + index * width);
  const parts = categories.map(() => new Float64Array(buckets));
  for (let sample = 0; sample < profile.time.length; sample++) {
    const index = categories.findIndex((category) => category.has(sample));
    if (index === -1) continue;
    const part = parts[index];
    // A sample's time is spread over the buckets that it covers.
    let from = profile.time[sample] - profile.weight[sample];
    const to = profile.time[sample];
    while (from < to) {
      const bucket = Math.min(buckets - 1, Math.max(0, Math.floor((from - extent.start) / width + 1e-9)));
      const until = bucket === buckets - 1 ? to : Math.min(to, extent.start + (bucket + 1) * width);
      part[bucket] += Math.max(0, until - from) / width;
      if (until <= from) break;
      from = until;
    }
  }
  return { categories, times, parts };
}
