'use strict';

// Events of the interfaces here, on Node's own EventTarget. A page's window has other ones: see page/window/events.cjs.

const { getEventListeners } = require('node:events');

const { dispatchEvent } = EventTarget.prototype;

function hasListeners(target, type) {
  try {
    return getEventListeners(target, type).length > 0;
  } catch {
    // Node does not know it for an EventTarget, because new.target gave it another prototype: nobody can listen.
    return false;
  }
}

/** To fire an event is not to call a method, which the program may have overridden. */
function fireEvent(target, type) {
  Reflect.apply(dispatchEvent, target, [new Event(type)]);
}

module.exports = { fireEvent, hasListeners };
