// Parts of traces.

import type { Trace } from '../index.d.ts';

/**
 * Of samples one after the other in which nothing runs, this many at most are left out. The collector takes a longer
 * gap for a pause.
 */
const MAX_LEFT_OUT = 50;

/** Milliseconds with one digit after the point, which is what browsers give pages. Others have many digits. */
export const rounded = (time: number) => Math.round(time * 10) / 10;

/** The index of the first sample after a time. */
export function firstAfter({ samples }: Trace, time: number): number {
  let low = 0;
  let high = samples.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (samples[middle].timestamp > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A URL without what may be private. */
export const cleaned = (url: string) => url.replace(/[?#].*/s, '');

/**
 * The samples from one index to another. A sample stands for the time since the one before, so a pause of the page is
 * its first and last sample. `isBusy` says whether anything runs in them, and `nameOf` gives the names of resources. If
 * it is to be small, which takes longer, it has only what the samples need.
 */
export function part(
  trace: Trace,
  first: number,
  end: number,
  nameOf: (url: string) => string,
  isSmall: boolean,
): Trace & { isBusy: boolean } {
  const all = trace.samples;
  const samples: Trace['samples'] = [];
  let isBusy = false;
  let idle = 0;
  let leftOut = 0;
  for (let index = first; index < end; index++) {
    const { timestamp, stackId, marker } = all[index];
    if (stackId === undefined && !marker) {
      idle++;
      const isLast = index + 1 === end || all[index + 1].stackId !== undefined;
      if (idle > 1 && !isLast && leftOut++ < MAX_LEFT_OUT) continue;
      samples.push({ timestamp: rounded(timestamp) });
    } else {
      idle = 0;
      isBusy ||= stackId !== undefined;
      samples.push({ timestamp: rounded(timestamp), stackId, marker } as Trace['samples'][0]);
    }
    leftOut = 0;
  }
  const { frames, stacks } = trace;
  const resources = trace.resources.map(nameOf);
  const whole = { resources, frames, stacks, samples };
  return { ...(isSmall ? used(whole) : whole), isBusy };
}

/** A trace without what its samples do not need. */
function used(trace: Trace): Trace {
  const resources: Trace['resources'] = [];
  const frames: Trace['frames'] = [];
  const stacks: Trace['stacks'] = [];
  const newResources: number[] = [];
  const newFrames: number[] = [];
  const newStacks: number[] = [];
  const frameOf = (id: number) => {
    const frame = { ...trace.frames[id] };
    const { resourceId } = frame;
    if (resourceId !== undefined) {
      newResources[resourceId] ??= resources.push(trace.resources[resourceId]) - 1;
      frame.resourceId = newResources[resourceId];
    }
    return frames.push(frame) - 1;
  };
  const stackOf = (id: number): number => {
    if (newStacks[id] === undefined) {
      const { frameId, parentId } = trace.stacks[id];
      const parent = parentId === undefined ? undefined : stackOf(parentId);
      newFrames[frameId] ??= frameOf(frameId);
      newStacks[id] = stacks.push({ frameId: newFrames[frameId], parentId: parent } as Trace['stacks'][0]) - 1;
    }
    return newStacks[id];
  };
  for (const sample of trace.samples) if (sample.stackId !== undefined) sample.stackId = stackOf(sample.stackId);
  return { resources, frames, stacks, samples: trace.samples };
}
