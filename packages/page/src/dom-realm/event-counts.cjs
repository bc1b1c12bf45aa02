'use strict';

// How many events of user input the windows got, for `performance.eventCounts`. https://w3c.github.io/event-timing/#sec-events-exposed

const { implementation: EventTargetImpl } = require('jsdom/lib/jsdom/living/events/EventTarget-impl.js');

const { WeakMap } = globalThis;
const { apply } = Reflect;

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

const { _dispatch: dispatch } = EventTargetImpl.prototype;

/** @this {Jsdom.Impl} @param {Jsdom.Impl} event @param {unknown[]} rest */
EventTargetImpl.prototype._dispatch = function countAndDispatch(event, ...rest) {
  if (event.isTrusted) {
    const own = countsOf(this._globalObject);
    const count = own.get(event.type);
    if (count !== undefined) own.set(event.type, count + 1);
  }
  return apply(dispatch, this, [event, ...rest]);
};

/** @param {object} window @returns {[type: string, count: number][]} */
const eventCounts = (window) => [...countsOf(window)];

/** @param {object} window */
const interactionCount = (window) => INTERACTIONS.reduce((sum, type) => sum + (countsOf(window).get(type) ?? 0), 0);

module.exports = { eventCounts, interactionCount };
