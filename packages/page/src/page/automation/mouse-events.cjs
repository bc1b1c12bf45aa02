'use strict';

const MouseEvent = require('jsdom/lib/generated/idl/MouseEvent.js');
const PointerEvent = require('jsdom/lib/generated/idl/PointerEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

/** @typedef {import('./form-fields.cjs').Element} Element */

/**
 * @param {Element} element
 * @param {string} type
 * @param {object} [more] members of the event
 * @returns {boolean} whether no listener has prevented the default action
 */
function fireMouse(element, type, more = {}) {
  const isPointer = type === 'click' || type === 'auxclick' || type === 'contextmenu';
  return fireAnEvent(type, element, isPointer ? PointerEvent : MouseEvent, {
    bubbles: true,
    cancelable: true,
    composed: true,
    detail: 1,
    view: element._ownerDocument._defaultView,
    ...more,
  });
}

module.exports = { fireMouse };
