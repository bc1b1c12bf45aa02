// Categories of samples: one for each marker of the trace, one for samples with a stack and no marker, waiting, and
// idle.

import { IDLE_COLOR, markerColor, UNMARKED_COLOR, WAITING_COLOR } from './colors.ts';
import type { Profile } from './profile.ts';
import { NO_MARKER, type Thread } from './thread.ts';
import type { TimeRange } from './time-range.ts';

export interface Category {
  name: string;
  color: string;
  /** Neither waiting nor idle. */
  isWork: boolean;
  /** The time of its samples. */
  time: number;
}

/** The categories of threads over time, in a number of buckets of equal width. */
export interface Activity {
  /** The categories that have samples, in a fixed order. */
  categories: Category[];
  /** The start of each bucket. */
  times: number[];
  /** By category and bucket: the share of the bucket, from 0 to the number of threads. */
  shares: Float64Array[];
  /** The largest sum of the shares of a bucket that are work; at least 1. */
  peak: number;
}

export function activityOf(profile: Profile, threads: readonly Thread[], buckets: number): Activity {
  const { extent, markers } = profile;
  const all: Category[] = [
    ...markers.map((name) => ({ name, color: markerColor(name), isWork: true, time: 0 })),
    { name: 'running', color: UNMARKED_COLOR, isWork: true, time: 0 },
    { name: 'waiting', color: WAITING_COLOR, isWork: false, time: 0 },
    { name: 'idle', color: IDLE_COLOR, isWork: false, time: 0 },
  ];
  const running = markers.length;
  const categoryOf = (stack: number, marker: number): number => {
    if (profile.isWaiting(stack)) return running + 1;
    if (marker !== NO_MARKER) return marker;
    return stack !== -1 ? running : running + 2;
  };
  const sums = all.map(() => new Float64Array(buckets));
  const samples = new Uint32Array(all.length);
  for (const { time, weight, stack, marker } of threads) {
    for (let sample = 0; sample < time.length; sample++) {
      const index = categoryOf(stack[sample], marker[sample]);
      all[index].time += weight[sample];
      samples[index] += 1;
      addShare(sums[index], extent, time[sample] - weight[sample], time[sample]);
    }
  }
  const width = (extent.end - extent.start) / buckets;
  const isUsed = (_: unknown, index: number): boolean => samples[index] > 0;
  const busy = sums.filter((_, index) => isUsed(_, index) && all[index].isWork);
  let peak = 1;
  for (let bucket = 0; bucket < buckets; bucket++)
    peak = Math.max(
      peak,
      busy.reduce((sum, share) => sum + share[bucket], 0),
    );
  return {
    categories: all.filter(isUsed),
    times: Array.from({ length: buckets }, (_, index) => extent.start + index * width),
    shares: sums.filter(isUsed),
    peak,
  };
}

/** The shares of each bucket in which a thread ran, and in which it waited. */
export function busyShares(
  profile: Profile,
  thread: Thread,
  buckets: number,
): { running: Float64Array; waiting: Float64Array } {
  const { time, weight, stack, marker } = thread;
  const [running, waiting] = [new Float64Array(buckets), new Float64Array(buckets)];
  for (let sample = 0; sample < time.length; sample++) {
    if (stack[sample] === -1 && marker[sample] === NO_MARKER) continue;
    const shares = profile.isWaiting(stack[sample]) ? waiting : running;
    addShare(shares, profile.extent, time[sample] - weight[sample], time[sample]);
  }
  return { running, waiting };
}

/** Divides a time among the buckets that it covers. */
function addShare(shares: Float64Array, extent: TimeRange, from: number, to: number): void {
  const buckets = shares.length;
  const width = (extent.end - extent.start) / buckets;
  let start = from;
  while (start < to) {
    const bucket = Math.min(buckets - 1, Math.max(0, Math.floor((start - extent.start) / width + 1e-9)));
    const until = bucket === buckets - 1 ? to : Math.min(to, extent.start + (bucket + 1) * width);
    shares[bucket] += Math.max(0, until - start) / width;
    if (until <= start) break;
    start = until;
  }
}
