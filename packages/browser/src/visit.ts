// One visit of a page: when it is recorded, and what of it is sent when.

import type { Agent, Entry, Options, ProfilerClass, Trace, Upload } from '../index.d.ts';
import { observeEntries } from './entries.ts';
import { type Recording, recorder } from './recorder.ts';
import { pathOf, watchRoutes } from './routes.ts';
import { now, randomId, scope, whenIdle } from './scope.ts';
import { MAX_KEEPALIVE, sender } from './sender.ts';
import { isNews, sessionOf } from './session.ts';
import { cleaned, firstAfter, part } from './trace.ts';

/**
 * When the first profiler is followed by the next one, and later ones, in milliseconds. A page that crashes loses what
 * is younger.
 */
const FIRST_PERIOD = 5_000;
const PERIOD = 30_000;

/**
 * The samples of this time fit into the buffer of a profiler, in milliseconds: a page may be too busy to start the next
 * one in time.
 */
const BUFFER = 60_000;

/** The time between two requests of a page that is shown, in milliseconds. */
const PAUSE = 55_000;

/** How long after a recording its entries may come, in milliseconds. */
const LATE = 1_000;

/** The entries that begin before a time, and the others. */
const divided = (entries: Entry[], time: number) => [
  entries.filter(({ startTime }) => startTime < time),
  entries.filter(({ startTime }) => startTime >= time),
];

export function run(options: Options): Agent | undefined {
  const { app, release, environment, beforeSend, sampleInterval = 10 } = options;
  const maxBufferSize = options.maxBufferSize ?? BUFFER / sampleInterval;
  if (scope.navigator.globalPrivacyControl) return undefined;
  const session = sessionOf(options);
  if (!session.rate) return undefined;

  const visit = { app, release, environment, session: session.id, rate: session.rate };
  const visitId = randomId();
  const isPage = scope.document !== undefined;
  // A worker from a `blob:` URL does not know what a relative one is relative to.
  const outbox = sender(new Request(options.url).url, isPage && options.worker !== false);
  const routes = watchRoutes(options.route ?? pathOf);
  const entries = observeEntries();
  let recordings: Recording[] = [];
  let uploads = 0;
  let lastSent = -Infinity;
  let isRecording = false;
  let isStopped = false;
  /** Whether the page is about to end, or to be kept for Back. */
  let isEnd = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  // Code in the HTML has the URL of the page, in which there may be what its route leaves out.
  const own = cleaned(scope.location.href);
  const ownName = scope.location.origin + routes[0].page;
  const nameOf = (url: string) => (cleaned(url) === own ? ownName : cleaned(url));

  /** Tells the collector, once in a session, how it is profiled, or why it cannot be. */
  const tell = (coverage: string) => {
    if (!isNews(session, app, coverage)) return;
    const { page } = routes[routes.length - 1];
    outbox.add(JSON.stringify({ id: `${session.id}-${coverage}`, ...visit, page, coverage }));
    if (coverage !== 'native') setTimeout(() => whenIdle(send), LATE);
  };

  const makeProfiler = (onFull: () => void) => {
    let problem = 'no-api';
    for (const isNative of [true, false]) {
      const Profiler: ProfilerClass | undefined = isNative
        ? scope.Profiler
        : (options.Profiler ?? scope.ProfilerPolyfill);
      if (!Profiler) continue;
      try {
        const profiler = new Profiler({ sampleInterval, maxBufferSize });
        profiler.addEventListener('samplebufferfull', onFull);
        tell(isNative && !Profiler.polyfilled ? 'native' : 'polyfill');
        return profiler;
      } catch (error) {
        problem = (error as Error).name === 'NotAllowedError' ? 'not-allowed' : 'failed';
      }
    }
    // The page of a worker tells it for both.
    if (isPage) tell(problem);
    return undefined;
  };

  const send = () => {
    // The application loads first.
    if (isPage && document.readyState !== 'complete') return;
    outbox.send();
  };

  /** Adds a profile of some samples, or several that are small enough. */
  const addUpload = (trace: Trace, first: number, end: number, page: string, own: Entry[], isSmall = !isRecording) => {
    const { isBusy, ...samples } = part(trace, first, end, nameOf, isSmall);
    if (first >= end || !(isBusy || own.length)) return;
    let upload: Upload | null | undefined = {
      id: `${visitId}-${uploads}`,
      ...visit,
      page,
      entries: own,
      trace: samples,
    };
    let body = JSON.stringify(upload);
    if (body.length > MAX_KEEPALIVE && end - first > 1) {
      const middle = (first + end) >> 1;
      const { timestamp } = trace.samples[middle];
      const [early, late] = divided(own, timestamp);
      addUpload(trace, first, middle, page, early, true);
      addUpload(trace, middle, end, page, late, true);
      return;
    }
    if (beforeSend) {
      try {
        upload = beforeSend(upload);
      } catch {
        upload = null;
      }
      if (!upload) return;
      body = JSON.stringify(upload);
    }
    uploads++;
    outbox.add(body);
  };

  /** Makes uploads of what was recorded: one for each route. */
  const finish = () => {
    const all = recordings;
    recordings = [];
    for (const { trace, start, end } of all) {
      let first = firstAfter(trace, start);
      let own = entries.take(end);
      routes.forEach(({ page }, index) => {
        const routeEnd = Math.min(end, routes[index + 1]?.start ?? Infinity);
        if (routeEnd <= start) return;
        const last = firstAfter(trace, routeEnd);
        const [mine, others] = divided(own, routeEnd);
        addUpload(trace, first, last, page, mine);
        own = others;
        first = Math.max(first, last);
      });
      // Later recordings are on later routes.
      while (routes[1]?.start <= end) routes.shift();
    }
  };

  const profilers = recorder(makeProfiler, (recording) => {
    recordings.push(recording);
    if (isRecording) setTimeout(() => whenIdle(finishAndSend), LATE);
    else leave();
  });

  const finishAndSend = () => {
    finish();
    if (now() - lastSent < PAUSE) return;
    lastSent = now();
    send();
  };

  const tick = (period: number) => {
    const mine = setTimeout(
      () =>
        whenIdle(() => {
          // The page may have been hidden meanwhile.
          if (mine !== timer) return;
          profilers.next();
          tick(Math.min(PERIOD, (maxBufferSize * sampleInterval) / 2));
        }),
      period,
    );
    timer = mine;
  };

  const show = () => {
    if (isRecording || isStopped || (isPage && document.visibilityState === 'hidden')) return;
    isRecording = profilers.next();
    if (isRecording) tick(FIRST_PERIOD);
  };

  const leave = () => {
    if (isRecording) {
      isRecording = false;
      clearTimeout(timer);
      timer = undefined;
      profilers.stop();
    }
    finish();
    outbox.leave(isEnd);
  };

  if (isPage) {
    // At the window, other listeners have been called before, such as those of `web-vitals`.
    addEventListener('visibilitychange', () => (document.hidden ? leave() : show()));
    addEventListener('pagehide', () => {
      isEnd = true;
      // Otherwise, the page is hidden next.
      if (document.hidden) leave();
    });
    addEventListener('pageshow', () => {
      isEnd = false;
      show();
    });
    // The trace of a profiler that is stopped at `pagehide` comes too late if the next page is there.
    addEventListener('beforeunload', () => isRecording && profilers.next());
  }
  show();
  setTimeout(() => whenIdle(send), LATE);
  return {
    session: session.id,
    flush: () => {
      lastSent = -Infinity;
      if (isRecording) profilers.next();
    },
    stop: () => {
      isStopped = true;
      leave();
      entries.stop();
    },
    addVitals: entries.addVitals,
  };
}
