// The boxes of flame graphs: for each depth, boxes side by side from left to right. The x axis is milliseconds: the
// time of the trace, or accumulated total time.

import type { CallTreeNode } from './call-tree.ts';
import type { Profile, Totals } from './profile.ts';
import type { Thread } from './thread.ts';
import type { TimeRange } from './time-range.ts';

/** The boxes of one depth, sorted by their left edges. They do not overlap. */
export interface Level {
  start: Float64Array;
  end: Float64Array;
  frame: Int32Array;
}

export interface FlameLayout {
  levels: Level[];
  extent: TimeRange;
  /** Parts with a title each, from top to bottom; empty if the layout has a single part. */
  sections: Section[];
  /** Lays out the boxes of some levels, if that has not happened yet. */
  prepare?(first: number, last: number): void;
}

export interface Section {
  title: string;
  /** The level of the title, which has no boxes. Those of the boxes follow it. */
  level: number;
}

class LevelBuilder {
  #start = new Float64Array(64);
  #end = new Float64Array(64);
  #frame = new Int32Array(64);
  #length = 0;

  push(start: number, end: number, frame: number): void {
    if (this.#length === this.#start.length) this.#grow();
    this.#start[this.#length] = start;
    this.#end[this.#length] = end;
    this.#frame[this.#length] = frame;
    this.#length += 1;
  }

  #grow(): void {
    const copyInto = <T extends Float64Array | Int32Array>(larger: T, old: T): T => {
      larger.set(old);
      return larger;
    };
    this.#start = copyInto(new Float64Array(this.#length * 2), this.#start);
    this.#end = copyInto(new Float64Array(this.#length * 2), this.#end);
    this.#frame = copyInto(new Int32Array(this.#length * 2), this.#frame);
  }

  build(): Level {
    return {
      start: this.#start.slice(0, this.#length),
      end: this.#end.slice(0, this.#length),
      frame: this.#frame.slice(0, this.#length),
    };
  }
}

class LayoutBuilder {
  readonly #levels: LevelBuilder[] = [];

  push(depth: number, start: number, end: number, frame: number): void {
    let level = this.#levels[depth];
    if (level === undefined) {
      level = new LevelBuilder();
      this.#levels[depth] = level;
    }
    level.push(start, end, frame);
  }

  build(extent: TimeRange): FlameLayout {
    return { levels: this.#levels.map((level) => level.build()), extent, sections: [] };
  }
}

/**
 * Calls in time order. Threads are one below the other, the busiest in a range first, without those that have no calls
 * in it.
 */
export function timeOrder(profile: Profile, threads: readonly Thread[], range: TimeRange): FlameLayout {
  if (threads.length === 1) return timeOrderOf(profile, threads[0]);
  const layout: FlameLayout = { levels: [], extent: profile.extent, sections: [] };
  const ends: number[] = [];
  const empty = { start: new Float64Array(0), end: new Float64Array(0), frame: new Int32Array(0) };
  const shown = threads
    .map((thread) => ({ thread, time: timeOfCalls(thread, range) }))
    .filter(({ time }) => time > 0)
    .sort((a, b) => b.time - a.time)
    .map(({ thread }) => thread);
  for (const { label, stack } of shown) {
    let depth = 0;
    for (const id of stack) if (id !== -1) depth = Math.max(depth, profile.stackDepth[id] + 1);
    layout.sections.push({ title: label, level: layout.levels.length });
    for (let level = 0; level <= depth; level++) layout.levels.push(empty);
    ends.push(layout.levels.length);
  }
  const isPrepared = new Uint8Array(shown.length);
  layout.prepare = (first, last) => {
    for (const [index, { level }] of layout.sections.entries()) {
      if (isPrepared[index] === 1 || level >= last || ends[index] <= first) continue;
      isPrepared[index] = 1;
      for (const [depth, boxes] of timeOrderOf(profile, shown[index]).levels.entries())
        layout.levels[level + 1 + depth] = boxes;
    }
  };
  return layout;
}

function timeOfCalls(thread: Thread, range: TimeRange): number {
  const [from, to] = thread.samplesIn(range);
  let time = 0;
  for (let sample = from; sample < to; sample++) if (thread.stack[sample] !== -1) time += thread.weight[sample];
  return time;
}

/** Adjacent samples with the same stack count as one call: no sample shows that it ended between them. */
function timeOrderOf(profile: Profile, thread: Thread): FlameLayout {
  const layout = new LayoutBuilder();
  /** The calls in progress, by depth. */
  const open: { stack: number; start: number }[] = [];
  const path: number[] = [];
  let previousEnd = profile.extent.start;
  const closeTo = (depth: number): void => {
    for (const { stack, start } of open.splice(depth).reverse())
      layout.push(profile.stackDepth[stack], start, previousEnd, profile.stackFrame[stack]);
  };
  for (let sample = 0; sample < thread.time.length; sample++) {
    const stack = thread.stack[sample];
    const end = thread.time[sample];
    const start = end - thread.weight[sample];
    // A gap between two samples is time that no sample covers.
    if (start > previousEnd + 1e-6) closeTo(0);
    const depth = stack === -1 ? 0 : profile.stackDepth[stack] + 1;
    let shared = Math.min(depth, open.length);
    path.length = depth;
    for (let at = stack, level = depth - 1; level >= 0; level--, at = profile.stackParent[at]) {
      path[level] = at;
      // Equal stacks have equal ancestors.
      if (level < open.length && open[level].stack === at) break;
      if (level < shared) shared = level;
    }
    closeTo(shared);
    for (let level = shared; level < depth; level++) open.push({ stack: path[level], start });
    previousEnd = end;
  }
  closeTo(0);
  return layout.build(profile.extent);
}

/** Equal stacks merged; siblings sorted by total time, largest first. */
export function leftHeavy(profile: Profile, totals: Totals): FlameLayout {
  const { stackFrame, stackParent } = profile;
  const roots: number[] = [];
  const children = new Map<number, number[]>();
  for (let stack = 0; stack < stackFrame.length; stack++) {
    if (totals.stacks[stack] === 0) continue;
    const parent = stackParent[stack];
    const siblings = parent === -1 ? roots : children.get(parent);
    if (siblings === undefined) children.set(parent, [stack]);
    else siblings.push(stack);
  }
  return layOut(
    roots,
    (stack) => children.get(stack),
    (stack) => totals.stacks[stack],
    (stack) => stackFrame[stack],
  );
}

/** The children of a call tree's root, with their descendants. */
export function treeLayout(root: CallTreeNode): FlameLayout {
  return layOut(
    [...root.children.values()],
    (node) => (node.children.size === 0 ? undefined : [...node.children.values()]),
    (node) => node.time,
    (node) => node.frame,
  );
}

/** Lays out a tree: siblings sorted by time, largest first. */
export function layOut<Node>(
  roots: Node[],
  childrenOf: (node: Node) => Node[] | undefined,
  timeOf: (node: Node) => number,
  frameOf: (node: Node) => number,
): FlameLayout {
  const layout = new LayoutBuilder();
  const pending: { node: Node; start: number; depth: number }[] = [];
  // The list is a stack: siblings go onto it in reverse, so that each depth is filled from left to right.
  const add = (nodes: Node[], from: number, depth: number): number => {
    let start = from;
    const placed = nodes
      .sort((a, b) => timeOf(b) - timeOf(a))
      .map((node) => {
        const box = { node, start, depth };
        start += timeOf(node);
        return box;
      });
    for (const box of placed.reverse()) pending.push(box);
    return start;
  };
  const end = add(roots, 0, 0);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, start, depth } = next;
    layout.push(depth, start, start + timeOf(node), frameOf(node));
    const children = childrenOf(node);
    if (children !== undefined) add(children, start, depth + 1);
  }
  return layout.build({ start: 0, end: end > 0 ? end : 1 });
}
