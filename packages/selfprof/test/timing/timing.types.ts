// Compiled, never run: what the declarations promise to programs in TypeScript.

import { type PerformanceEntry, PerformanceMark, PerformanceMeasure, PerformanceObserver, performance } from 'selfprof';
import { createTiming } from 'selfprof/timing';
import 'selfprof/register/timing';

const mark: PerformanceMark = performance.mark('begin', { startTime: 1.5, detail: { step: 1 } });
const measure: PerformanceMeasure = performance.measure('job', 'begin');
performance.measure('job', { start: 0, end: 'begin', detail: mark.detail });
const entries: PerformanceEntry[] = performance.getEntriesByName('job', 'measure');
const times: number[] = performance.getMarks('begin');
const durations: number[] | undefined = performance.getMeasures().job;
const origin: number = performance.timeOrigin + performance.now();
const { utilization } = performance.eventLoopUtilization();
const add: (a: number, b: number) => number = performance.timerify((a: number, b: number) => a + b);

new PerformanceObserver((list, observer, { droppedEntriesCount }) => {
  for (const { name, duration } of list.getEntriesByType('measure')) report(name, duration, droppedEntriesCount ?? 0);
  observer.disconnect();
}).observe({ type: 'measure', buffered: true });
new PerformanceObserver(() => {}).observe({ entryTypes: ['mark', 'measure'] });

new PerformanceMark('elsewhere', { startTime: 0 });
// @ts-expect-error: the interface has no constructor
new PerformanceMeasure('elsewhere');
// @ts-expect-error: times are read-only
mark.startTime = 0;
// @ts-expect-error: a mark has a name
performance.mark();
// @ts-expect-error: one type or several
new PerformanceObserver(() => {}).observe({ type: 'mark', entryTypes: ['mark'] });

const { performance: page, PerformanceTiming } = createTiming({
  timing: { navigationStart: origin },
  limits: { mark: 100 },
});
const started: number = page.timing.navigationStart;
const isTiming: boolean = page.timing instanceof PerformanceTiming;
const reload: boolean = page.navigation.type === page.navigation.TYPE_RELOAD;
const worker = createTiming({ crossOriginIsolated: true, queueTask: (task) => setTimeout(task) });
// @ts-expect-error: only a window has it
worker.performance.timing;

// What `selfprof/register/timing` adds to the global object's.
const global: number[] = globalThis.performance.getMarks('begin');

declare function report(...values: unknown[]): void;
report(measure, entries, times, durations, utilization, add, started, isTiming, reload, global);
