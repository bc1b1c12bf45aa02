// Flame graphs as boxes: for each depth, boxes side by side from left to right. The x axis is time in milliseconds, of the
// trace or of sums.

import type { Profile, Range, Sums } from './profile.ts';
import type { TreeNode } from './tree.ts';

/** The boxes of one depth, by their left edges; they do not overlap. */
export interface Level {
  start: Float64Array;
  end: Float64Array;
  frame: Int32Array;
}

export interface Boxes {
  levels: Level[];
  extent: Range;
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
    const grown = <T extends Float64Array | Int32Array>(old: T, larger: T): T => {
      larger.set(old);
      return larger;
    };
    this.#start = grown(this.#start, new Float64Array(this.#length * 2));
    this.#end = grown(this.#end, new Float64Array(this.#length * 2));
    this.#frame = grown(this.#frame, new Int32Array(this.#length * 2));
  }

  build(): Level {
    return { start: this.#start.slice(0, this.#length), end: this.#end.slice(0, this.#length), frame: this.#frame.slice(0, this.#length) };
  }
}

function builder(levels: LevelBuilder[], depth: number): LevelBuilder {
  return (levels[depth] ??= new LevelBuilder());
}

/** Calls in the order of time. Neighbouring samples with the same functions are one call: nobody saw it end between them. */
export function timeOrder(profile: Profile): Boxes {
  const levels: LevelBuilder[] = [];
  /** The stacks of the calls that go on, by depth, with when they began. */
  const open: number[] = [];
  const began: number[] = [];
  const path: number[] = [];
  let previousEnd = profile.extent.start;
  const close = (depth: number): void => {
    while (open.length > depth) {
      const stack = open.pop()!;
      builder(levels, open.length).push(began.pop()!, previousEnd, profile.stackFrame[stack]);
    }
  };
  for (let sample = 0; sample < profile.time.length; sample++) {
    const stack = profile.stack[sample];
    const end = profile.time[sample];
    const start = end - profile.weight[sample];
    // Nobody looked between two samples that are not side by side.
    if (start > previousEnd + 1e-6) close(0);
    const depth = stack === -1 ? 0 : profile.stackDepth[stack] + 1;
    let shared = Math.min(depth, open.length);
    path.length = depth;
    for (let at = stack, level = depth - 1; level >= 0; level--, at = profile.stackParent[at]) {
      path[level] = at;
      // Where the stacks are one, so are all of their callers.
      if (level < open.length && open[level] === at) break;
      if (level < shared) shared = level;
    }
    close(shared);
    for (let level = shared; level < depth; level++) {
      open.push(path[level]);
      began.push(start);
    }
    previousEnd = end;
  }
  close(0);
  return { levels: levels.map((level) => level.build()), extent: profile.extent };
}

/** Calls by where they were made from, those that took longest first. */
export function leftHeavy(profile: Profile, sums: Sums): Boxes {
  const { stackFrame, stackParent } = profile;
  const children: number[][] = [];
  const roots: number[] = [];
  for (let stack = 0; stack < stackFrame.length; stack++) {
    if (sums.stacks[stack] === 0) continue;
    const parent = stackParent[stack];
    if (parent === -1) roots.push(stack);
    else (children[parent] ??= []).push(stack);
  }
  return layOut(
    roots,
    (stack) => children[stack],
    (stack) => sums.stacks[stack],
    (stack) => stackFrame[stack],
  );
}

/** The boxes of a tree whose sums are known. */
export function ofTree(root: TreeNode): Boxes {
  return layOut(
    [...root.children.values()],
    (node) => (node.children.size === 0 ? undefined : [...node.children.values()]),
    (node) => node.value,
    (node) => node.frame,
  );
}

function layOut<Node>(roots: Node[], childrenOf: (node: Node) => Node[] | undefined, valueOf: (node: Node) => number, frameOf: (node: Node) => number): Boxes {
  const levels: LevelBuilder[] = [];
  const byValue = (a: Node, b: Node): number => valueOf(b) - valueOf(a);
  let end = 0;
  const pending: { node: Node; start: number; depth: number }[] = [];
  // The last of the list comes next, so that each depth is filled from left to right.
  const add = (nodes: Node[], from: number, depth: number): number => {
    let start = from;
    const placed = nodes.sort(byValue).map((node) => {
      const place = { node, start, depth };
      start += valueOf(node);
      return place;
    });
    pending.push(...placed.reverse());
    return start;
  };
  end = add(roots, 0, 0);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, start, depth } = next;
    builder(levels, depth).push(start, start + valueOf(node), frameOf(node));
    const children = childrenOf(node);
    if (children !== undefined) add(children, start, depth + 1);
  }
  return { levels: levels.map((level) => level.build()), extent: { start: 0, end: end > 0 ? end : 1 } };
}
