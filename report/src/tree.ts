// Trees of functions for the sandwich: who called a function, and what it called.

import type { Profile, Sums } from './profile.ts';

export interface TreeNode {
  frame: number;
  value: number;
  children: Map<number, TreeNode>;
}

function newNode(frame: number): TreeNode {
  return { frame, value: 0, children: new Map() };
}

function child(node: TreeNode, frame: number): TreeNode {
  let found = node.children.get(frame);
  if (found === undefined) {
    found = newNode(frame);
    node.children.set(frame, found);
  }
  return found;
}

/** The stacks that end in a function and in which it is called for the first time. */
function outermostCalls(profile: Profile, sums: Sums, frame: number): number[] {
  const stacks: number[] = [];
  for (let stack = 0; stack < profile.stackFrame.length; stack++) {
    if (profile.stackFrame[stack] === frame && sums.stacks[stack] > 0) stacks.push(stack);
  }
  return stacks.filter((stack) => {
    let ancestor = profile.stackParent[stack];
    while (ancestor !== -1 && profile.stackFrame[ancestor] !== frame) ancestor = profile.stackParent[ancestor];
    return ancestor === -1;
  });
}

/** Who called a function: the function itself on top, its callers below, the time of its calls divided among them. */
export function callers(profile: Profile, sums: Sums, frame: number): TreeNode {
  const root = newNode(-1);
  for (const stack of outermostCalls(profile, sums, frame)) {
    const value = sums.stacks[stack];
    let node = root;
    for (let at = stack; at !== -1; at = profile.stackParent[at]) {
      node = child(node, profile.stackFrame[at]);
      node.value += value;
    }
  }
  return root;
}

/** What a function called: the function itself on top, what it called below. */
export function callees(profile: Profile, sums: Sums, frame: number): TreeNode {
  const root = newNode(-1);
  const nodes = new Map<number, TreeNode>();
  const outermost = new Set(outermostCalls(profile, sums, frame));
  for (let stack = 0; stack < profile.stackFrame.length; stack++) {
    if (sums.stacks[stack] === 0) continue;
    // Parents come before their children.
    const parent = outermost.has(stack) ? root : nodes.get(profile.stackParent[stack]);
    if (parent === undefined) continue;
    const node = child(parent, profile.stackFrame[stack]);
    node.value += sums.stacks[stack];
    nodes.set(stack, node);
  }
  return root;
}
