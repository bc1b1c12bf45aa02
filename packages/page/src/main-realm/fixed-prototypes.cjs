'use strict';

// The prototypes of a window, which a page must not replace: https://webidl.spec.whatwg.org/#Global
//
// A script of another origin looks its global names up in them, and may be no script but text that the page must not read. With a proxy among
// them, the page would be asked for each name in the text. So they are as immutable as those of browsers' windows. V8 has such objects, but
// makes none of those that jsdom has made.
//
// One of them has to be a proxy: that of elements by their names. It is made here, because jsdom's proxy uses functions that a page can replace.

const { types } = require('node:util');
const vm = require('node:vm');

const { getPrototypeOf } = Reflect;

/**
 * `fixed` has the prototype of each object that keeps it, and `list` refers to these objects. The functions of the realm use nothing of the
 * main realm but `isProxy`, and read these two by internal slots.
 */
const SOURCE = `'use strict'; (fixed, list, isProxy) => {
  const { Array, Object, Proxy, RangeError, Reflect, Set, TypeError, WeakMap, WeakRef } = globalThis;
  const { create } = Object;
  const { apply, defineProperty, get: read, getOwnPropertyDescriptor, getPrototypeOf, has, set: write } = Reflect;
  const { get } = WeakMap.prototype;
  const { has: hasName } = Set.prototype;
  const { deref } = WeakRef.prototype;
  const originals = { object: Object.setPrototypeOf, reflect: Reflect.setPrototypeOf };
  const property = getOwnPropertyDescriptor(Object.prototype, '__proto__');
  const empty = () => {};
  const room = new Array(2_000).fill(0);

  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
  const restore = () => {
    for (let at = 0; at < list.length; at++) {
      const object = apply(deref, list[at], []);
      if (object === undefined) continue;
      const prototype = apply(get, fixed, [object]);
      if (getPrototypeOf(object) !== prototype) originals.reflect(object, prototype);
    }
  };
  /** Whether the prototype of an object is fixed and another one. */
  const isRefused = (object, prototype) => {
    if (!isObject(object) || (prototype !== null && !isObject(prototype))) return false;
    const own = apply(get, fixed, [object]);
    return own !== undefined && own !== prototype;
  };
  /** A proxy may stand for such an object, and nothing tells which: what was changed is changed back. */
  const change = (original, self, parameters) => {
    let mayBeFixed;
    try {
      mayBeFixed = isProxy(parameters.length === 1 ? self : parameters[0]);
      // There has to be room on the stack to change it back.
      if (mayBeFixed) apply(empty, undefined, room);
    } catch {
      throw new RangeError('Maximum call stack size exceeded');
    }
    if (!mayBeFixed) return apply(original, self, parameters);
    try {
      return apply(original, self, parameters);
    } finally {
      restore();
    }
  };
  const refuse = () => {
    throw new TypeError('Immutable prototype object cannot have its prototype set');
  };

  const methods = {
    object: {
      setPrototypeOf(object, prototype) {
        return isRefused(object, prototype) ? refuse() : change(originals.object, Object, [object, prototype]);
      },
    },
    reflect: {
      setPrototypeOf(object, prototype) {
        return !isRefused(object, prototype) && change(originals.reflect, Reflect, [object, prototype]);
      },
    },
    accessor: {
      set __proto__(prototype) {
        if (isRefused(this, prototype)) refuse();
        change(property.set, this, [prototype]);
      },
    },
  };
  const replace = (holder, value) =>
    defineProperty(holder, 'setPrototypeOf', { ...getOwnPropertyDescriptor(holder, 'setPrototypeOf'), value });
  replace(Object, methods.object.setPrototypeOf);
  replace(Reflect, methods.reflect.setPrototypeOf);
  defineProperty(Object.prototype, '__proto__', { ...property, set: getOwnPropertyDescriptor(methods.accessor, '__proto__').set });

  /** See newNamedProperties below. */
  return (prototype, original, names) => {
    const isNamed = (name) => typeof name === 'string' && apply(hasName, names, [name]);
    return new Proxy(create(prototype, { [Symbol.toStringTag]: { value: 'WindowProperties', configurable: true } }), {
      __proto__: null,
      getOwnPropertyDescriptor: (target, name) => getOwnPropertyDescriptor(isNamed(name) ? original : target, name),
      has: (target, name) => has(isNamed(name) ? original : target, name),
      get: (target, name, receiver) => read(isNamed(name) ? original : target, name, receiver),
      set: (target, name, value, receiver) => write(isNamed(name) ? original : target, name, value, receiver),
      defineProperty: () => false,
      deleteProperty: () => false,
      preventExtensions: () => false,
      setPrototypeOf: (target, value) => value === getPrototypeOf(target),
    });
  };
}`;

/** @type {vm.Script | undefined} */
let script;

/** @param {unknown} value @returns {value is object} */
function isObject(value) {
  return typeof value === 'object' && value !== null;
}

/** Whether an object inherits from another, which it can tell without code of a page. @param {unknown} value @returns {value is object} */
function inheritsOrdinarily(value) {
  return isObject(value) && !types.isProxy(value) && getPrototypeOf(value) !== null;
}

/** The objects of a thread that keep their prototypes. */
class FixedPrototypes {
  /** @type {WeakMap<object, object | null>} */
  #fixed = new WeakMap();
  /** @type {WeakRef<object>[]} */
  #list = [];

  /** Makes an object of a realm. @type {WeakMap<object, (prototype: object, original: object, names: object) => object>} */
  #makers = new WeakMap();
  /** Proxies of ours. @type {WeakSet<object>} */
  #own = new WeakSet();

  /** Has the functions of a realm respect them. @param {object} context in which no page has run */
  install(context) {
    script ??= new vm.Script(SOURCE, { filename: __filename });
    this.#makers.set(
      context,
      Reflect.apply(script.runInContext(context), undefined, [this.#fixed, this.#list, types.isProxy]),
    );
  }

  /**
   * The properties of a window that are its elements by their names. https://html.spec.whatwg.org/multipage/nav-history-apis.html#named-access-on-the-window-object
   *
   * @param {object} window
   * @param {unknown} prototype of the object
   * @param {unknown} original object of jsdom, which is asked for no other names
   * @param {unknown} names a set of those that elements have had
   */
  newNamedProperties(window, prototype, original, names) {
    const make = this.#makers.get(window);
    if (make === undefined || !inheritsOrdinarily(prototype) || !isObject(original) || !types.isSet(names))
      throw new Error('a window, two objects and a set are needed');
    const properties = make(prototype, original, names);
    this.#own.add(properties);
    return properties;
  }

  /**
   * Fixes the prototypes of a window.
   *
   * @param {object} window
   * @throws {Error} when one of them is a proxy
   */
  fix(window) {
    /** @type {object | null} */
    let holder = window;
    while (holder !== null) {
      if (types.isProxy(holder) && !this.#own.has(holder))
        throw new Error('the window has a proxy among its prototypes');
      const prototype = /** @type {object | null} */ (getPrototypeOf(holder));
      if (!this.#fixed.has(holder)) {
        this.#fixed.set(holder, prototype);
        this.#list.push(new WeakRef(holder));
      }
      holder = prototype;
    }
  }
}

module.exports = { FixedPrototypes };
