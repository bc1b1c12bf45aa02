'use strict';

// Commands of a program that drives the page, one per message. Names and results are WebDriver's.
// https://www.w3.org/TR/webdriver2/

const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { isDisabled } = require('jsdom/lib/jsdom/living/helpers/form-controls.js');

const { parseURL, serializeURL } = require('whatwg-url');
const { navigate } = require('../jsdom/navigation.cjs');
const { findElements } = require('./find.cjs');
const input = require('./input.cjs');
const { act, contentOf } = require('./page-actions.cjs');
const { References, Refusal } = require('./references.cjs');
const { isDisplayed, styleOf, visibleText } = require('./text.cjs');

/** @typedef {import('../../window/contracts.js').CommandOutcome} CommandOutcome */
/** @typedef {import('../windows/page-window.cjs').PageWindow} PageWindow */

/** https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#boolean-attributes */
const BOOLEANS = new Set([
  'allowfullscreen',
  'async',
  'autofocus',
  'autoplay',
  'checked',
  'controls',
  'default',
  'defer',
  'disabled',
  'formnovalidate',
  'hidden',
  'inert',
  'ismap',
  'itemscope',
  'loop',
  'multiple',
  'muted',
  'nomodule',
  'novalidate',
  'open',
  'playsinline',
  'readonly',
  'required',
  'reversed',
  'selected',
]);

/** Commands that may make the page navigate. */
const INPUTS = new Set(['act', 'click', 'fragment', 'send keys', 'traverse']);

/** Precedes a script's text on its first line. */
const HEAD = '(function () {';

/**
 * The window that a command is for.
 *
 * @typedef {{ pageWindow: PageWindow, window: Jsdom.Window, references: References }} Context
 */

/**
 * A command, as the driver's process sends it.
 *
 * @typedef {{ command: string, names: { prefix: string, handle: string }, parameters: any }} Command
 */

/**
 * Commands by name. Each returns what can be written as JSON.
 *
 * @type {Record<string, (context: Context, parameters: any) => unknown>}
 */
const commands = {
  title: ({ window }) => window._document.title,
  url: ({ window }) => window._document.URL,
  source: ({ window }) => window._document.documentElement?.outerHTML ?? '',
  act: ({ window }, attempt) => act(window, attempt),
  content: ({ window }) => contentOf(window),
  'ready state': ({ window }) => window._document.readyState,

  find({ window, references }, { using, value, element, shadow }) {
    /** @type {Jsdom.NodeImpl} */
    let root = window._document;
    if (element !== undefined) root = references.element(element);
    if (shadow !== undefined) root = references.shadowRoot(shadow);
    return findElements(root, using, value).map((found) => references.toElement(found));
  },
  'active element'({ window, references }) {
    const { activeElement } = window._document;
    if (activeElement === null) throw new Refusal('no such element', 'nothing has the focus');
    return references.toElement(activeElement);
  },
  'shadow root'({ references }, { element }) {
    const root = references.element(element)._shadowRoot;
    if (!root) throw new Refusal('no such shadow root', 'the element has none');
    return references.toShadowRoot(root);
  },

  text: ({ references }, { element }) => visibleText(references.element(element)),
  'tag name'({ references }, { element }) {
    const found = references.element(element);
    return found._ownerDocument._parsingMode === 'html' && found.namespaceURI === 'http://www.w3.org/1999/xhtml'
      ? found._qualifiedName
      : found.tagName;
  },
  attribute({ references }, { element, name }) {
    const found = references.element(element);
    const value = found.getAttribute(name);
    return value !== null && BOOLEANS.has(name.toLowerCase()) ? 'true' : value;
  },
  property({ pageWindow, references }, { element, name }) {
    const wrapper = idlUtils.wrapperForImpl(references.element(element));
    return toWindowJson(pageWindow, references, () => wrapper[name]);
  },
  css: ({ references }, { element, name }) => styleOf(references.element(element), name),
  displayed: ({ references }, { element }) => isDisplayed(references.element(element)),
  enabled({ references }, { element }) {
    const found = references.element(element);
    return found._ownerDocument._parsingMode === 'html' && !isDisabled(found);
  },
  selected({ references }, { element }) {
    const found = references.element(element);
    if (found._localName === 'option') return found.selected === true;
    return (
      found._localName === 'input' &&
      (found.type === 'checkbox' || found.type === 'radio') &&
      found._checkedness === true
    );
  },

  click({ references }, { element }) {
    input.click(references.element(element));
    return null;
  },
  clear({ references }, { element }) {
    input.clear(references.element(element));
    return null;
  },
  'send keys'({ references }, { element, text }) {
    input.sendKeys(references.element(element), text);
    return null;
  },

  /** Where the window of a frame is: see `_windowLocation` in frame-element.cjs. */
  frame({ window, references }, { index, element }) {
    let found;
    if (element === undefined) {
      const frames = /** @type {any[]} */ (findElements(window._document, 'css selector', 'iframe, frame')).filter(
        (frame) => frame.contentWindow !== null,
      );
      found = frames[index];
      if (found === undefined)
        throw new Refusal('no such frame', `there is no frame with the index ${index}: the page has ${frames.length}`);
    } else {
      found = references.element(element);
      if (found._localName !== 'iframe' && found._localName !== 'frame') {
        throw new Refusal('no such frame', `the ${found._localName} is not a frame`);
      }
    }
    const location = found._windowLocation;
    if (location === undefined) throw new Refusal('no such frame', 'the frame has no document');
    return location;
  },

  /** Navigates to another fragment of the same document. Returns whether that is what the URL means. */
  fragment({ window }, { url }) {
    const target = parseURL(url);
    const current = window._document._URL;
    if (target === null || target.fragment === null || serializeURL(target, true) !== serializeURL(current, true))
      return false;
    navigate(window, target);
    return true;
  },

  /** Traverses the history entries that the document itself has made. */
  traverse({ window }, { delta }) {
    const history = window._sessionHistory;
    const next = history._currentIndex + delta;
    if (next < 0 || next >= history.length) return false;
    history.traverseByDelta(delta);
    return true;
  },
};

/** JSON that the window's realm has written. */
class WindowJson {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/**
 * @param {PageWindow} pageWindow
 * @param {References} references
 * @param {() => unknown} get reads a value of the page
 */
function toWindowJson({ code }, references, get) {
  let value;
  try {
    value = get();
  } catch (error) {
    throw new Refusal('javascript error', code.describe(error).message);
  }
  const { text, error } = code.toJson(value, references.forWindow());
  if (error !== undefined) throw new Refusal(error.code, error.message);
  return new WindowJson(text);
}

/**
 * Runs a script as "execute script" and "execute async script" do.
 *
 * @param {Context} context
 * @param {{ script: string, parameters: string, isAsync?: boolean }} options
 * @param {(outcome: CommandOutcome) => void} done
 */
function execute({ pageWindow, references }, { script, parameters, isAsync }, done) {
  const { code } = pageWindow;
  let callee;
  try {
    callee = pageWindow.runUserScript(`${HEAD}${script}\n})`, 'execute', -HEAD.length);
  } catch (error) {
    const { name, message, stack } = code.describe(error);
    done({ error: { code: 'javascript error', message: `${name}: ${message}`, stack } });
    return;
  }
  code.execute(callee, code.parse(parameters), references.forWindow(), isAsync === true, done);
}

/** Answers that are not given yet. @type {Set<() => void>} */
const answers = new Set();

/**
 * Performs a command.
 *
 * @param {PageWindow} pageWindow of the window that it is for
 * @param {Command} message
 * @param {(outcome: CommandOutcome) => void} onDone
 */
function perform(pageWindow, { command, names, parameters }, onDone) {
  const { window } = pageWindow;
  const context = { pageWindow, window, references: new References(window, names) };
  if (command === 'execute') {
    execute(context, parameters, onDone);
    return;
  }
  /** @type {CommandOutcome} */
  let outcome;
  try {
    const result = commands[command](context, parameters);
    outcome = { text: result instanceof WindowJson ? result.text : JSON.stringify(result) };
  } catch (error) {
    const { code, message } =
      error instanceof Refusal ? error : { code: 'unknown error', ...pageWindow.code.describe(error) };
    outcome = { error: { code, message } };
  }
  if (!INPUTS.has(command)) {
    onDone(outcome);
    return;
  }
  // Answers after the tasks that the page has queued by now, such as following a link, so that the driver is notified
  // of a navigation first.
  const answer = () => {
    if (answers.delete(answer)) onDone(outcome);
  };
  answers.add(answer);
  setTimeout(() => setImmediate(answer), 0);
}

/** The document ends: what was done in it was done. */
function answerAll() {
  for (const answer of answers) answer();
}

module.exports = { answerAll, perform };
