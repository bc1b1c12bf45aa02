// Functions grouped by package: those of a folder in `node_modules` as one function each, and those of Node.js.

import { FrameTable } from './frame-table.ts';
import { Profile } from './profile.ts';

export const NODE_PACKAGE = 'Node.js';
const OWN_CODE = '(own code)';
const HIDDEN = '(hidden)';

/** The package of a script; undefined for code outside of packages. */
export function packageOf(resource: string): string | undefined {
  if (/^node:/.test(resource)) return NODE_PACKAGE;
  const path = resource.replaceAll('\\', '/').replaceAll(/%40/gi, '@');
  // The innermost folder counts: `node_modules/.pnpm/x@1.2.3/node_modules/x` and `node_modules/y/node_modules/x` have
  // x.
  const folder = '/node_modules/';
  const at = `/${path}`.lastIndexOf(folder);
  if (at === -1) return undefined;
  const [name = '', inScope = ''] = path.slice(at + folder.length - 1).split('/');
  if (name === '') return undefined;
  return name.startsWith('@') && inScope !== '' ? `${name}/${inScope}` : name;
}

/** The functions of a trace, and after them the groups. */
class GroupedFrames extends FrameTable {
  readonly #frames: FrameTable;
  readonly #groups: string[];

  constructor(frames: FrameTable, groups: string[]) {
    super(frames.data);
    this.#frames = frames;
    this.#groups = groups;
  }

  override get count(): number {
    return this.#frames.count + this.#groups.length;
  }

  get firstGroup(): number {
    return this.#frames.count;
  }

  #group(frame: number): string | undefined {
    return this.#groups[frame - this.#frames.count];
  }

  override isGroup(frame: number): boolean {
    return frame >= this.#frames.count || this.#frames.isGroup(frame);
  }

  override isPseudoFunction(frame: number): boolean {
    return this.#group(frame) === HIDDEN || this.#frames.isPseudoFunction(frame);
  }

  override functionName(frame: number): string {
    return this.#group(frame) ?? this.#frames.functionName(frame);
  }

  override resource(frame: number): string | undefined {
    const group = this.#group(frame);
    if (group === undefined) return this.#frames.resource(frame);
    if (group === NODE_PACKAGE) return 'node:';
    return group.startsWith('(') ? undefined : `node_modules/${group}`;
  }

  override location(frame: number): string {
    return this.isGroup(frame) ? (this.resource(frame) ?? '') : this.#frames.location(frame);
  }

  override line(frame: number): number {
    return this.isGroup(frame) ? 0 : this.#frames.line(frame);
  }

  override identity(frame: number): string {
    const group = this.#group(frame);
    return group === undefined ? this.#frames.identity(frame) : `${group}\n${this.location(frame)}`;
  }
}

/** A trace with its functions grouped. */
export interface GroupedProfile {
  profile: Profile;
  /** By frame of the original trace: the frame of its group, or itself. */
  frameOf: Int32Array;
  /** The frames from `firstPackage` up to before `endOfPackages` are packages. */
  firstPackage: number;
  endOfPackages: number;
}

/**
 * Makes each package one function. Calls within a package become one call. With `all`, code outside of packages becomes
 * a function, too; packages have the same frames then.
 */
export function groupPackages(profile: Profile, all = false): GroupedProfile {
  const { frames } = profile;
  const base = frames.count;
  const groups: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (group: string): number => {
    let number = numbers.get(group);
    if (number === undefined) {
      number = groups.push(group) - 1;
      numbers.set(group, number);
    }
    return number;
  };
  const packages = new Map<string, string | undefined>();
  const frameOf = Int32Array.from({ length: base }, (_, frame) => {
    const resource = frames.resource(frame);
    if (resource === undefined) return frame;
    if (!packages.has(resource)) packages.set(resource, packageOf(resource));
    const name = packages.get(resource);
    return name === undefined ? frame : base + numberOf(name);
  });
  const endOfPackages = base + groups.length;
  if (all)
    for (let frame = 0; frame < base; frame++)
      if (frameOf[frame] === frame && !frames.isPseudoFunction(frame))
        frameOf[frame] = base + numberOf(frames.resource(frame) === undefined ? frames.withoutScript : OWN_CODE);
  const grouped = regroup(profile, frameOf, new GroupedFrames(frames, groups));
  return { profile: grouped, frameOf, firstPackage: base, endOfPackages };
}

/**
 * A trace without the functions of some packages. Their time counts for what called them, or for a function `(hidden)`
 * if nothing else is on the stack.
 */
export function hidePackages(profile: Profile, hidden: ReadonlySet<string>): Profile {
  const { frames } = profile;
  const isHidden = (frame: number): boolean => {
    const resource = frames.resource(frame);
    const name = resource === undefined ? undefined : packageOf(resource);
    return name !== undefined && hidden.has(name);
  };
  const frameOf = Int32Array.from({ length: frames.count }, (_, frame) => (isHidden(frame) ? NO_FRAME : frame));
  return regroup(profile, frameOf, new GroupedFrames(frames, [HIDDEN]));
}

/** Stands for a frame that is left out of stacks. */
const NO_FRAME = -1;

/**
 * The same samples with other frames. Adjacent frames of one group become one. A stack that has no frame left gets the
 * first group.
 */
function regroup(profile: Profile, frameOf: Int32Array, frames: GroupedFrames): Profile {
  const { stackFrame, stackParent } = profile;
  const frame: number[] = [];
  const parent: number[] = [];
  const known = new Map<number, number>();
  const stackOf = new Int32Array(stackFrame.length);
  for (let stack = 0; stack < stackFrame.length; stack++) {
    const outer = stackParent[stack] === -1 ? -1 : stackOf[stackParent[stack]];
    const own = frameOf[stackFrame[stack]];
    if (own === NO_FRAME || (outer !== -1 && frames.isGroup(own) && frame[outer] === own)) {
      stackOf[stack] = outer;
      continue;
    }
    const key = (outer + 1) * frames.count + own;
    let id = known.get(key);
    if (id === undefined) {
      id = frame.push(own) - 1;
      parent.push(outer);
      known.set(key, id);
    }
    stackOf[stack] = id;
  }
  let withoutFrames = -1;
  const shown = (stack: number): number => {
    if (stack === -1 || stackOf[stack] !== -1) return stack === -1 ? -1 : stackOf[stack];
    if (withoutFrames === -1) {
      withoutFrames = frame.push(frames.firstGroup) - 1;
      parent.push(-1);
    }
    return withoutFrames;
  };
  const threads = profile.threads.map((thread) => thread.withStacks(thread.stack.map(shown)));
  return new Profile(profile, frames, { frame: Int32Array.from(frame), parent: Int32Array.from(parent) }, threads);
}
