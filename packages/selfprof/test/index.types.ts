// The types in index.d.ts, as a program uses them, and compared with the code.

import * as selfprof from 'selfprof';
import type { ProfilerTrace } from 'selfprof';

import type * as code from '../src/profiler.cjs';

/** The public members of a class. The mapped type drops its private names. */
type Public<T> = { [K in keyof T]: T[K] };

// The code adds Symbol.asyncIterator by Object.defineProperty.
declare const profilerInCode: Public<code.Profiler>;
const _instance: Omit<selfprof.Profiler, 'chunks' | typeof Symbol.asyncIterator> = profilerInCode;
declare const instance: selfprof.Profiler;
const _members: Omit<Public<code.Profiler>, 'chunks'> = instance;
declare const classInCode: typeof code.Profiler;
const _statics: Pick<typeof selfprof.Profiler, 'capabilities'> = classInCode;

const options: selfprof.ProfilerInitOptions = { sampleInterval: 10, maxBufferSize: 1000, bufferPolicy: 'chunks' };
const profiler = new selfprof.Profiler(options);
profiler.addEventListener('samplebufferfull', function (event) {
  this.stop();
  event.preventDefault();
});

async function _stops(): Promise<void> {
  for await (const chunk of profiler) chunk.samples.length;
  const trace: ProfilerTrace = await profiler.stop();
  const bytes: ArrayBuffer = await profiler.stop({ format: 'json-gzip' });
  // @ts-expect-error there is no such format
  await profiler.stop({ format: 'xml' });
  const _marker: selfprof.ProfilerMarker | undefined = trace.samples[0]?.marker;
  bytes.byteLength;

  const profiling = await selfprof.profileThreads({ sampleInterval: 10, maxBufferSize: 1000 });
  const { threads } = await profiling.stop();
  const _samples: ProfilerTrace | undefined = threads[0]?.trace;
  const zipped = await profiling.stop({ format: 'json-gzip' });
  const _bytes: ArrayBuffer | undefined = zipped.threads[0]?.trace;
}

const _number: number = selfprof.withMarker('layout', () => 7);
// @ts-expect-error `script` is V8's
selfprof.withMarker('script', () => 7);
// @ts-expect-error both numbers are required
new selfprof.Profiler({ sampleInterval: 10 });
