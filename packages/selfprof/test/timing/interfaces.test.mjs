// The interface objects, their prototypes and their members, as WebIDL has them.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { createTiming } from 'selfprof/timing';

const timing = createTiming({ timing: { navigationStart: 1000 } });
const { performance, PerformanceObserver } = timing;
const mark = performance.mark('mark');
const measure = performance.measure('measure');
const observer = new PerformanceObserver(() => {});
const list = await new Promise((resolve) => {
  new PerformanceObserver(resolve).observe({ type: 'mark' });
  performance.mark('observed');
});

/**
 * An object of each interface, with attributes and operations; operations have the length of their required arguments.
 */
const INTERFACES = {
  Performance: {
    object: performance,
    inherits: 'EventTarget',
    attributes: ['timeOrigin', 'timing', 'navigation'],
    operations: {
      now: 0,
      toJSON: 0,
      getEntries: 0,
      getEntriesByType: 1,
      getEntriesByName: 1,
      mark: 1,
      clearMarks: 0,
      measure: 1,
      clearMeasures: 0,
      getMarks: 0,
      getMeasures: 0,
    },
  },
  PerformanceEntry: {
    object: mark,
    attributes: ['id', 'name', 'entryType', 'startTime', 'duration', 'navigationId'],
    operations: { toJSON: 0 },
  },
  PerformanceMark: { object: mark, inherits: 'PerformanceEntry', constructs: 1, attributes: ['detail'] },
  PerformanceMeasure: { object: measure, inherits: 'PerformanceEntry', attributes: ['detail'] },
  PerformanceObserver: {
    object: observer,
    constructs: 1,
    operations: { observe: 0, disconnect: 0, takeRecords: 0 },
    statics: ['supportedEntryTypes'],
  },
  PerformanceObserverEntryList: {
    object: list,
    operations: { getEntries: 0, getEntriesByType: 1, getEntriesByName: 1 },
  },
  PerformanceTiming: {
    object: performance.timing,
    attributes: Object.keys(performance.timing.toJSON()),
    operations: { toJSON: 0 },
  },
  PerformanceNavigation: {
    object: performance.navigation,
    attributes: ['type', 'redirectCount'],
    operations: { toJSON: 0 },
    constants: { TYPE_NAVIGATE: 0, TYPE_RELOAD: 1, TYPE_BACK_FORWARD: 2, TYPE_RESERVED: 255 },
  },
};

test('PerformanceTiming has the 21 attributes of its IDL, in order', () => {
  const names = Object.keys(performance.timing.toJSON());
  assert.equal(names.length, 21);
  assert.deepEqual([names[0], names[10], names[20]], ['navigationStart', 'secureConnectionStart', 'loadEventEnd']);
});

for (const [name, shape] of Object.entries(INTERFACES)) {
  const { object, inherits, constructs, attributes = [], operations = {}, statics = [], constants = {} } = shape;
  const Interface = timing[name];
  const { prototype } = Interface;
  const foreigners = [
    undefined,
    null,
    1,
    'text',
    {},
    () => {},
    Interface,
    prototype,
    Object.create(object),
    new EventTarget(),
  ];

  suite(name, () => {
    test('is an interface object', () => {
      assert.deepEqual(describe(Interface, 'name'), {
        value: name,
        writable: false,
        enumerable: false,
        configurable: true,
      });
      assert.deepEqual(describe(Interface, 'length'), {
        value: constructs ?? 0,
        writable: false,
        enumerable: false,
        configurable: true,
      });
      assert.deepEqual(
        Reflect.ownKeys(Interface).sort(),
        ['length', 'name', 'prototype', ...statics, ...Object.keys(constants)].sort(),
      );
      const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(Interface, 'prototype');
      assert.deepEqual([writable, enumerable, configurable], [false, false, false]);
      assert.throws(() => Interface('argument'), TypeError);
      if (constructs === undefined)
        assert.throws(() => new Interface(), { name: 'TypeError', message: 'Illegal constructor' });
    });

    test('inherits', () => {
      const parent = inherits === 'EventTarget' ? EventTarget : timing[inherits];
      assert.equal(Object.getPrototypeOf(Interface), parent ?? Function.prototype);
      assert.equal(Object.getPrototypeOf(prototype), parent?.prototype ?? Object.prototype);
      assert.ok(object instanceof Interface);
    });

    test('has its members and no more', () => {
      assert.deepEqual(
        new Set(Reflect.ownKeys(prototype)),
        new Set([
          'constructor',
          Symbol.toStringTag,
          ...attributes,
          ...Object.keys(operations),
          ...Object.keys(constants),
        ]),
      );
      assert.deepEqual(
        Reflect.ownKeys(object).filter((key) => typeof key === 'string'),
        [],
      );
      assert.deepEqual(describe(prototype, 'constructor'), {
        value: `${name}/${constructs ?? 0}`,
        writable: true,
        enumerable: false,
        configurable: true,
      });
      assert.deepEqual(describe(prototype, Symbol.toStringTag), {
        value: name,
        writable: false,
        enumerable: false,
        configurable: true,
      });
    });

    for (const attribute of attributes) {
      test(`${attribute} is a read-only attribute`, () => {
        const descriptor = describe(prototype, attribute);
        assert.deepEqual(descriptor, {
          get: `get ${attribute}/0`,
          set: undefined,
          enumerable: true,
          configurable: true,
        });
        assert.equal(Reflect.set(object, attribute, 'anything'), false);
        const { get } = Object.getOwnPropertyDescriptor(prototype, attribute);
        for (const foreigner of foreigners) assert.throws(() => Reflect.apply(get, foreigner, []), TypeError);
        assert.notEqual(object[attribute], undefined);
      });
    }

    for (const [operation, length] of Object.entries(operations)) {
      test(`${operation} is an operation`, () => {
        const value = `${operation}/${length}`;
        assert.deepEqual(describe(prototype, operation), {
          value,
          writable: true,
          enumerable: true,
          configurable: true,
        });
        assert.throws(() => new prototype[operation](), TypeError);
        for (const foreigner of foreigners) {
          const failure = { name: 'TypeError', message: 'Illegal invocation' };
          assert.throws(() => Reflect.apply(prototype[operation], foreigner, ['name']), failure);
          // The object counts before the arguments do.
          assert.throws(() => Reflect.apply(prototype[operation], foreigner, []), failure);
        }
        if (length > 0)
          assert.throws(() => object[operation](), { name: 'TypeError', message: /1 argument required, but only 0/ });
      });
    }

    for (const attribute of statics) {
      test(`${attribute} is a static attribute`, () => {
        const descriptor = describe(Interface, attribute);
        assert.deepEqual(descriptor, {
          get: `get ${attribute}/0`,
          set: undefined,
          enumerable: true,
          configurable: true,
        });
      });
    }

    for (const [constant, value] of Object.entries(constants)) {
      test(`${constant} is a constant`, () => {
        for (const owner of [Interface, prototype]) {
          assert.deepEqual(describe(owner, constant), {
            value,
            writable: false,
            enumerable: true,
            configurable: false,
          });
        }
      });
    }
  });
}

suite('toJSON', () => {
  test('of an entry has the attributes of PerformanceEntry alone', () => {
    const withDetail = performance.mark('json', { startTime: 1.5, detail: 'not shown' });
    assert.deepEqual(JSON.parse(JSON.stringify(withDetail)), {
      id: withDetail.id,
      name: 'json',
      entryType: 'mark',
      startTime: 1.5,
      duration: 0,
      navigationId: withDetail.navigationId,
    });
  });

  test('asks no attribute that a subclass or a script has put in its way', () => {
    const entry = performance.mark('json');
    for (const name of INTERFACES.PerformanceEntry.attributes) {
      Object.defineProperty(entry, name, { get: () => assert.fail(name) });
    }
    assert.equal(entry.toJSON().name, 'json');
  });

  test('of performance has its attributes', () => {
    const json = performance.toJSON();
    assert.deepEqual(Object.keys(json), ['timeOrigin', 'timing', 'navigation']);
    assert.equal(json.timing, performance.timing);
    assert.equal(JSON.parse(JSON.stringify(json)).timing.navigationStart, 1000);
    assert.deepEqual(JSON.parse(JSON.stringify(json)).navigation, { type: 0, redirectCount: 0 });
    assert.deepEqual(Object.keys(createTiming().performance.toJSON()), ['timeOrigin']);
  });
});

suite('ids', () => {
  test('belong to entries on the timeline, and are unique', () => {
    const ids = [performance.mark('a'), performance.measure('b'), performance.mark('c')].map(({ id }) => id);
    assert.ok(ids.every((id) => Number.isInteger(id) && id > 100));
    assert.deepEqual(new Set(ids).size, 3);
    assert.ok(ids[0] < ids[1] && ids[1] < ids[2]);
    assert.deepEqual(
      performance.getEntriesByName('c').map(({ id }) => id),
      [ids[2]],
    );
  });

  test('begin somewhere else on each timeline', () => {
    const first = new Set(Array.from({ length: 20 }, () => createTiming().performance.mark('first').id));
    assert.ok(first.size > 10, `${[...first]}`);
  });

  test('are 0 for an entry that is on no timeline', () => {
    const { id, navigationId } = new timing.PerformanceMark('nowhere');
    assert.deepEqual([id, navigationId], [0, 0]);
  });

  test('the navigation is the same for all entries of a window, and 0 elsewhere', () => {
    assert.ok(mark.navigationId >= 100);
    assert.equal(measure.navigationId, mark.navigationId);
    assert.equal(createTiming().performance.mark('worker').navigationId, 0);
  });
});

suite('subclasses', () => {
  test('of PerformanceMark are marks', () => {
    class Mine extends timing.PerformanceMark {
      get shout() {
        return this.name.toUpperCase();
      }
    }
    const mine = new Mine('quiet', { detail: [1] });
    assert.ok(mine instanceof Mine && mine instanceof timing.PerformanceEntry);
    assert.deepEqual([mine.shout, mine.entryType, mine.detail], ['QUIET', 'mark', [1]]);
  });

  test('of what has no constructor cannot be constructed', () => {
    for (const name of ['PerformanceEntry', 'PerformanceMeasure', 'Performance', 'PerformanceTiming']) {
      class Mine extends timing[name] {}
      assert.throws(() => new Mine(Symbol('internal')), TypeError, name);
    }
  });
});

/** The descriptor of an own property, with functions shown by name and length. */
function describe(object, key) {
  const { value, get, set, ...attributes } = Object.getOwnPropertyDescriptor(object, key);
  const show = (member) => (typeof member === 'function' ? `${member.name}/${member.length}` : member);
  return 'writable' in attributes ? { value: show(value), ...attributes } : { get: show(get), set, ...attributes };
}
