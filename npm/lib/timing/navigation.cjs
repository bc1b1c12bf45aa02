'use strict';

// PerformanceTiming and PerformanceNavigation of a window, with values that its host supplies.
// https://www.w3.org/TR/navigation-timing/

const { ATTRIBUTES } = require('./attributes.cjs');
const { defineInterface } = require('./interface.cjs');

/** How a window came to be, by the value of PerformanceNavigation's `type`. */
const TYPES = { TYPE_NAVIGATE: 0, TYPE_RELOAD: 1, TYPE_BACK_FORWARD: 2, TYPE_RESERVED: 255 };

/**
 * @param {object} realm
 * @param {Record<string, number>} timingValues milliseconds since the Unix epoch by attribute, 0 or nothing for what has
 *   not happened; read anew each time, since a page goes on loading
 * @param {{ type?: number, redirectCount?: number }} navigationValues
 */
function makePage(realm, timingValues, navigationValues) {
  const { TypeError, Object: RealmObject } = realm;
  const TOKEN = Symbol('internal');
  const illegal = () => new TypeError('Illegal invocation');
  const access = {};

  /** `unsigned long long` */
  const integer = (value) => {
    const whole = Math.trunc(value);
    return whole > 0 && Number.isFinite(whole) ? whole : 0;
  };

  class PerformanceTiming {
    #brand;

    constructor(token) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
    }

    toJSON() {
      access.requireTiming(this);
      const json = new RealmObject();
      for (const name of ATTRIBUTES) json[name] = integer(timingValues[name]);
      return json;
    }

    static {
      access.requireTiming = (value) => {
        if (typeof value !== 'object' || value === null || !(#brand in value)) throw illegal();
      };
    }
  }

  for (const name of ATTRIBUTES) {
    const attribute = {
      get [name]() {
        access.requireTiming(this);
        return integer(timingValues[name]);
      },
    };
    Object.defineProperty(PerformanceTiming.prototype, name, Object.getOwnPropertyDescriptor(attribute, name));
  }

  class PerformanceNavigation {
    #brand;

    constructor(token) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
    }

    get type() {
      access.requireNavigation(this);
      return integer(navigationValues.type);
    }

    get redirectCount() {
      access.requireNavigation(this);
      return integer(navigationValues.redirectCount);
    }

    toJSON() {
      access.requireNavigation(this);
      const json = new RealmObject();
      json.type = integer(navigationValues.type);
      json.redirectCount = integer(navigationValues.redirectCount);
      return json;
    }

    static {
      access.requireNavigation = (value) => {
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

  /** https://www.w3.org/TR/navigation-timing/#sec-window.performance-attribute */
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
    /** The values now, in the order of the attributes. */
    readAttributes: () => Float64Array.from(ATTRIBUTES, (name) => integer(timingValues[name])),
  };
}

module.exports = { makePage };
