'use strict';

// PerformanceResourceTiming and PerformanceNavigationTiming, and their additions to Performance. The host reports what
// was fetched and when, on the window's clock, and leaves out what the window may not know.
// https://w3c.github.io/resource-timing/ and https://w3c.github.io/navigation-timing/

const { ID_STEP } = require('./entry.cjs');
const { makeEventHandler } = require('./event-handler.cjs');
const { defineInterface } = require('./interface.cjs');

/** https://w3c.github.io/resource-timing/#dom-performance-setresourcetimingbuffersize */
const BUFFER_SIZE = 250;

/**
 * Keeps the ids of resources apart from those of marks and measures, which are multiples of the step: see entry.cjs.
 */
const ID_OFFSET = 3;
const FULL = 'resourcetimingbufferfull';

/**
 * @typedef {import('./types.js').AnyEntry} AnyEntry
 * @typedef {import('./types.js').EntrySource} EntrySource
 * @typedef {import('./types.js').FetchDescription} FetchDescription
 * @typedef {import('./types.js').PageLoading} PageLoading
 * @typedef {import('./types.js').ResourceDescription} ResourceDescription
 */

/**
 * What an entry shows: a resource, or the document that a window was navigated to.
 *
 * @typedef {ResourceDescription & { isNavigation: false, milestones?: undefined }} Resource
 * @typedef {ResourceDescription & { isNavigation: true, milestones: PageLoading['milestones'] }} Navigation
 */

/**
 * The attributes of PerformanceResourceTiming.
 *
 * @type {Record<string, (resource: Resource | Navigation) => unknown>}
 */
const RESOURCE = {
  initiatorType: ({ initiator }) => initiator,
  // There is no cache.
  deliveryType: () => '',
  nextHopProtocol: ({ protocol }) => protocol,
  // There are no service workers.
  workerStart: () => 0,
  redirectStart: ({ redirectStart }) => redirectStart,
  redirectEnd: ({ redirectEnd }) => redirectEnd,
  fetchStart: ({ fetchStart }) => fetchStart,
  domainLookupStart: ({ domainLookupStart }) => domainLookupStart,
  domainLookupEnd: ({ domainLookupEnd }) => domainLookupEnd,
  connectStart: ({ connectStart }) => connectStart,
  connectEnd: ({ connectEnd }) => connectEnd,
  secureConnectionStart: ({ secureConnectionStart }) => secureConnectionStart,
  requestStart: ({ requestStart }) => requestStart,
  // Interim responses are not reported.
  finalResponseHeadersStart: ({ responseStart }) => responseStart,
  firstInterimResponseStart: () => 0,
  responseStart: ({ responseStart }) => responseStart,
  responseEnd: ({ responseEnd }) => responseEnd,
  // There are no service workers here either.
  workerRouterEvaluationStart: () => 0,
  workerCacheLookupStart: () => 0,
  workerMatchedRouterSource: () => '',
  workerFinalRouterSource: () => '',
  transferSize: ({ transferSize }) => transferSize,
  encodedBodySize: ({ encodedSize }) => encodedSize,
  decodedBodySize: ({ decodedSize }) => decodedSize,
  responseStatus: ({ status }) => status,
  // Nothing is rendered.
  renderBlockingStatus: () => 'non-blocking',
  contentType: ({ contentType }) => contentType,
  contentEncoding: ({ contentEncoding }) => contentEncoding,
};

const MILESTONES = [
  'unloadEventStart',
  'unloadEventEnd',
  'domInteractive',
  'domContentLoadedEventStart',
  'domContentLoadedEventEnd',
  'domComplete',
  'loadEventStart',
  'loadEventEnd',
];

/**
 * The attributes that PerformanceNavigationTiming adds.
 *
 * @type {Record<string, (navigation: Navigation) => unknown>}
 */
const NAVIGATION = {
  ...Object.fromEntries(
    MILESTONES.map((name) => [name, (/** @type {Navigation} */ { milestones }) => milestones(name)]),
  ),
  type: () => 'navigate',
  redirectCount: ({ redirectCount }) => redirectCount,
  // There are no client hints.
  criticalCHRestart: () => 0,
  // There is no back/forward cache.
  notRestoredReasons: () => null,
};

/**
 * The description of a document that was not fetched.
 *
 * @type {FetchDescription}
 */
const NO_FETCH = {
  protocol: '',
  redirectStart: 0,
  redirectEnd: 0,
  redirectCount: 0,
  fetchStart: 0,
  domainLookupStart: 0,
  domainLookupEnd: 0,
  connectStart: 0,
  connectEnd: 0,
  secureConnectionStart: 0,
  requestStart: 0,
  responseStart: 0,
  responseEnd: 0,
  transferSize: 0,
  encodedSize: 0,
  decodedSize: 0,
  status: 0,
  contentType: '',
  contentEncoding: '',
};

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./conversions.cjs').Conversions} context.conversions
 * @param {import('./entry.cjs').Entries} context.entries
 * @param {number} context.firstId
 * @param {(onResource: (resource: ResourceDescription) => void) => void} context.resources is called once, with the
 *   function to call for each resource
 * @param {PageLoading} [context.loading] of a window
 * @param {(task: () => void) => void} context.queueTask
 * @param {(target: EventTarget, type: string) => void} context.fireEvent
 */
function makeResources({ realm, conversions, entries, firstId, resources, loading, queueTask, fireEvent }) {
  const { TypeError } = realm;
  const { requireArguments } = conversions;
  const TOKEN = Symbol('internal');
  /** @type {(value: unknown) => Resource | Navigation} */
  let resourceOf;
  /** @type {(entry: PerformanceResourceTiming) => number} */
  let idOf;
  /** @type {(value: unknown, isNavigation: boolean) => boolean} */
  let isOf;
  let made = 0;

  class PerformanceResourceTiming {
    #resource;
    #id;

    /**
     * @param {symbol} [token]
     * @param {Resource | Navigation} [resource]
     * @param {number} [id]
     */
    constructor(token, resource, id) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#resource = /** @type {Resource | Navigation} */ (resource);
      this.#id = /** @type {number} */ (id);
    }

    toJSON() {
      const json = entries.toJSON(this);
      const resource = resourceOf(this);
      for (const [name, read] of Object.entries(RESOURCE)) json[name] = read(resource);
      if (resource.isNavigation) for (const [name, read] of Object.entries(NAVIGATION)) json[name] = read(resource);
      return json;
    }

    static {
      resourceOf = (value) => {
        if (typeof value !== 'object' || value === null || !(#resource in value)) throw illegal();
        return value.#resource;
      };
      isOf = (value, isNavigation) =>
        typeof value === 'object' &&
        value !== null &&
        #resource in value &&
        value.#resource.isNavigation === isNavigation;
      idOf = (entry) => entry.#id;
    }
  }

  class PerformanceNavigationTiming extends PerformanceResourceTiming {
    toJSON() {
      navigationOf(this);
      return super.toJSON();
    }
  }

  function illegal() {
    return new TypeError('Illegal invocation');
  }

  /** @param {unknown} value */
  function navigationOf(value) {
    const resource = resourceOf(value);
    if (!resource.isNavigation) throw illegal();
    return resource;
  }

  /**
   * @template T
   * @param {Function} Interface
   * @param {Record<string, (resource: T) => unknown>} attributes
   * @param {(value: unknown) => T} access
   */
  function defineAttributes(Interface, attributes, access) {
    for (const [name, read] of Object.entries(attributes)) {
      const attribute = {
        /** @returns {unknown} */
        get [name]() {
          return read(access(this));
        },
      };
      const descriptor = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(attribute, name));
      Object.defineProperty(Interface.prototype, name, descriptor);
    }
  }
  defineAttributes(PerformanceResourceTiming, RESOURCE, resourceOf);
  defineAttributes(PerformanceNavigationTiming, NAVIGATION, navigationOf);

  /**
   * How entry.cjs reads entries of one type.
   *
   * @param {string} entryType
   * @param {boolean} isNavigation
   * @param {(entry: object) => number} duration
   * @returns {import('./types.js').EntryReader<PerformanceResourceTiming>}
   */
  const readerOf = (entryType, isNavigation, duration) => ({
    entryType,
    has: (value) => isOf(value, isNavigation),
    block: () => undefined,
    id: idOf,
    name: (entry) => resourceOf(entry).url,
    startTime: (entry) => resourceOf(entry).startTime,
    duration,
  });
  entries.addInterface(
    PerformanceResourceTiming,
    readerOf('resource', false, (entry) => resourceOf(entry).responseEnd - resourceOf(entry).startTime),
    readerOf('navigation', true, (entry) => navigationOf(entry).milestones('loadEventEnd')),
  );
  defineInterface(realm, PerformanceResourceTiming, { inherits: true });
  defineInterface(realm, PerformanceNavigationTiming, { inherits: true });

  // https://w3c.github.io/resource-timing/#resource-timing-buffer

  /** @type {AnyEntry[]} */
  let buffer = [];
  let limit = BUFFER_SIZE;
  /**
   * Entries that came while the buffer was full.
   *
   * @type {AnyEntry[]}
   */
  let secondary = [];
  let isFullPending = false;
  let dropped = 0;
  /** @type {EventTarget} */
  let performance;
  /** @type {Map<string, (entry: AnyEntry) => void>} */
  const reports = new Map();

  resources((resource) => {
    const entry = newEntry(PerformanceResourceTiming, { ...resource, isNavigation: false }, idOfResource(made++));
    // In this order: an observer gets the count of dropped entries before its own entries.
    add(entry);
    reports.get('resource')?.(entry);
  });

  /** @param {number} index */
  function idOfResource(index) {
    return firstId + ID_STEP * index + ID_OFFSET;
  }

  /**
   * @param {typeof PerformanceResourceTiming} Interface
   * @param {Resource | Navigation} resource
   * @param {number} id
   */
  function newEntry(Interface, resource, id) {
    // PerformanceEntry is in its prototype chain.
    return /** @type {AnyEntry} */ (/** @type {unknown} */ (new Interface(TOKEN, resource, id)));
  }

  /** @param {AnyEntry} entry */
  function add(entry) {
    if (buffer.length < limit && !isFullPending) {
      buffer.push(entry);
      return;
    }
    if (!isFullPending) {
      isFullPending = true;
      queueTask(fireFull);
    }
    if (secondary.length < BUFFER_SIZE) secondary.push(entry);
    else dropped += 1;
  }

  /** https://w3c.github.io/resource-timing/#dfn-fire-a-buffer-full-event */
  function fireFull() {
    while (secondary.length > 0) {
      const excess = secondary.length;
      if (buffer.length >= limit) fireEvent(performance, FULL);
      buffer.push(...secondary.splice(0, Math.max(0, limit - buffer.length)));
      if (secondary.length >= excess) {
        dropped += excess;
        secondary = [];
      }
    }
    isFullPending = false;
  }

  const navigation = loading === undefined ? [] : [newNavigation(loading)];

  /** @param {PageLoading} page */
  function newNavigation(page) {
    const fetched = () => page.fetched() ?? NO_FETCH;
    const resource = { isNavigation: true, initiator: 'navigation', startTime: 0, milestones: page.milestones };
    Object.defineProperty(resource, 'url', { get: page.name });
    for (const name of /** @type {(keyof FetchDescription)[]} */ (Object.keys(NO_FETCH))) {
      Object.defineProperty(resource, name, { get: () => fetched()[name] });
    }
    // The id is the document's navigation id: https://w3c.github.io/performance-timeline/#dfn-navigation-id
    const entry = newEntry(PerformanceNavigationTiming, /** @type {Navigation} */ (resource), firstId);
    page.onLoaded(() => reports.get('navigation')?.(entry));
    return entry;
  }

  /** @type {EntrySource} */
  const source = {
    entryTypes: loading === undefined ? ['resource'] : ['navigation', 'resource'],
    getEntries(type) {
      if (type === 'navigation') return navigation;
      if (type === 'resource') return buffer;
      if (type !== undefined) return [];
      return [...navigation, ...buffer].sort((a, b) => entries.startTimeOf(a) - entries.startTimeOf(b));
    },
    droppedEntries: (type) => (type === 'resource' ? dropped : 0),
    watch(type, onEntry) {
      reports.set(type, onEntry);
    },
    unwatch(type) {
      reports.delete(type);
    },
  };

  /**
   * https://w3c.github.io/resource-timing/#sec-extensions-performance-interface
   *
   * @type {import('./types.js').Extension}
   */
  const extension = (requirePerformance) => {
    const NAME = "Failed to execute 'setResourceTimingBufferSize' on 'Performance'";
    const onFull = makeEventHandler(FULL);
    return {
      members: {
        clearResourceTimings() {
          requirePerformance(this);
          buffer = [];
        },
        /** @param {unknown} maxSize */
        setResourceTimingBufferSize(maxSize) {
          requirePerformance(this);
          requireArguments(arguments.length, 1, NAME);
          // `unsigned long`
          limit = /** @type {number} */ (maxSize) >>> 0;
        },
        get onresourcetimingbufferfull() {
          requirePerformance(this);
          return onFull.get();
        },
        set onresourcetimingbufferfull(handler) {
          requirePerformance(this);
          onFull.set(this, handler);
        },
      },
      lengths: { setResourceTimingBufferSize: 1 },
    };
  };

  return {
    interfaces: { PerformanceResourceTiming, ...(loading && { PerformanceNavigationTiming }) },
    extension,
    source,
    /** @param {EventTarget} object */
    setPerformance(object) {
      performance = object;
    },
  };
}

module.exports = { makeResources };
