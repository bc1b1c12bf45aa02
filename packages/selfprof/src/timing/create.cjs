'use strict';

// Makes the timing interfaces of one global object: Node's own, or a window's.

const native = require('../native.cjs');
const { makeTimesInCallOrder } = require('./call-order.cjs');
const { makeConversions } = require('./conversions.cjs');
const { makeCloneDetail } = require('./detail.cjs');
const { makeEntries } = require('./entry.cjs');
const { combineSources } = require('./entry-sources.cjs');
const { makeFilter } = require('./filter.cjs');
const { makeLongTasks } = require('./long-tasks.cjs');
const { makeReadMark } = require('./mark.cjs');
const { makeReadMeasure } = require('./measure.cjs');
const { makePage } = require('./navigation.cjs');
const { makeObservation } = require('./observer.cjs');
const { makePerformance } = require('./performance.cjs');
const { makeRealm } = require('./realm.cjs');
const { makeResources } = require('./resource.cjs');
const { Timeline } = require('./timeline.cjs');

/** @param {import('./types.js').TimingSettings} settings */
function makeTiming(settings) {
  const { timeOrigin, queueTask, reportException, milestone } = settings;
  const realm = makeRealm(settings.intrinsics);
  const conversions = makeConversions(realm);
  const cloneDetail = makeCloneDetail(realm);
  const timeline = new Timeline(new native.Timeline(settings.origin, settings.resolution, settings.limits));
  const page = settings.page && makePage(realm, settings.page.timing, settings.page.navigation);
  // https://w3c.github.io/performance-timeline/#dfn-last-performance-entry-id
  const firstId = 100 + Math.floor(Math.random() * 9901);

  const readMark = makeReadMark({ realm, conversions, timeline, window: page !== undefined, cloneDetail });
  const readAttributes = page?.readAttributes;
  const readMeasure = makeReadMeasure({ realm, conversions, timeline, cloneDetail, milestone, readAttributes });
  const navigationId = page === undefined ? 0 : firstId;
  const entries = makeEntries({ realm, timeline, readMark, firstId, navigationId });
  const filterEntries = makeFilter(realm, entries);

  const longTasks = settings.longTasks && makeLongTasks({ realm, entries, longTasks: settings.longTasks });
  const resources =
    settings.resources &&
    settings.fireEvent &&
    makeResources({
      realm,
      conversions,
      entries,
      firstId,
      queueTask,
      resources: settings.resources,
      loading: settings.loading,
      fireEvent: settings.fireEvent,
    });
  const sources = [settings.source, longTasks?.source, resources?.source].filter((source) => source !== undefined);
  const source = sources.length > 1 ? combineSources(sources, entries.startTimeOf) : sources[0];

  const observation = makeObservation({
    realm,
    conversions,
    timeline,
    entries,
    filterEntries,
    source,
    queueTask,
    reportException,
  });
  const { Performance, performance } = makePerformance({
    realm,
    conversions,
    timeline,
    timeOrigin,
    entries,
    filterEntries,
    observation,
    readMark,
    readMeasure,
    timesInCallOrder: makeTimesInCallOrder({ realm, timeline }),
    source,
    extensions: [page?.extension, ...(settings.extensions ?? []), resources?.extension].filter(
      (extension) => extension !== undefined,
    ),
  });
  resources?.setPerformance(performance);

  const interfaces = {
    performance,
    Performance,
    PerformanceEntry: entries.PerformanceEntry,
    PerformanceMark: entries.PerformanceMark,
    PerformanceMeasure: entries.PerformanceMeasure,
    PerformanceObserver: observation.PerformanceObserver,
    PerformanceObserverEntryList: observation.PerformanceObserverEntryList,
    ...longTasks?.interfaces,
    ...resources?.interfaces,
    ...(page && { PerformanceTiming: page.PerformanceTiming, PerformanceNavigation: page.PerformanceNavigation }),
  };
  // The classes inherit from each other by their prototypes, which the compiler does not see.
  const timing = /** @type {import('../../timing.js').Timing} */ (/** @type {unknown} */ (interfaces));
  return { timing, observation };
}

module.exports = { makeTiming };
