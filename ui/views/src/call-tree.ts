// Call trees around one function: its callers and its callees.

import type { Profile, Totals } from './profile.ts';

export interface CallTreeNode {
  frame: number;
  /** Total time in milliseconds. */
  time: number;
  children: Map<number, CallTreeNode>;
}

function newNode(frame: number): CallTreeNode {
  return { frame, time: 0, children: new Map() };
}

function childOf(node: CallTreeNode, frame: number): CallTreeNode {
  let child = node.children.get(frame);
  if (child === undefined) {
    child = newNode(frame);
    node.children.set(frame, child);
  }
  return child;
}

/** The stacks that end in a function and do not contain it further up: its non-recursive calls. */
function outermostCalls(profile: Profile, totals: Totals, frame: number): number[] {
  const stacks: number[] = [];
  for (let stack = 0; stack < profile.stackFrame.length; stack++) {
    if (profile.stackFrame[stack] === frame && totals.stacks[stack] > 0) stacks.push(stack);
  }
  return stacks.filter((stack) => {
    let ancestor = profile.stackParent[stack];
    while (ancestor !== -1 && profile.stackFrame[ancestor] !== frame) ancestor = profile.stackParent[ancestor];
    return ancestor === -1;
  });
}

/** The inverted tree of a function: its callers are its descendants, and share its total time. */
export function callers(profile: Profile, totals: Totals, frame: number): CallTreeNode {
  const root = newNode(-1);
  for (const stack of outermostCalls(profile, totals, frame)) {
    const time = totals.stacks[stack];
    let node = root;
    for (let at = stack; at !== -1; at = profile.stackParent[at]) {
      node = childOf(node, profile.stackFrame[at]);
      node.time += time;
    }
  }
  return root;
}

/** All calls of a function merged into one tree: its callees are its descendants. */
export function callees(profile: Profile, totals: Totals, frame: number): CallTreeNode {
  const root = newNode(-1);
  const nodes = new Map<number, CallTreeNode>();
  const outermost = new Set(outermostCalls(profile, totals, frame));
  for (let stack = 0; stack < profile.stackFrame.length; stack++) {
    if (totals.stacks[stack] === 0) continue;
    // Parents precede their children.
    const parent = outermost.has(stack) ? root : nodes.get(profile.stackParent[stack]);
    if (parent === undefined) continue;
    const node = childOf(parent, profile.stackFrame[stack]);
    node.time += totals.stacks[stack];
    nodes.set(stack, node);
  }
  return root;
}
