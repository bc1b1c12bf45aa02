'use strict';

// When a script, a listener or a callback of a page returns to the host, the promise jobs are run that are due. In jsdom that happens only
// when the host's task ends. https://html.spec.whatwg.org/multipage/webappapis.html#clean-up-after-running-script

const bridge = require('selfprof:main-realm');
const { implementation: EventTargetImpl } = require('jsdom/lib/jsdom/living/events/EventTarget-impl.js');

const { apply } = Reflect;
const { addEventListener } = EventTargetImpl.prototype;

/** A listener as jsdom calls it. @typedef {{ (this: unknown, event: Jsdom.Impl): void, objectReference?: object }} Listener */

/** @param {Listener | null} listener @returns {Listener | null} */
function withPromiseJobs(listener) {
  if (listener === null) return null;
  /** @type {Listener} */
  const calling = function call(event) {
    try {
      apply(listener, this, [event]);
    } finally {
      // The page itself dispatches events that are not trusted, so its code is on the stack.
      if (event.isTrusted) bridge.runPromiseJobs();
    }
  };
  // By which jsdom finds a listener to remove.
  calling.objectReference = listener.objectReference;
  return calling;
}

/** @this {Jsdom.Impl} @param {string} type @param {Listener | null} listener @param {unknown[]} options */
EventTargetImpl.prototype.addEventListener = function add(type, listener, ...options) {
  return apply(addEventListener, this, [type, withPromiseJobs(listener), ...options]);
};
