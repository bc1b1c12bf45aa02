'use strict';

// What users do with elements: an attempt of an action, which finds the element, looks whether it is ready, and acts on
// it, in one go.

const Event = require('jsdom/lib/generated/idl/Event.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { isFocusableAreaElement } = require('jsdom/lib/jsdom/living/helpers/focusing.js');
const { isDisabled } = require('jsdom/lib/jsdom/living/helpers/form-controls.js');

const { findElements } = require('./find.cjs');
const { WHOLE_VALUES, fireChange, isEditable, isField, setSelected } = require('./form-fields.cjs');
const { sendKeys } = require('./input.cjs');
const { Keyboard, codeOf } = require('./keyboard.cjs');
const { click, focus, hover } = require('./mouse.cjs');
const { Refusal } = require('./references.cjs');
const { isDisplayed, visibleText } = require('./text.cjs');

/** @typedef {import('./form-fields.cjs').Element} Element */

/** The page is not ready yet. `waiting` says what for. */
class NotReady {
  /** @param {string} waiting */
  constructor(waiting) {
    this.waiting = waiting;
  }
}

/** @param {string} text */
function normalized(text) {
  return text.replace(/\s+/g, ' ').trim();
}

/**
 * Finds the innermost elements with a text: in quotes the whole text, else a part of it in any case.
 *
 * @param {Jsdom.NodeImpl} root
 * @param {string} given
 */
function findByText(root, given) {
  const [, quoted] = /^["'](.*)["']$/s.exec(given) ?? [];
  const wanted = normalized(quoted ?? given);
  const matches = (/** @type {Jsdom.NodeImpl} */ element) => {
    const text = normalized(element.textContent ?? '');
    return quoted === undefined ? text.toLowerCase().includes(wanted.toLowerCase()) : text === wanted;
  };
  const isShown = (/** @type {Element} */ { _localName }) => !['script', 'style', 'head', 'title'].includes(_localName);
  const found = findElements(root, 'css selector', '*').filter((element) => isShown(element) && matches(element));
  return found.filter((element) => !found.some((other) => other !== element && element.contains(other)));
}

/**
 * @param {Jsdom.NodeImpl} document
 * @param {{ using: string, value: string }[]} steps
 * @returns {Element[]}
 */
function query(document, steps) {
  /** @type {Jsdom.NodeImpl[]} */
  let roots = [document];
  for (const { using, value } of steps) {
    if (using === 'nth') {
      const found = roots.at(Number(value));
      roots = found === undefined ? [] : [found];
      continue;
    }
    const find = (/** @type {Jsdom.NodeImpl} */ root) => {
      if (using === 'text') return findByText(root, value);
      return findElements(root, using, using === 'xpath' && root !== document ? value.replace(/^\/\//, './/') : value);
    };
    roots = [...new Set(roots.flatMap(find))];
  }
  return /** @type {Element[]} */ (roots);
}

/** @param {Element} element @param {{ force?: boolean }} parameters */
function assertVisible(element, { force }) {
  if (!force && !isDisplayed(element)) throw new NotReady('the element is not visible');
}

/** @param {Element} element @param {{ force?: boolean }} parameters */
function assertReady(element, parameters) {
  assertVisible(element, parameters);
  if (!parameters.force && isDisabled(labelled(element))) throw new NotReady('the element is disabled');
}

/** The element that a label is for, if it is in one. @param {Element} element */
function labelled(element) {
  return element._localName === 'label' ? (element.control ?? element) : element;
}

/** @param {Element} element @param {{ value: string }} parameters */
function fill(element, { value }) {
  if (isField(element) && ['checkbox', 'radio', 'file', 'submit', 'button', 'image', 'reset'].includes(element.type))
    throw new Refusal('invalid element state', `an input of the type ${element.type} cannot be filled`);
  const isText = isField(element) || element.hasAttributeNS(null, 'contenteditable');
  if (!isText) throw new Refusal('invalid element state', `the ${element._localName} cannot be filled`);
  if (!isEditable(element)) throw new NotReady('the element is not editable');
  focus(element);
  if (!isField(element)) {
    element.textContent = value;
  } else if (element.value === value) {
    return;
  } else {
    element.value = value;
  }
  if (isField(element) && WHOLE_VALUES.has(element.type) && element.value !== value)
    throw new Refusal('invalid argument', `${value} is no value of an input of the type ${element.type}`);
  fireChange(element, { inputType: 'insertText', data: value });
}

/** @param {Element} element */
function checkedness(element) {
  if (element._localName !== 'input' || (element.type !== 'checkbox' && element.type !== 'radio'))
    throw new Refusal('invalid element state', `the ${element._localName} is neither a checkbox nor a radio button`);
  return element._checkedness === true;
}

/** @param {Element} element @param {{ isChecked: boolean }} parameters */
function setChecked(element, { isChecked, ...parameters }) {
  const target = labelled(element);
  if (checkedness(target) === isChecked) return;
  click(element, parameters);
  if (checkedness(target) !== isChecked)
    throw new Refusal('invalid element state', `a click has not ${isChecked ? '' : 'un'}checked the element`);
}

/** Whether an option, or a group of them, is disabled. @param {Element} element */
function isOff(element) {
  return element.hasAttributeNS(null, 'disabled');
}

/** @typedef {{ value?: string, label?: string, index?: number, either?: string }} WantedOption */

/** @param {Element} given @param {{ options: WantedOption[] }} parameters @returns {string[]} the values that are selected */
function selectOptions(given, { options: wanted }) {
  const select = labelled(given);
  if (select._localName !== 'select')
    throw new Refusal('invalid element state', `the ${select._localName} is not a select`);
  /** @type {Element[]} */
  const options = [...select.options];
  const chosen = wanted.map(({ value, label, index, either }) => {
    const found = options.find((option, at) => {
      const shown = normalized(option.label);
      if (either !== undefined) return option.value === either || shown === normalized(either);
      if (value !== undefined && option.value !== value) return false;
      if (label !== undefined && shown !== normalized(label)) return false;
      return index === undefined || at === index;
    });
    if (found === undefined) throw new NotReady('the select has no such option');
    const group = /** @type {Element} */ (found.parentNode);
    if (isOff(found) || (group._localName === 'optgroup' && isOff(group))) throw new NotReady('the option is disabled');
    return found;
  });
  if (chosen.length > 1 && !select.hasAttributeNS(null, 'multiple'))
    throw new Refusal('invalid argument', 'the select takes one option');
  focus(select);
  setSelected(select, chosen);
  return options.filter(({ selected }) => selected).map(({ value }) => value);
}

/**
 * Presses a key, or several at once: `Enter`, `a`, `Control+Shift+T`.
 *
 * @param {Element} element
 * @param {{ key: string }} parameters
 */
function press(element, { key }) {
  if (isFocusableAreaElement(element) && element._ownerDocument._lastFocusedElement !== element) element.focus();
  // The last one can be `+` itself.
  const keys = key.split(/\+(?=.)/);
  const keyboard = new Keyboard(element);
  for (const name of keys) {
    const code = [...name].length === 1 ? name : codeOf(name);
    if (code === undefined) throw new Refusal('invalid argument', `there is no key ${name}`);
    keyboard.type(code);
  }
  keyboard.releaseModifiers();
}

/** What users read of an element. @type {Record<string, (element: Element, name: string) => unknown>} */
const READERS = {
  attribute: (element, name) => element.getAttributeNS(null, name) ?? element.getAttribute(name),
  checked: (element) => checkedness(labelled(element)),
  disabled: (element) => isDisabled(element),
  editable: (element) => isEditable(element),
  innerHTML: (element) => element.innerHTML,
  innerText: (element) => visibleText(element),
  textContent: (element) => element.textContent,
  value(element) {
    const field = labelled(element);
    if (!isField(field) && field._localName !== 'select')
      throw new Refusal('invalid element state', `the ${field._localName} has no value`);
    return field.value;
  },
};

/** Actions by name. @type {Record<string, (element: Element, parameters: any) => unknown>} */
const ACTIONS = {
  click(element, parameters) {
    assertReady(element, parameters);
    click(element, parameters);
  },
  hover(element, parameters) {
    assertVisible(element, parameters);
    hover(element, parameters);
  },
  fill(element, parameters) {
    const field = labelled(element);
    assertReady(field, parameters);
    fill(field, parameters);
  },
  check(element, parameters) {
    assertReady(element, parameters);
    setChecked(element, parameters);
  },
  select(element, parameters) {
    assertReady(element, parameters);
    return selectOptions(element, parameters);
  },
  focus: (element) => element.focus(),
  blur: (element) => element.blur(),
  press,
  type(element, { text }) {
    assertReady(element, {});
    sendKeys(element, text);
  },
  event: (element, { type, init }) => {
    fireAnEvent(type, element, Event, { bubbles: true, cancelable: true, composed: true, ...init });
  },
  read: (element, { what, name }) => READERS[what](element, name),
};

/** Of all elements that are found. @type {Record<string, (found: Element[], parameters: any) => unknown>} */
const OF_ALL = {
  count: (found) => found.length,
  state: (found) => ({ isAttached: found.length > 0, isVisible: found.length > 0 && isDisplayed(found[0]) }),
  'read all': (found, { what, name }) => found.map((element) => READERS[what](element, name)),
};

/**
 * @param {Jsdom.Window} window
 * @param {{ steps: { using: string, value: string }[], isStrict: boolean, action: string, parameters: any }} attempt
 * @returns {{ result: unknown } | { waiting: string }}
 */
function act(window, { steps, isStrict, action, parameters }) {
  const found = query(window._document, steps);
  if (isStrict && found.length > 1 && action !== 'count' && action !== 'read all')
    throw new Refusal(
      'invalid argument',
      `strict mode violation: the selector finds ${found.length} elements; choose one with first(), last() or nth()`,
    );
  if (Object.hasOwn(OF_ALL, action)) return { result: OF_ALL[action](found, parameters) ?? null };
  if (found.length === 0) return { waiting: 'no element is found' };
  try {
    return { result: ACTIONS[action](found[0], parameters) ?? null };
  } catch (error) {
    if (error instanceof NotReady) return { waiting: error.waiting };
    throw error;
  }
}

/** The document as HTML, with its doctype. @param {Jsdom.Window} window */
function contentOf({ _document: { doctype, documentElement }, XMLSerializer }) {
  const type = doctype ? new XMLSerializer().serializeToString(idlUtils.wrapperForImpl(doctype)) : '';
  return type + (documentElement?.outerHTML ?? '');
}

module.exports = { act, contentOf };
