'use strict';

// Keystrokes. https://www.w3.org/TR/webdriver2/#keyboard-actions

const InputEvent = require('jsdom/lib/generated/idl/InputEvent.js');
const KeyboardEvent = require('jsdom/lib/generated/idl/KeyboardEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { isDisabled } = require('jsdom/lib/jsdom/living/helpers/form-controls.js');

const { BUTTONS, isEditable, isField } = require('./form-fields.cjs');
const { fireMouse } = require('./mouse.cjs');

/** @typedef {import('./form-fields.cjs').Element} Element */

/**
 * Names of keys by their code points. https://www.w3.org/TR/webdriver2/#keyboard-actions
 *
 * @type {Record<string, string>}
 */
const NAMED = {
  '\uE003': 'Backspace',
  '\uE004': 'Tab',
  '\uE005': 'Clear',
  '\uE006': 'Enter',
  '\uE007': 'Enter',
  '\uE008': 'Shift',
  '\uE009': 'Control',
  '\uE00A': 'Alt',
  '\uE00B': 'Pause',
  '\uE00C': 'Escape',
  '\uE00D': ' ',
  '\uE00E': 'PageUp',
  '\uE00F': 'PageDown',
  '\uE010': 'End',
  '\uE011': 'Home',
  '\uE012': 'ArrowLeft',
  '\uE013': 'ArrowUp',
  '\uE014': 'ArrowRight',
  '\uE015': 'ArrowDown',
  '\uE016': 'Insert',
  '\uE017': 'Delete',
  '\uE03D': 'Meta',
  '\uE050': 'Shift',
  '\uE051': 'Control',
  '\uE052': 'Alt',
  '\uE053': 'Meta',
};
/** Members of keyboard events by the modifiers' names. @type {Record<string, string>} */
const MODIFIERS = { Shift: 'shiftKey', Control: 'ctrlKey', Alt: 'altKey', Meta: 'metaKey' };
const RELEASE_ALL = '\uE000';

class Keyboard {
  #element;
  /** Modifiers that are held down. @type {Set<string>} */
  #held = new Set();

  /** @param {Element} element */
  constructor(element) {
    this.#element = element;
  }

  /** The element that has the focus, which a listener may have moved. */
  get #target() {
    const document = this.#element._ownerDocument;
    return document._lastFocusedElement ?? document.body ?? this.#element;
  }

  /**
   * @param {string} type
   * @param {string} key
   */
  #fire(type, key) {
    return fireAnEvent(type, this.#target, KeyboardEvent, {
      bubbles: true,
      cancelable: true,
      composed: true,
      key,
      view: this.#element._ownerDocument._defaultView,
      ...Object.fromEntries([...this.#held].map((modifier) => [MODIFIERS[modifier], true])),
    });
  }

  /** @param {string} character */
  type(character) {
    if (character === RELEASE_ALL) {
      this.releaseModifiers();
      return;
    }
    const key = NAMED[character] ?? (character === '\n' || character === '\r' ? 'Enter' : character);
    if (Object.hasOwn(MODIFIERS, key)) {
      const isRelease = this.#held.delete(key);
      if (!isRelease) this.#held.add(key);
      this.#fire(isRelease ? 'keyup' : 'keydown', key);
      return;
    }
    const isText = [...key].length === 1;
    const target = this.#target;
    const goesOn = this.#fire('keydown', key) && (!(isText || key === 'Enter') || this.#fire('keypress', key));
    // With Control, Alt or Meta held, a key is a command of the browser, and this one has no commands.
    const isCommand = [...this.#held].some((modifier) => modifier !== 'Shift');
    if (goesOn && !isCommand && this.#target === target) this.#act(target, key, isText);
    this.#fire('keyup', key);
  }

  /**
   * @param {Element} target
   * @param {string} key
   * @param {boolean} isText
   */
  #act(target, key, isText) {
    const isButton = target._localName === 'button';
    const isClick = key === ' ' ? isButton || BUTTONS.has(target.type) : isButton || target._localName === 'a';
    if (key === 'Enter' && target._localName === 'input') {
      submitImplicitly(target);
    } else if ((key === ' ' || key === 'Enter') && isClick) {
      fireMouse(target, 'click');
    } else if (key === 'Backspace' || key === 'Delete') {
      edit(target, '', key === 'Backspace' ? 'deleteContentBackward' : 'deleteContentForward');
    } else if (key === 'Enter') {
      edit(target, '\n', 'insertLineBreak');
    } else if (isText) {
      edit(target, key, 'insertText');
    }
  }

  releaseModifiers() {
    for (const key of this.#held) {
      this.#held.delete(key);
      this.#fire('keyup', key);
    }
  }
}

/** @param {Element} field @param {number} position */
function moveCaret(field, position) {
  try {
    field.setSelectionRange(position, position);
  } catch {
    // Inputs of some types have no selection.
  }
}

/**
 * Changes the text at the caret.
 *
 * @param {Element} target
 * @param {string} text
 * @param {string} inputType
 */
function edit(target, text, inputType) {
  if (!isEditable(target)) return;
  const data = inputType === 'insertText' ? text : null;
  const init = { bubbles: true, composed: true, data, inputType };
  if (!fireAnEvent('beforeinput', target, InputEvent, { ...init, cancelable: true })) return;
  if (isField(target)) {
    const { value } = target;
    let start = target._selectionStart ?? value.length;
    let end = target._selectionEnd ?? value.length;
    if (start === end && inputType === 'deleteContentBackward') start = Math.max(start - 1, 0);
    if (start === end && inputType === 'deleteContentForward') end = Math.min(end + 1, value.length);
    const limit = Number(target.getAttributeNS(null, 'maxlength') ?? Infinity);
    const next = value.slice(0, start) + text + value.slice(end);
    if (text !== '' && next.length > limit) return;
    target.value = next;
    moveCaret(target, start + text.length);
  } else if (text !== '') {
    target.appendChild(target._ownerDocument.createTextNode(text));
  }
  fireAnEvent('input', target, InputEvent, init);
}

/**
 * https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#implicit-submission
 *
 * @param {Element} input
 */
function submitImplicitly(input) {
  fireAnEvent('change', input, undefined, { bubbles: true });
  const { form } = input;
  if (!form) return;
  const button = [...form.elements].find(
    (/** @type {Element} */ element) => element.type === 'submit' || element.type === 'image',
  );
  if (button === undefined) form._doRequestSubmit(null);
  else if (!isDisabled(button)) fireMouse(button, 'click');
}

/**
 * The code point of a key with a name, as `Keyboard.type` takes it.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
function codeOf(name) {
  if (name === 'Space') return ' ';
  if (name === 'ControlOrMeta') return codeOf('Control');
  return Object.keys(NAMED).find((code) => NAMED[code] === name);
}

module.exports = { Keyboard, codeOf, moveCaret };
