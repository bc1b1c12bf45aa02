'use strict';

// Elements by their names, as properties of the window. jsdom finds them; which names are looked up, such as those in a script of another
// origin, neither jsdom nor a page may see: see main-realm/fixed-prototypes.cjs.

const original = require('original:lib/jsdom/living/window-properties.js');
const bridge = require('selfprof:main-realm');

const { apply } = Reflect;
const { add } = Set.prototype;
const { get, set } = WeakMap.prototype;

/** Names that elements of a window have or had. @type {WeakMap<object, Set<string>>} */
const namesByWindow = new WeakMap();

/** @param {object} window @returns {Set<string>} */
function namesOf(window) {
  let names = apply(get, namesByWindow, [window]);
  if (names === undefined) {
    names = new Set();
    apply(set, namesByWindow, [window, names]);
  }
  return names;
}

/** @param {Jsdom.ElementImpl} element @param {unknown} name */
function note({ _ownerDocument }, name) {
  if (typeof name === 'string' && name !== '') apply(add, namesOf(_ownerDocument._globalObject), [name]);
}

/** @param {Jsdom.ElementImpl} element */
function elementAttached(element) {
  note(element, element.getAttributeNS(null, 'id'));
  note(element, element.getAttributeNS(null, 'name'));
  original.elementAttached(element);
}

/** @type {typeof original.elementAttributeModified} */
function elementAttributeModified(element, name, value, oldValue, namespace) {
  if (name === 'id' || name === 'name') note(element, value);
  original.elementAttributeModified(element, name, value, oldValue, namespace);
}

/** @param {object} prototype @param {object} window */
function create(prototype, window) {
  return bridge.newNamedProperties(window, prototype, original.create(prototype, window), namesOf(window));
}

module.exports = { ...original, create, elementAttached, elementAttributeModified };
