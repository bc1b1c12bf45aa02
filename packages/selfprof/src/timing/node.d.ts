/** What `performance` of `node:perf_hooks` adds to the standards. */

import type { ProfilingOptions, ProfilingSession } from '../start-profiling.js';
import type { Performance } from './interfaces.js';

/** @see https://nodejs.org/api/perf_hooks.html#perf_hookseventlooputilizationutilization1-utilization2 */
export interface EventLoopUtilization {
  idle: number;
  active: number;
  utilization: number;
}

/** @see https://nodejs.org/api/perf_hooks.html#class-performancenodetiming */
export interface NodeTiming {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
  readonly duration: number;
  readonly nodeStart: number;
  readonly v8Start: number;
  readonly environment: number;
  readonly bootstrapComplete: number;
  readonly loopStart: number;
  readonly loopExit: number;
  readonly idleTime: number;
  toJSON(): any;
}

/**
 * `performance` with Node's additions. As in Node, {@link Performance.measure} also takes the names of milestones of
 * {@link NodeTiming}, such as `loopStart`, unless there is a mark of that name.
 */
export interface NodePerformance extends Performance {
  readonly nodeTiming: NodeTiming;
  eventLoopUtilization(utilization1?: EventLoopUtilization, utilization2?: EventLoopUtilization): EventLoopUtilization;
  timerify<F extends (...args: any[]) => any>(fn: F, options?: { histogram?: object }): F;
  /** Removes the `resource` entries. */
  clearResourceTimings(): void;
  setResourceTimingBufferSize(maxSize: number): void;
  markResourceTiming(...args: any[]): unknown;
  onresourcetimingbufferfull: ((event: Event) => void) | null;
  /**
   * Profiles the threads of the process that have loaded this package. Rejects with a `NotSupportedError`
   * `DOMException` for another version of the format.
   *
   * @see https://github.com/WICG/js-self-profiling/blob/6510f55/README.md#minimal-api-proposal
   */
  startProfiling(options?: ProfilingOptions): Promise<ProfilingSession>;
}
