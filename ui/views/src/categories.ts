// Categories of samples: one for each marker of the trace, one for samples with a stack and no marker, and idle.

import { IDLE_COLOR, markerColor, UNMARKED_COLOR } from './colors.ts';
import { NO_MARKER, type Profile } from './profile.ts';

export interface Category {
  name: string;
  color: string;
  isIdle: boolean;
  /** Whether it contains a sample. */
  has(sample: number): boolean;
  /** The time of its samples. */
  time: number;
}

/** The categories that have samples, in a fixed order. */
export function categoriesOf(profile: Profile): Category[] {
  const { stack, marker, weight } = profile;
  const all: Category[] = profile.markers.map((name, index) => ({
    name,
    color: markerColor(name),
    isIdle: false,
    has: (sample) => marker[sample] === index,
    time: 0,
  }));
  all.push({
    name: 'running',
    color: UNMARKED_COLOR,
    isIdle: false,
    has: (sample) => marker[sample] === NO_MARKER && stack[sample] !== -1,
    time: 0,
  });
  all.push({
    name: 'idle',
    color: IDLE_COLOR,
    isIdle: true,
    has: (sample) => marker[sample] === NO_MARKER && stack[sample] === -1,
    time: 0,
  });
  const samples = new Uint32Array(all.length);
  for (let sample = 0; sample < weight.length; sample++) {
    const index = all.findIndex((category) => category.has(sample));
    all[index].time += weight[sample];
    samples[index] += 1;
  }
  return all.filter((_, index) => samples[index] > 0);
}

/** The share of each category over time, in a number of buckets of equal width. */
export interface Activity {
  categories: Category[];
  /** The start of each bucket. */
  times: number[];
  /** By category and bucket, from 0 to 1. */
  shares: Float64Array[];
}

export function activityOf(profile: Profile, buckets: number): Activity {
  const categories = categoriesOf(profile);
  const { extent } = profile;
  const width = (extent.end - extent.start) / buckets;
  const times = Array.from({ length: buckets }, (_, index) => extent.start + index * width);
  const shares = categories.map(() => new Float64Array(buckets));
  for (let sample = 0; sample < profile.time.length; sample++) {
    const index = categories.findIndex((category) => category.has(sample));
    if (index === -1) continue;
    const share = shares[index];
    // A sample's time is divided among the buckets that it covers.
    let from = profile.time[sample] - profile.weight[sample];
    const to = profile.time[sample];
    while (from < to) {
      const bucket = Math.min(buckets - 1, Math.max(0, Math.floor((from - extent.start) / width + 1e-9)));
      const until = bucket === buckets - 1 ? to : Math.min(to, extent.start + (bucket + 1) * width);
      share[bucket] += Math.max(0, until - from) / width;
      if (until <= from) break;
      from = until;
    }
  }
  return { categories, times, shares };
}
