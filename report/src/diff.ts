// Two traces side by side. They are of different lengths, so parts of the busy time are compared, not times.

import type { Profile, Sums } from './profile.ts';

export interface DiffRow {
  name: string;
  place: string;
  /** Parts of the busy time, from 0 to 1. */
  before: number;
  after: number;
  totalBefore: number;
  totalAfter: number;
  /** How many standard deviations the change of the function's own samples is away from none. */
  z: number;
  baseFrame: number;
  newFrame: number;
}

/** From this many standard deviations on, a change is not chance: 0.1 % of functions that did not change are beyond it. */
export const SIGNIFICANT = 3.29;

function add(parts: Map<string, DiffRow>, profile: Profile, sums: Sums, isNew: boolean): void {
  for (let frame = 0; frame < profile.frameCount; frame++) {
    if (!(sums.total[frame] > 0)) continue;
    const identity = profile.identity(frame);
    let row = parts.get(identity);
    if (row === undefined) {
      row = { name: profile.functionName(frame), place: profile.place(frame), before: 0, after: 0, totalBefore: 0, totalAfter: 0, z: 0, baseFrame: -1, newFrame: -1 };
      parts.set(identity, row);
    }
    if (isNew) {
      row.after = sums.self[frame] / sums.busy;
      row.totalAfter = sums.total[frame] / sums.busy;
      row.newFrame = frame;
    } else {
      row.before = sums.self[frame] / sums.busy;
      row.totalBefore = sums.total[frame] / sums.busy;
      row.baseFrame = frame;
    }
  }
}

/** Compares the functions of two traces, those with the largest change first. */
export function compare(base: Profile, baseSums: Sums, next: Profile, nextSums: Sums): DiffRow[] {
  const parts = new Map<string, DiffRow>();
  add(parts, base, baseSums, false);
  add(parts, next, nextSums, true);
  const rows = [...parts.values()];
  for (const row of rows) {
    const before = row.baseFrame === -1 ? 0 : baseSums.selfSamples[row.baseFrame];
    const after = row.newFrame === -1 ? 0 : nextSums.selfSamples[row.newFrame];
    row.z = zOf(before, baseSums.busySamples, after, nextSums.busySamples);
  }
  return rows.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
}

/** The test of two proportions, pooled: of so many samples, so many were in the function. */
export function zOf(before: number, samplesBefore: number, after: number, samplesAfter: number): number {
  if (samplesBefore === 0 || samplesAfter === 0) return 0;
  const pooled = (before + after) / (samplesBefore + samplesAfter);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / samplesBefore + 1 / samplesAfter));
  return deviation === 0 ? 0 : (after / samplesAfter - before / samplesBefore) / deviation;
}
