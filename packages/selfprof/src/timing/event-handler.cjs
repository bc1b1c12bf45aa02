'use strict';

/**
 * An event handler attribute such as `onresourcetimingbufferfull`:
 * https://html.spec.whatwg.org/multipage/webappapis.html#event-handler-idl-attributes
 *
 * @param {string} type the type of the event
 */
function makeEventHandler(type) {
  /** @type {object | null} */
  let handler = null;
  let listens = false;
  return {
    get: () => handler,
    /**
     * @param {EventTarget} target
     * @param {unknown} value
     */
    set(target, value) {
      handler = typeof value === 'object' || typeof value === 'function' ? value : null;
      if (handler === null || listens) return;
      // The first handler decides the place among the listeners.
      listens = true;
      target.addEventListener(type, (event) => {
        if (typeof handler === 'function') Reflect.apply(handler, target, [event]);
      });
    },
  };
}

module.exports = { makeEventHandler };
