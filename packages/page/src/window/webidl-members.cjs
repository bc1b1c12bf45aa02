'use strict';

// Members of the global object and of interfaces, as WebIDL defines them.
// https://webidl.spec.whatwg.org/#define-the-global-property-references

const { defineProperty, getOwnPropertyDescriptor } = Reflect;

/**
 * @param {string} name
 * @param {unknown} value
 */
function defineInterfaceObject(name, value) {
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

/**
 * Makes a class an interface of the window: its members are enumerable, and `Symbol.toStringTag` names it.
 *
 * @param {Function} Interface
 * @param {{ handlers?: string[], statics?: string[] }} [more] the types of events that it has handlers for
 */
function exposeInterface(Interface, { handlers = [], statics = [] } = {}) {
  const { prototype } = Interface;
  for (const key of Object.getOwnPropertyNames(prototype))
    if (key !== 'constructor') defineProperty(prototype, key, { enumerable: true });
  for (const key of statics) defineProperty(Interface, key, { enumerable: true });
  for (const type of handlers) defineHandler(prototype, type);
  defineProperty(prototype, Symbol.toStringTag, { value: Interface.name, configurable: true });
  defineInterfaceObject(Interface.name, Interface);
}

/**
 * Defines operations of the global object, or of an interface.
 *
 * @param {Record<string, Function>} operations
 * @param {object} [holder]
 */
function defineOperations(operations, holder = globalThis) {
  for (const [name, value] of Object.entries(operations))
    defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * Defines read-only attributes of an interface.
 *
 * @template {object} Instance
 * @param {{ prototype: Instance }} Interface
 * @param {string[]} names
 * @param {(instance: Instance, name: string) => unknown} read throws for other objects
 */
function defineAttributes({ prototype }, names, read) {
  for (const name of names) {
    const attribute = {
      /** @this {Instance} */
      get [name]() {
        return read(this, name);
      },
    };
    Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(attribute));
  }
}

/**
 * @param {number} count of arguments that were given
 * @param {string} context the beginning of the error's message
 * @param {number} [required]
 * @throws {TypeError}
 */
function requireArguments(count, context, required = 1) {
  if (count >= required) return;
  const are = required === 1 ? 'argument' : 'arguments';
  throw new TypeError(`${context}: ${required} ${are} required, but only ${count} present.`);
}

/**
 * Defines a read-only attribute of the global object.
 *
 * @param {string} name
 * @param {() => unknown} read
 */
function defineAttribute(name, read) {
  const attribute = {
    /** @this {unknown} */
    get [name]() {
      if (this !== undefined && this !== null && this !== globalThis) throw new TypeError('Illegal invocation');
      return read();
    },
  };
  defineProperty(globalThis, name, {
    ...getOwnPropertyDescriptor(attribute, name),
    enumerable: true,
    configurable: true,
  });
}

/**
 * @typedef {(handler: Function, target: EventTarget, event: Event) => boolean} CallHandler calls an event handler, and
 *   returns whether the event is canceled
 */

/**
 * Defines an event handler attribute of an interface.
 * https://html.spec.whatwg.org/multipage/webappapis.html#event-handler-idl-attributes
 *
 * @param {object} prototype
 * @param {string} type of the event
 * @param {(target: any) => void} [onSet] is called when a handler is set
 * @param {CallHandler} [call]
 */
function defineHandler(prototype, type, onSet = () => {}, call = callHandler) {
  /** @type {WeakMap<object, { handler: object | null }>} */
  const handlers = new WeakMap();
  const name = `on${type}`;
  const attribute = {
    /** @this {EventTarget} */
    get [name]() {
      return handlers.get(this)?.handler ?? null;
    },
    /** @this {EventTarget} */
    set [name](/** @type {any} */ value) {
      const handler = typeof value === 'function' || (typeof value === 'object' && value !== null) ? value : null;
      let known = handlers.get(this);
      if (known === undefined) {
        /** @type {{ handler: object | null }} */
        const added = { handler: null };
        known = added;
        handlers.set(this, added);
        this.addEventListener(type, (event) => {
          if (typeof added.handler === 'function' && call(added.handler, this, event)) event.preventDefault();
        });
      }
      known.handler = handler;
      if (handler !== null) onSet(this);
    },
  };
  defineProperty(prototype, name, { ...getOwnPropertyDescriptor(attribute, name), enumerable: true });
}

/** @type {CallHandler} */
function callHandler(handler, target, event) {
  return Reflect.apply(handler, target, [event]) === false;
}

/**
 * `onerror` of a global object. https://html.spec.whatwg.org/multipage/webappapis.html#onerroreventhandler
 *
 * @type {CallHandler}
 */
function callErrorHandler(handler, target, event) {
  if (!(event instanceof ErrorEvent)) return callHandler(handler, target, event);
  const { message, filename, lineno, colno, error } = event;
  return Reflect.apply(handler, target, [message, filename, lineno, colno, error]) === true;
}

/**
 * Converts a value of the page to a member of a WebIDL enumeration.
 *
 * @param {unknown} value
 * @param {string[]} values
 * @param {string} name of the enumeration
 * @param {string} [context] the beginning of the error's message
 */
function toEnumeration(value, values, name, context) {
  const text = `${value}`;
  if (values.includes(text)) return text;
  const message = `${context === undefined ? 'The' : `${context}: the`} provided value '${text}' is not a valid enum value of type ${name}.`;
  throw new TypeError(message);
}

module.exports = {
  callErrorHandler,
  defineAttribute,
  defineAttributes,
  defineHandler,
  defineInterfaceObject,
  defineOperations,
  exposeInterface,
  requireArguments,
  toEnumeration,
};
