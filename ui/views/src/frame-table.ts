// The functions of a trace: their names, locations and sources.

import type { ProfileData, Snippet } from './profile-data.ts';

/** The name of the frame that stands for the garbage collector, see crates/trace/src/gc_frames.rs. */
const GARBAGE_COLLECTOR = '(garbage collector)';
/** The name of the frame that stands for waiting, see crates/trace/src/waiting.rs. */
const WAITING = '(waiting)';
/** What the star after a name means. */
export const INFERRED_NOTE = '* inferred from the source';

export class FrameTable {
  /** What the trace says about its functions. */
  readonly data: ProfileData;

  constructor(data: ProfileData) {
    this.data = data;
  }

  get count(): number {
    return this.data.frames.name.length;
  }

  /** The function's name, or its inferred name with a star. */
  functionName(frame: number): string {
    const name = this.data.names[this.data.frames.name[frame]];
    if (name !== '') return name;
    const inferred = this.inferredName(frame);
    return inferred === undefined ? '(anonymous)' : `${inferred}*`;
  }

  /** The name of an anonymous function, inferred from its source. */
  inferredName(frame: number): string | undefined {
    return this.data.inferredNames[frame];
  }

  /** The URL of the frame's script; undefined for functions without one. */
  resource(frame: number): string | undefined {
    return this.data.resources[this.data.frames.resource[frame]];
  }

  /** Where the function is defined: URL, line and column; empty for the garbage collector and for waiting. */
  location(frame: number): string {
    const resource = this.resource(frame);
    if (resource === undefined) return this.isPseudoFunction(frame) ? '' : this.withoutScript;
    const line = this.data.frames.line[frame];
    const column = this.data.frames.column[frame];
    return resource + (line > 0 ? `:${line}` : '') + (line > 0 && column > 0 ? `:${column}` : '');
  }

  /**
   * What stands for the script of functions that have none. Native functions are not traced: those are not in the table
   * of functions.
   */
  get withoutScript(): string {
    const { threads } = this.data;
    return threads.length > 0 && threads.every(({ hasCalls }) => hasCalls) ? '(unknown)' : '(native)';
  }

  /** Whether the frame stands for the garbage collector or for waiting. */
  isPseudoFunction(frame: number): boolean {
    return (
      this.isWaiting(frame) || (this.resource(frame) === undefined && this.functionName(frame) === GARBAGE_COLLECTOR)
    );
  }

  /** Whether the frame stands for waiting. */
  isWaiting(frame: number): boolean {
    return this.resource(frame) === undefined && this.functionName(frame) === WAITING;
  }

  /** Whether the frame stands for several functions. */
  isGroup(_frame: number): boolean {
    return false;
  }

  line(frame: number): number {
    return this.data.frames.line[frame];
  }

  snippet(frame: number): Snippet | undefined {
    return this.data.snippets[frame];
  }

  /** Standard name and location. Frames of two traces with the same identity are the same function. */
  identity(frame: number): string {
    return `${this.data.names[this.data.frames.name[frame]]}\n${this.location(frame)}`;
  }
}
