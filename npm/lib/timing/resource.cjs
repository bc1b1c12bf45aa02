'use strict';

// PerformanceResourceTiming and PerformanceNavigationTiming, and what Performance has of them. What was fetched, and when, the
// host says: as readings of the window's clock, with nothing in it that the window may not know.
// https://w3c.github.io/resource-timing/ and https://w3c.github.io/navigation-timing/

const { defineInterface } = require('./interface.cjs');

/** https://w3c.github.io/resource-timing/#dom-performance-setresourcetimingbuffersize */
const BUFFER_SIZE = 250;

/** Ids of resources are none of marks', which are a multiple of the step away from the first: see entry.cjs. */
const ID_STEP = 7;
const ID_OFFSET = 3;
const FULL = 'resourcetimingbufferfull';

/** The attributes of the interfaces with the descriptions' members that they show, or what they always are. */
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
  // Interim responses are not waited for.
  finalResponseHeadersStart: ({ responseStart }) => responseStart,
  firstInterimResponseStart: () => 0,
  responseStart: ({ responseStart }) => responseStart,
  responseEnd: ({ responseEnd }) => responseEnd,
  // Of service workers, too.
  workerRouterEvaluationStart: () => 0,
  workerCacheLookupStart: () => 0,
  workerMatchedRouterSource: () => '',
  workerFinalRouterSource: () => '',
  transferSize: ({ transferSize }) => transferSize,
  encodedBodySize: ({ encodedSize }) => encodedSize,
  decodedBodySize: ({ decodedSize }) => decodedSize,
  responseStatus: ({ status }) => status,
  // Nothing is rendered, so nothing can be in its way.
  renderBlockingStatus: () => 'non-blocking',
  contentType: ({ contentType }) => contentType,
  contentEncoding: ({ contentEncoding }) => contentEncoding,
};

const MILESTONES = [
  'unloadEventStart', 'unloadEventEnd', 'domInteractive', 'domContentLoadedEventStart', 'domContentLoadedEventEnd', 'domComplete',
  'loadEventStart', 'loadEventEnd',
];

const NAVIGATION = {
  ...Object.fromEntries(MILESTONES.map((name) => [name, ({ milestones }) => milestones(name)])),
  type: () => 'navigate',
  redirectCount: ({ redirectCount }) => redirectCount,
  // There are no client hints.
  criticalCHRestart: () => 0,
  // No document is kept to be gone back to.
  notRestoredReasons: () => null,
};

/** What a document that came from no network has to tell. */
const NO_FETCH = {
  protocol: '', redirectStart: 0, redirectEnd: 0, redirectCount: 0, fetchStart: 0, domainLookupStart: 0, domainLookupEnd: 0,
  connectStart: 0, connectEnd: 0, secureConnectionStart: 0, requestStart: 0, responseStart: 0, responseEnd: 0, transferSize: 0,
  encodedSize: 0, decodedSize: 0, status: 0, contentType: '', contentEncoding: '',
};

/**
 * @typedef {object} PageLoading
 * @property {() => string} name the document's URL
 * @property {() => object | undefined} fetched how it was fetched, as `describeNavigation` of the page host has it
 * @property {(name: string) => number} milestones times of what happened to it, 0 for what did not
 * @property {(listener: () => void) => void} onLoaded calls back once it is loaded
 */

/**
 * @param {object} context with `entries`
 * @param {(onResource: (resource: object) => void) => void} context.resources is called once with what is to be told of each
 *   resource
 * @param {PageLoading} [context.loading] of a window
 * @param {(task: () => void) => void} context.queueTask
 * @param {(target: object, type: string) => void} context.fireEvent
 */
function makeResources({ realm, conversions, entries, resources, loading, queueTask, fireEvent, firstId }) {
  const { TypeError, Array: RealmArray, Object: RealmObject } = realm;
  const { requireArguments } = conversions;
  const TOKEN = Symbol('internal');
  let fieldsOf;
  let access;
  let made = 0;

  class PerformanceResourceTiming {
    #resource;
    #id;

    constructor(token, resource, id) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#resource = resource;
      this.#id = id;
    }

    toJSON() {
      const json = entries.describe(this);
      const resource = access(this);
      for (const [name, read] of Object.entries(RESOURCE)) json[name] = read(resource);
      if (resource.isNavigation) for (const [name, read] of Object.entries(NAVIGATION)) json[name] = read(resource);
      return json;
    }

    static {
      access = (value) => {
        if (typeof value !== 'object' || value === null || !(#resource in value)) throw new TypeError('Illegal invocation');
        return value.#resource;
      };
      /** Entries of a kind, as entry.cjs reads them. */
      fieldsOf = (isNavigation, own) => ({
        have: (value) => typeof value === 'object' && value !== null && #resource in value && value.#resource.isNavigation === isNavigation,
        block: () => undefined,
        id: (entry) => entry.#id,
        name: (entry) => entry.#resource.url,
        startTime: (entry) => entry.#resource.startTime,
        ...own,
      });
    }
  }

  /** Only a window's document is navigated to. */
  class PerformanceNavigationTiming extends PerformanceResourceTiming {
    constructor(token, resource, id) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      super(TOKEN, resource, id);
    }

    toJSON() {
      read(this, 'isNavigation');
      return super.toJSON();
    }
  }

  function read(entry, isNavigation) {
    const resource = access(entry);
    if (isNavigation && !resource.isNavigation) throw new TypeError('Illegal invocation');
    return resource;
  }

  function defineAttributes(Interface, attributes, isNavigation) {
    for (const [name, describe] of Object.entries(attributes)) {
      const attribute = {
        get [name]() {
          return describe(read(this, isNavigation));
        },
      };
      Object.defineProperty(Interface.prototype, name, Object.getOwnPropertyDescriptor(attribute, name));
    }
  }
  defineAttributes(PerformanceResourceTiming, RESOURCE, false);
  defineAttributes(PerformanceNavigationTiming, NAVIGATION, true);

  entries.inherit(
    PerformanceResourceTiming,
    fieldsOf(false, { entryType: 'resource', duration: (entry) => access(entry).responseEnd - access(entry).startTime }),
    fieldsOf(true, { entryType: 'navigation', duration: (entry) => access(entry).milestones('loadEventEnd') }),
  );
  defineInterface(realm, PerformanceResourceTiming, { inherits: true });
  defineInterface(realm, PerformanceNavigationTiming, { inherits: true });

  // https://w3c.github.io/resource-timing/#resource-timing-buffer

  let buffer = [];
  let limit = BUFFER_SIZE;
  /** What came while the buffer was full, and nobody has made room yet. */
  let secondary = [];
  let isFullPending = false;
  let dropped = 0;
  let performance;
  const reports = new Map();

  resources((resource) => {
    const entry = new PerformanceResourceTiming(TOKEN, { ...resource, isNavigation: false }, firstId + ID_STEP * made++ + ID_OFFSET);
    // In this order: an observer is told of the entries that were dropped before its own.
    add(entry);
    reports.get('resource')?.(entry);
  });

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
      while (secondary.length > 0 && buffer.length < limit) buffer.push(secondary.shift());
      if (secondary.length >= excess) {
        dropped += excess;
        secondary = [];
      }
    }
    isFullPending = false;
  }

  const navigation = loading === undefined ? undefined : makeNavigation();

  function makeNavigation() {
    const fetched = () => loading.fetched() ?? NO_FETCH;
    const resource = { isNavigation: true, initiator: 'navigation', startTime: 0, milestones: loading.milestones };
    Object.defineProperty(resource, 'url', { get: loading.name });
    for (const name of Object.keys(NO_FETCH)) Object.defineProperty(resource, name, { get: () => fetched()[name] });
    // https://w3c.github.io/performance-timeline/#dfn-navigation-id: it is the id of this entry.
    const entry = new PerformanceNavigationTiming(TOKEN, resource, firstId);
    loading.onLoaded(() => reports.get('navigation')?.(entry));
    return entry;
  }

  const byType = { navigation: () => (navigation === undefined ? [] : [navigation]), resource: () => buffer };

  /** https://w3c.github.io/resource-timing/#sec-extensions-performance-interface */
  const extension = (requirePerformance) => {
    const NAME = "Failed to execute 'setResourceTimingBufferSize' on 'Performance'";
    let onFull = null;
    return {
      members: {
        clearResourceTimings() {
          requirePerformance(this);
          buffer = [];
        },
        setResourceTimingBufferSize(maxSize) {
          requirePerformance(this);
          requireArguments(arguments.length, 1, NAME);
          limit = maxSize >>> 0;
        },
        get onresourcetimingbufferfull() {
          requirePerformance(this);
          return onFull?.handler ?? null;
        },
        // https://html.spec.whatwg.org/multipage/webappapis.html#event-handler-idl-attributes
        set onresourcetimingbufferfull(handler) {
          requirePerformance(this);
          const isHandler = typeof handler === 'function' || (typeof handler === 'object' && handler !== null);
          if (onFull !== null) {
            onFull.handler = isHandler ? handler : null;
          } else if (isHandler) {
            onFull = { handler };
            this.addEventListener(FULL, (event) => {
              if (typeof onFull.handler === 'function') Reflect.apply(onFull.handler, this, [event]);
            });
          }
        },
      },
      lengths: { setResourceTimingBufferSize: 1 },
    };
  };

  return {
    interfaces: { PerformanceResourceTiming, ...(loading && { PerformanceNavigationTiming }) },
    extension,
    setPerformance(made_) {
      performance = made_;
    },
    /** As a host of further entry types: see observer.cjs. */
    host: {
      entryTypes: loading === undefined ? ['resource'] : ['navigation', 'resource'],
      getEntries: () => [...byType.navigation(), ...buffer].sort((a, b) => entries.startTimeOf(a) - entries.startTimeOf(b)),
      getEntriesByName(name, type) {
        const list = type === undefined ? this.getEntries() : byType[type]();
        return RealmArray.from(list.filter((entry) => entries.nameOf(entry) === name));
      },
      getEntriesByType: (type) => RealmArray.from(byType[type]()),
      droppedEntries: (type) => (type === 'resource' ? dropped : 0),
      watch: (type, onEntry) => void reports.set(type, onEntry),
      unwatch: (type) => void reports.delete(type),
    },
  };
}

module.exports = { makeResources };
