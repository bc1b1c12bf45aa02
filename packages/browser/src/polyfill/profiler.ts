// The interface `Profiler`, as WebIDL defines it: https://wicg.github.io/js-self-profiling/#the-profiler-interface

import { BASE_INTERVAL, MAX_DELAY, MAX_INTERVAL, MAX_PROFILERS } from './constants.ts';
import type { Trace } from '../../index.d.ts';
import { loadFunctions } from './functions.ts';
import { clearTimeout, defineProperty, Event, floor, min, now, setTimeout } from './intrinsics.ts';
import { newRecording, type Recording } from './recording.ts';
import { begin, end } from './sampler.ts';
import { traceOf } from './trace.ts';

const FAILED = "Failed to construct 'Profiler': ";

let profilers = 0;

/** A member of a `ProfilerInitOptions`, as a number. */
function member(options: unknown, name: string): number {
  const value = (options as Record<string, unknown> | null | undefined)?.[name];
  // Primitive values have no such members either.
  if (value === undefined) throw new TypeError(`${FAILED}${name} is missing.`);
  // Throws a TypeError for symbols and BigInts.
  return +(value as number);
}

export class Profiler extends EventTarget {
  /** An extension: whether this is not the browser's own. */
  static readonly polyfilled = true;

  #interval: number;
  /** Until it is stopped. */
  #recording: Recording | undefined;
  /** Cancels the event, unless it is due. */
  #cancel: () => void;

  constructor(options: unknown) {
    // In the order in which WebIDL converts them.
    const maxBufferSize = member(options, 'maxBufferSize') >>> 0;
    // An extension.
    if ((options as { mode?: unknown }).mode === 'trace')
      throw new TypeError(`${FAILED}mode 'trace' needs scripts instrumented with --mode trace.`);
    const sampleInterval = member(options, 'sampleInterval');
    if (sampleInterval - sampleInterval !== 0) throw new TypeError(`${FAILED}sampleInterval is out of range.`);
    if (sampleInterval < 0 || sampleInterval > MAX_INTERVAL)
      throw new RangeError(`${FAILED}sampleInterval is out of range.`);
    if (profilers >= MAX_PROFILERS) throw new TypeError(`${FAILED}${MAX_PROFILERS} profilers are running.`);
    super();
    profilers++;
    const start = now();
    const interval = BASE_INTERVAL * (-floor(-sampleInterval / BASE_INTERVAL) || 1);
    this.#interval = interval;
    this.#recording = newRecording(start, interval, maxBufferSize);
    begin(this.#recording);
    // A page that is left soon has no time for it later.
    loadFunctions();
    const untilFull = () => start + maxBufferSize * interval - now();
    // Timers may fire early.
    const wait = () => {
      timer = setTimeout(
        () => (untilFull() > 0 ? wait() : this.dispatchEvent(new Event('samplebufferfull'))),
        min(untilFull(), MAX_DELAY),
      );
    };
    let timer: ReturnType<typeof setTimeout>;
    this.#cancel = () => clearTimeout(timer);
    wait();
  }

  get sampleInterval(): number {
    return this.#interval;
  }

  get stopped(): boolean {
    return !this.#recording;
  }

  async stop(): Promise<Trace> {
    const recording = this.#recording;
    if (!recording) throw new DOMException('Profiler already stopped.', 'InvalidStateError');
    this.#recording = undefined;
    profilers--;
    this.#cancel();
    end(recording);
    return traceOf(recording);
  }
}

// Minifiers change the names of classes.
defineProperty(Profiler, 'name', { value: 'Profiler' });
const { prototype } = Profiler;
defineProperty(prototype, Symbol.toStringTag, { value: 'Profiler', configurable: true });
for (const member of ['sampleInterval', 'stop', 'stopped']) defineProperty(prototype, member, { enumerable: true });
