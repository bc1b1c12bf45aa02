'use strict';

// Events of the interfaces here, on Node's own EventTarget. In a page's window, window/events.cjs of @selfprof/page
// stands in for this file.

const { getEventListeners } = require('node:events');

const { dispatchEvent } = EventTarget.prototype;

/**
 * @param {EventTarget} target
 * @param {string} type
 */
function hasListeners(target, type) {
  try {
    return getEventListeners(target, type).length > 0;
  } catch {
    // new.target gave it another prototype, so Node does not take it for an EventTarget: it cannot have listeners.
    return false;
  }
}

/**
 * Fires an event without calling a method that the program may have overridden.
 *
 * @param {EventTarget} target
 * @param {string} type
 */
function fireEvent(target, type) {
  Reflect.apply(dispatchEvent, target, [new Event(type)]);
}

module.exports = { fireEvent, hasListeners };
