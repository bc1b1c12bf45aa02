'use strict';

// Makes the interfaces of a global object anew: a window of a page host has its own, as Node has.

const native = require('../native.cjs');
const { makeConversions } = require('./conversions.cjs');
const { makeCloneDetail } = require('./detail.cjs');
const { makeEntries } = require('./entry.cjs');
const { makeLongTasks } = require('./long-tasks.cjs');
const { combineHosts } = require('./hosts.cjs');
const { makeReadMark } = require('./mark.cjs');
const { makeReadMeasure } = require('./measure.cjs');
const { makePage } = require('./navigation.cjs');
const { makeObservation } = require('./observer.cjs');
const { makePerformance } = require('./performance.cjs');
const { makeRealm } = require('./realm.cjs');
const { makeResources } = require('./resource.cjs');
const { Timeline } = require('./timeline.cjs');
const { makeViews } = require('./views.cjs');

/**
 * @param {object} settings
 * @param {number} settings.origin the time origin on the monotonic clock, in milliseconds
 * @param {number} settings.timeOrigin the same since the Unix epoch
 * @param {5 | 100} settings.resolution in microseconds
 * @param {{ mark?: number, measure?: number }} settings.limits
 * @param {Record<string, Function>} settings.intrinsics
 * @param {(task: () => void) => void} settings.queueTask
 * @param {(error: unknown) => void} settings.reportException
 * @param {{ timing: Record<string, number>, navigation: object }} [settings.page] of a window
 * @param {object} [settings.host] what records entries of other types
 * @param {(onTask: (task: object) => void) => void} [settings.longTasks] where a window hears of long tasks, instead of a host
 * @param {(onResource: (resource: object) => void) => void} [settings.resources] where a global object hears of what is fetched for
 *   it, instead of a host; it needs `fireEvent`, too, and for a window `loading`: see resource.cjs
 * @param {(name: string) => number | undefined} [settings.milestone] the times that the host lets measures begin and end at
 * @param {import('./performance.cjs').Extension[]} [settings.extensions]
 * @returns {{ timing: import('../../timing.js').Timing, observation: { listen: (sink: (entry: object) => void) => () => void } }}
 *   `listen` has each new mark and measure handed to `sink`, until the function that it gives is called
 */
function makeTiming(settings) {
  const realm = makeRealm(settings.intrinsics);
  const timeline = new Timeline(new native.Timeline(settings.origin, settings.resolution, settings.limits));
  const page = settings.page && makePage(realm, settings.page.timing, settings.page.navigation);
  // https://w3c.github.io/performance-timeline/#dfn-last-performance-entry-id
  const firstId = 100 + Math.floor(Math.random() * 9901);

  const context = {
    ...settings,
    realm,
    timeline,
    conversions: makeConversions(realm),
    cloneDetail: makeCloneDetail(realm),
    window: page !== undefined,
    readAttributes: page?.readAttributes,
    firstId,
    navigationId: page === undefined ? 0 : firstId,
    extensions: [...(page === undefined ? [] : [page.extension]), ...(settings.extensions ?? [])],
  };
  context.readMark = makeReadMark(context);
  context.readMeasure = makeReadMeasure(context);
  context.entries = makeEntries(context);
  context.views = makeViews(context);
  const longTasks = settings.longTasks && makeLongTasks(context);
  const resources = settings.resources && makeResources(context);
  if (resources !== undefined) context.extensions.push(resources.extension);
  const hosts = [longTasks?.host, resources?.host].filter((host) => host !== undefined);
  if (hosts.length > 0) context.host = combineHosts(context.entries, hosts);
  context.observation = makeObservation(context);

  const { PerformanceEntry, PerformanceMark, PerformanceMeasure } = context.entries;
  const { PerformanceObserver, PerformanceObserverEntryList } = context.observation;
  const { Performance, performance } = makePerformance(context);
  resources?.setPerformance(performance);
  const timing = {
    performance,
    Performance,
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    PerformanceObserver,
    PerformanceObserverEntryList,
    ...longTasks?.interfaces,
    ...resources?.interfaces,
    ...(page && { PerformanceTiming: page.PerformanceTiming, PerformanceNavigation: page.PerformanceNavigation }),
  };
  return { timing, observation: context.observation };
}

module.exports = { makeTiming };
