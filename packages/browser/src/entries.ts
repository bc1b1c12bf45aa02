// What happens in the page: the performance entries that the collector knows.

import type { Entry, VitalMetric, WebVitals } from '../index.d.ts';
import { rounded } from './trace.ts';

const TYPES = ['mark', 'measure', 'longtask', 'long-animation-frame', 'event'];

/** Shorter events are not reported, in milliseconds. It is that of `web-vitals`. */
const SHORTEST_EVENT = 40;

/** Entries that wait to be sent. Further ones are dropped. */
const MAX_ENTRIES = 2_000;

export interface Entries {
  /** Those that began before a time. They are not given again. */
  take(end: number): Entry[];
  addVitals(vitals: WebVitals): void;
  stop(): void;
}

export function observeEntries(): Entries {
  let list: Entry[] = [];
  const add = ({ entryType, name, startTime, duration, interactionId }: Entry) => {
    // Other events are no interactions, such as those of a pointer that moves.
    if (list.length >= MAX_ENTRIES || (entryType === 'event' && !interactionId)) return;
    const entry: Entry = { entryType, name, startTime: rounded(startTime), duration: rounded(duration) };
    if (interactionId) entry.interactionId = interactionId;
    list.push(entry);
  };
  let lists: PerformanceObserverEntryList[] = [];
  const addAll = (entries: PerformanceEntryList) => {
    for (const entry of entries) add(entry as unknown as Entry);
  };
  let observer: PerformanceObserver | undefined;
  if (self.PerformanceObserver) {
    // They are looked at when they are needed, which costs the page less.
    observer = new PerformanceObserver((entries) => lists.length < MAX_ENTRIES && lists.push(entries));
    for (const type of TYPES)
      if (PerformanceObserver.supportedEntryTypes?.includes(type))
        observer.observe({ type, buffered: true, durationThreshold: SHORTEST_EVENT } as PerformanceObserverInit);
  }
  // Times until something begin with the navigation, or when a prerendered page is shown.
  const origin = () =>
    (performance.getEntriesByType?.('navigation')[0] as { activationStart?: number } | undefined)?.activationStart ?? 0;
  let largestPaint: number | undefined;
  return {
    take(end) {
      for (const entries of lists) addAll(entries.getEntries());
      lists = [];
      addAll(observer?.takeRecords() ?? []);
      if (largestPaint) {
        add({ entryType: 'measure', name: 'LCP', startTime: origin(), duration: largestPaint });
        // It was the largest as long as there are samples. It is sent once.
        largestPaint = 0;
      }
      // The events of one interaction overlap. The longest is what the user waits for.
      const longest = new Map<number, Entry>();
      const taken = list.filter((entry) => entry.startTime < end);
      list = list.filter((entry) => entry.startTime >= end);
      for (const entry of taken) {
        const id = entry.interactionId ?? 0;
        if (!(entry.duration <= (longest.get(id)?.duration ?? -1))) longest.set(id, entry);
      }
      return taken.filter((entry) => !entry.interactionId || longest.get(entry.interactionId) === entry);
    },
    addVitals({ onFCP, onINP, onLCP, onTTFB }) {
      const until = ({ name, value }: VitalMetric) =>
        add({ entryType: 'measure', name, startTime: origin(), duration: value });
      onTTFB?.(until);
      onFCP?.(until);
      onLCP?.(({ value }) => (largestPaint = largestPaint === 0 ? 0 : value), { reportAllChanges: true });
      onINP?.(({ name, value, entries: [first] }) => {
        if (first) add({ entryType: 'measure', name, startTime: first.startTime, duration: value });
      });
    },
    stop: () => observer?.disconnect(),
  };
}
