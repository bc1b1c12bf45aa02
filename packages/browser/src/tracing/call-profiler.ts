// `Profiler` with `mode: 'trace'`. The rest of its interface is that of
// https://wicg.github.io/js-self-profiling/#the-profiler-interface

import type { CallTrace } from '../../index.d.ts';
import { MAX_PROFILERS } from '../polyfill/constants.ts';
import { loadFunctions } from '../polyfill/functions.ts';
import { defineProperty, Event, now, setTimeout } from '../polyfill/intrinsics.ts';
import { begin, end } from './events.ts';
import { newRecording, type Recording } from './call-recording.ts';
import { traceOf } from './call-trace.ts';

const FAILED = "Failed to construct 'Profiler': ";

let profilers = 0;

/** Converts the options in WebIDL's order, and returns `maxBufferSize`. */
function convert(options: unknown): number {
  const { maxBufferSize, mode } = (options ?? {}) as Record<string, unknown>;
  if (maxBufferSize === undefined) throw new TypeError(`${FAILED}maxBufferSize is missing.`);
  // Throws a TypeError for symbols and BigInts.
  const size = +(maxBufferSize as number) >>> 0;
  if (`${mode}` !== 'trace')
    throw new TypeError(`${FAILED}mode must be 'trace': the scripts were instrumented with --mode trace.`);
  return size;
}

export class Profiler extends EventTarget {
  /** An extension: whether this is not the browser's own. */
  static readonly polyfilled = true;

  /** Until it is stopped. */
  #recording: Recording | undefined;

  constructor(options: unknown) {
    const maxEvents = convert(options);
    if (profilers >= MAX_PROFILERS) throw new TypeError(`${FAILED}${MAX_PROFILERS} profilers are running.`);
    super();
    profilers++;
    // A page that is left soon has no time for it later.
    loadFunctions();
    // In a job of its own: functions of the page are running.
    const onFull = () => setTimeout(() => this.dispatchEvent(new Event('samplebufferfull')), 0);
    this.#recording = newRecording(now(), maxEvents, onFull);
    begin(this.#recording);
  }

  /** There are no samples. */
  get sampleInterval(): number {
    return 0;
  }

  get stopped(): boolean {
    return !this.#recording;
  }

  async stop(): Promise<CallTrace> {
    const recording = this.#recording;
    if (!recording) throw new DOMException('Profiler already stopped.', 'InvalidStateError');
    this.#recording = undefined;
    profilers--;
    end(recording, now());
    return traceOf(recording);
  }
}

// Minifiers change the names of classes.
defineProperty(Profiler, 'name', { value: 'Profiler' });
const { prototype } = Profiler;
defineProperty(prototype, Symbol.toStringTag, { value: 'Profiler', configurable: true });
for (const member of ['sampleInterval', 'stop', 'stopped']) defineProperty(prototype, member, { enumerable: true });
