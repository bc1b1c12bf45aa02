'use strict';

// How many events of user input the windows got, for `performance.eventCounts`.
// https://w3c.github.io/event-timing/#sec-events-exposed

const { Map, Set, WeakMap } = globalThis;

/** In Chromium's order. */
const TYPES = [
  'pointerdown',
  'touchend',
  'input',
  'keydown',
  'mouseleave',
  'mouseenter',
  'drop',
  'beforeinput',
  'pointerenter',
  'dragend',
  'pointercancel',
  'compositionupdate',
  'mousedown',
  'dragleave',
  'dragover',
  'mouseup',
  'pointerover',
  'lostpointercapture',
  'mouseover',
  'gotpointercapture',
  'dblclick',
  'keyup',
  'keypress',
  'pointerup',
  'compositionstart',
  'auxclick',
  'dragstart',
  'touchstart',
  'compositionend',
  'pointerout',
  'dragenter',
  'touchcancel',
  'click',
  'contextmenu',
  'mouseout',
  'pointerleave',
];
const KNOWN = new Set(TYPES);
/** Each click and each key that is pressed begins one. */
const INTERACTIONS = ['click', 'keydown'];

/** By window. @type {WeakMap<object, Map<string, number>>} */
const counts = new WeakMap();

/** @param {object} window */
function countsOf(window) {
  let own = counts.get(window);
  if (own === undefined) {
    own = new Map(TYPES.map((type) => [type, 0]));
    counts.set(window, own);
  }
  return own;
}

/** The host has made an event of this type for a window. @param {object} window @param {string} type */
function countEvent(window, type) {
  if (!KNOWN.has(type)) return;
  const own = countsOf(window);
  own.set(type, (own.get(type) ?? 0) + 1);
}

/** @param {object} window @returns {[type: string, count: number][]} */
const eventCounts = (window) => [...countsOf(window)];

/** @param {object} window */
const interactionCount = (window) => INTERACTIONS.reduce((sum, type) => sum + (countsOf(window).get(type) ?? 0), 0);

module.exports = { countEvent, eventCounts, interactionCount };
