'use strict';

// Members of the global object as WebIDL has them. https://webidl.spec.whatwg.org/#define-the-global-property-references

const { defineProperty, getOwnPropertyDescriptor } = Reflect;
const { ErrorEvent } = globalThis;

function defineInterfaceObject(name, value) {
  defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

/** An operation of the global object. */
function defineOperation(name, value) {
  defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}

/** A read-only attribute of the global object. */
function defineAttribute(name, read) {
  const attribute = {
    get [name]() {
      if (this !== undefined && this !== null && this !== globalThis) throw new TypeError('Illegal invocation');
      return read();
    },
  };
  defineProperty(globalThis, name, { __proto__: null, ...getOwnPropertyDescriptor(attribute, name), enumerable: true, configurable: true });
}

/**
 * An event handler attribute of an interface. https://html.spec.whatwg.org/multipage/webappapis.html#event-handler-idl-attributes
 *
 * @param {object} prototype
 * @param {string} type of the event
 * @param {(target: object) => void} [onSet] is told when a handler is set
 * @param {(handler: Function, target: object, event: Event) => boolean} [call] calls it, and says whether the event is canceled
 */
function defineHandler(prototype, type, onSet = () => {}, call = callHandler) {
  const handlers = new WeakMap();
  const name = `on${type}`;
  const attribute = {
    get [name]() {
      return handlers.get(this)?.handler ?? null;
    },
    set [name](value) {
      const handler = typeof value === 'function' || (typeof value === 'object' && value !== null) ? value : null;
      let known = handlers.get(this);
      if (known === undefined) {
        known = { handler: null };
        handlers.set(this, known);
        this.addEventListener(type, (event) => {
          if (typeof known.handler === 'function' && call(known.handler, this, event)) event.preventDefault();
        });
      }
      known.handler = handler;
      if (handler !== null) onSet(this);
    },
  };
  defineProperty(prototype, name, { __proto__: null, ...getOwnPropertyDescriptor(attribute, name), enumerable: true });
}

function callHandler(handler, target, event) {
  return Reflect.apply(handler, target, [event]) === false;
}

/** `onerror` of a global object. https://html.spec.whatwg.org/multipage/webappapis.html#onerroreventhandler */
function callErrorHandler(handler, target, event) {
  if (!(event instanceof ErrorEvent)) return callHandler(handler, target, event);
  const { message, filename, lineno, colno, error } = event;
  return Reflect.apply(handler, target, [message, filename, lineno, colno, error]) === true;
}

module.exports = { callErrorHandler, defineAttribute, defineHandler, defineInterfaceObject, defineOperation };
