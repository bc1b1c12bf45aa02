// Labels of samples: what the program said about its work, such as `http.route` and `/cart`.

import { Profile } from './profile.ts';
import { NO_MARKER, type Thread } from './thread.ts';
import type { TimeRange } from './time-range.ts';

/** A value of a label; null stands for samples without the label. */
export type LabelValue = string | null;

/** The names of all labels of a trace. */
export function labelNames({ labelSets }: Profile): string[] {
  return [...new Set(labelSets.flatMap((set) => set.map(([name]) => name)))].sort();
}

/** By set of labels: the value of a label. */
function valuesOf({ labelSets }: Profile, name: string): LabelValue[] {
  return labelSets.map((set) => set.find(([own]) => own === name)?.[1] ?? null);
}

/** Whether a sample of the trace may have this value. */
export function hasLabelValue(profile: Profile, name: string, value: LabelValue): boolean {
  return value === null || valuesOf(profile, name).includes(value);
}

/** The same trace, where samples with another value of a label are idle. */
export function withLabel(profile: Profile, name: string, value: LabelValue): Profile {
  const values = valuesOf(profile, name);
  const isWanted = (set: number): boolean => (values[set] ?? null) === value;
  const threads = profile.threads.map((thread) => thread.withLabelSets(isWanted));
  const stacks = { frame: profile.stackFrame, parent: profile.stackParent };
  return new Profile(profile, profile.frames, stacks, threads);
}

/** The busy time of a value. */
export interface LabelTotal {
  value: LabelValue;
  time: number;
}

/** The values of a label in a time range of some threads, most time first. */
export function labelTotals(
  profile: Profile,
  name: string,
  range: TimeRange,
  threads: readonly Thread[],
): LabelTotal[] {
  const values = valuesOf(profile, name);
  const times = new Map<LabelValue, number>();
  for (const thread of threads) {
    const { stack, marker, weight, labels } = thread;
    const [from, to] = thread.samplesIn(range);
    for (let sample = from; sample < to; sample++) {
      if (stack[sample] === -1 && marker[sample] === NO_MARKER) continue;
      const value = values[labels[sample]] ?? null;
      times.set(value, (times.get(value) ?? 0) + weight[sample]);
    }
  }
  return [...times].map(([value, time]) => ({ value, time })).sort((a, b) => b.time - a.time);
}
