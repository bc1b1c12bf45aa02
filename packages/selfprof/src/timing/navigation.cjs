'use strict';

// PerformanceTiming and PerformanceNavigation of a window, with values from its host.
// https://www.w3.org/TR/navigation-timing/

const { ATTRIBUTES } = require('./attributes.cjs');
const { defineInterface } = require('./interface.cjs');

/** The values of PerformanceNavigation's `type`. */
const TYPES = { TYPE_NAVIGATE: 0, TYPE_RELOAD: 1, TYPE_BACK_FORWARD: 2, TYPE_RESERVED: 255 };

/**
 * @param {import('./types.js').Realm} realm
 * @param {{ [attribute: string]: number | undefined }} timingValues milliseconds since the Unix epoch by attribute, 0
 *   or absent for what has not happened; read on each access, because a page may still be loading
 * @param {{ type?: number, redirectCount?: number }} navigationValues
 */
function makePage(realm, timingValues, navigationValues) {
  const { TypeError, Object: RealmObject } = realm;
  const TOKEN = Symbol('internal');
  const illegal = () => new TypeError('Illegal invocation');
  /** @type {(value: unknown) => void} */
  let requireTiming;
  /** @type {(value: unknown) => void} */
  let requireNavigation;

  /** `unsigned long long` */
  const integer = (/** @type {number | undefined} */ value) => {
    const whole = Math.trunc(value ?? 0);
    return whole > 0 && Number.isFinite(whole) ? whole : 0;
  };

  class PerformanceTiming {
    #brand = true;

    /** @param {symbol} [token] */
    constructor(token) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
    }

    toJSON() {
      requireTiming(this);
      const json = /** @type {Record<string, number>} */ (new RealmObject());
      for (const name of ATTRIBUTES) json[name] = integer(timingValues[name]);
      return json;
    }

    static {
      requireTiming = (value) => {
        if (typeof value !== 'object' || value === null || !(#brand in value)) throw illegal();
      };
    }
  }

  for (const name of ATTRIBUTES) {
    const attribute = {
      get [name]() {
        requireTiming(this);
        return integer(timingValues[name]);
      },
    };
    const descriptor = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(attribute, name));
    Object.defineProperty(PerformanceTiming.prototype, name, descriptor);
  }

  class PerformanceNavigation {
    #brand = true;

    /** @param {symbol} [token] */
    constructor(token) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
    }

    get type() {
      requireNavigation(this);
      return integer(navigationValues.type);
    }

    get redirectCount() {
      requireNavigation(this);
      return integer(navigationValues.redirectCount);
    }

    toJSON() {
      requireNavigation(this);
      const json = /** @type {Record<string, number>} */ (new RealmObject());
      json.type = integer(navigationValues.type);
      json.redirectCount = integer(navigationValues.redirectCount);
      return json;
    }

    static {
      requireNavigation = (value) => {
        if (typeof value !== 'object' || value === null || !(#brand in value)) throw illegal();
      };
    }
  }

  defineInterface(realm, PerformanceTiming);
  defineInterface(realm, PerformanceNavigation);
  for (const [name, value] of Object.entries(TYPES)) {
    for (const object of [PerformanceNavigation, PerformanceNavigation.prototype]) {
      Object.defineProperty(object, name, { value, writable: false, enumerable: true, configurable: false });
    }
  }

  const timing = new PerformanceTiming(TOKEN);
  const navigation = new PerformanceNavigation(TOKEN);

  /**
   * https://www.w3.org/TR/navigation-timing/#sec-window.performance-attribute
   *
   * @type {import('./types.js').Extension}
   */
  const extension = (requirePerformance) => ({
    members: {
      get timing() {
        requirePerformance(this);
        return timing;
      },
      get navigation() {
        requirePerformance(this);
        return navigation;
      },
    },
    json: { timing: () => timing, navigation: () => navigation },
  });

  return {
    PerformanceTiming,
    PerformanceNavigation,
    extension,
    /** The current values, in the order of the attributes. */
    readAttributes: () => Float64Array.from(ATTRIBUTES, (name) => integer(timingValues[name])),
  };
}

module.exports = { makePage };
