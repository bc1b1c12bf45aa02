'use strict';

// Inputs of the mouse. Without layout nothing can cover an element, so they go to the element itself.

const MouseEvent = require('jsdom/lib/generated/idl/MouseEvent.js');
const PointerEvent = require('jsdom/lib/generated/idl/PointerEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { isFocusableAreaElement } = require('jsdom/lib/jsdom/living/helpers/focusing.js');

const { Refusal } = require('./references.cjs');

/** @typedef {import('./form-fields.cjs').Element} Element */
/** @typedef {{ modifiers?: string[], position?: { x: number, y: number } }} MouseOptions */

const ELEMENT_NODE = 1;

/** By the names of buttons: `button` and `buttons` of mouse events. @type {Record<string, [number, number]>} */
const BUTTONS = { left: [0, 1], middle: [1, 4], right: [2, 2] };

/** Members of mouse events by the modifiers' names. @type {Record<string, string>} */
const MODIFIERS = { Alt: 'altKey', Control: 'ctrlKey', ControlOrMeta: 'ctrlKey', Meta: 'metaKey', Shift: 'shiftKey' };

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

/** @param {MouseOptions} options */
function membersOf({ modifiers = [], position }) {
  const keys = Object.fromEntries(modifiers.map((modifier) => [MODIFIERS[modifier], true]));
  return { clientX: position?.x ?? 0, clientY: position?.y ?? 0, ...keys };
}

/** Moves the mouse over an element. @param {Element} element @param {MouseOptions} [options] */
function hover(element, options = {}) {
  const members = membersOf(options);
  fireMouse(element, 'mouseover', members);
  fireMouse(element, 'mouseenter', { ...members, bubbles: false });
  fireMouse(element, 'mousemove', members);
}

/**
 * Moves the mouse over an element, and clicks it.
 *
 * @param {Element} element
 * @param {MouseOptions & { button?: string, clickCount?: number, whilePressed?: () => void }} [options]
 */
function click(element, { button: name = 'left', clickCount = 1, whilePressed = () => {}, ...options } = {}) {
  if (!Object.hasOwn(BUTTONS, name)) throw new Refusal('invalid argument', `there is no mouse button ${name}`);
  const [button, buttons] = BUTTONS[name];
  hover(element, options);
  for (let detail = 1; detail <= clickCount; detail++) {
    const members = { ...membersOf(options), button, detail };
    if (fireMouse(element, 'mousedown', { ...members, buttons })) focus(element);
    if (name === 'right') fireMouse(element, 'contextmenu', { ...members, buttons });
    whilePressed();
    fireMouse(element, 'mouseup', members);
    fireMouse(element, name === 'left' ? 'click' : 'auxclick', members);
    if (name === 'left' && detail === 2) fireMouse(element, 'dblclick', members);
  }
}

/** Focuses the element, or the nearest ancestor that can have the focus. @param {Element} element */
function focus(element) {
  for (let target = element; target?.nodeType === ELEMENT_NODE; target = /** @type {Element} */ (target.parentNode)) {
    if (!isFocusableAreaElement(target)) continue;
    if (target._ownerDocument._lastFocusedElement !== target) target.focus();
    return;
  }
}

module.exports = { click, fireMouse, focus, hover };
