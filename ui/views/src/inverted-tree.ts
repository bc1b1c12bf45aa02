// The inverted call tree: functions by self time, and below each function its callers.

import type { FlameLayout } from './flame-layout.ts';
import { layOut } from './flame-layout.ts';
import type { Profile, Totals } from './profile.ts';

/** A node with a smaller part of the time gets no callers: it is narrower than a pixel at any useful zoom. */
const MIN_SHARE = 1 / 20_000;
/** Deep recursion makes huge trees. Beyond this number of visited stacks, nodes get no callers. */
const MAX_VISITS = 4_000_000;

interface Node {
  frame: number;
  time: number;
  /** Where the paths to this node continue: stacks of the frame, and the self time that each path has. */
  stacks: number[];
  times: number[];
}

export function inverted({ stackFrame, stackParent }: Profile, totals: Totals): FlameLayout {
  const minimum = totals.busy * MIN_SHARE;
  let visits = 0;
  /** A node for each frame of the stacks. */
  const nodesOf = (stacks: ArrayLike<number>, times: ArrayLike<number>): Node[] => {
    const nodes = new Map<number, Node>();
    for (let index = 0; index < stacks.length; index++) {
      const stack = stacks[index];
      const time = times[index];
      if (stack === -1 || time === 0) continue;
      const frame = stackFrame[stack];
      let node = nodes.get(frame);
      if (node === undefined) {
        node = { frame, time: 0, stacks: [], times: [] };
        nodes.set(frame, node);
      }
      node.time += time;
      node.stacks.push(stack);
      node.times.push(time);
    }
    return [...nodes.values()];
  };
  const callersOf = ({ time, stacks, times }: Node): Node[] | undefined => {
    visits += stacks.length;
    if (time < minimum || visits > MAX_VISITS) return undefined;
    return nodesOf(
      stacks.map((stack) => stackParent[stack]),
      times,
    );
  };
  const roots = nodesOf(Int32Array.from(stackFrame.keys()), totals.stackSelf);
  return layOut(
    roots,
    callersOf,
    (node) => node.time,
    (node) => node.frame,
  );
}
