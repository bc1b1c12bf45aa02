'use strict';

// Stands in for jsdom's `living/helpers/create-event-accessor.js` and replaces one step of it: how the text of an event
// handler attribute becomes a function.
// https://html.spec.whatwg.org/multipage/webappapis.html#getting-the-current-value-of-the-event-handler

const { thread } = require('../thread/thread.cjs');
const original = require('original:lib/jsdom/living/helpers/create-event-accessor.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const EventHandlerNonNull = require('jsdom/lib/generated/idl/EventHandlerNonNull.js');
const OnBeforeUnloadEventHandlerNonNull = require('jsdom/lib/generated/idl/OnBeforeUnloadEventHandlerNonNull.js');
const OnErrorEventHandlerNonNull = require('jsdom/lib/generated/idl/OnErrorEventHandlerNonNull.js');

const { reportException } = require('./exceptions.cjs');
const { syntaxErrorOfBody } = require('../scripts/script-compilation.cjs');

/** @param {Jsdom.Impl} target */
function isWindow(target) {
  return target._globalProxy !== undefined && target._document !== undefined;
}

/**
 * Where the start tag of an element ends in its document, counted from 0. Chromium takes the position that the parser
 * has reached for that of the element's handlers.
 *
 * @param {Jsdom.ElementImpl | null} element
 */
function startTagEnd(element) {
  const location = element?.sourceCodeLocation;
  const tag = location?.startTag ?? location;
  // Handlers of elements that a script has made are at the beginning.
  if (!tag) return { line: 0, column: 0 };
  return { line: tag.endLine - 1, column: tag.endCol - 1 };
}

/**
 * Compiles the text of an attribute. The document, the form owner and the element are scopes around the function,
 * innermost last. The parameters of the function begin at the position, and so do the lines of its body.
 *
 * @param {Jsdom.Window} window
 * @param {{ name: string, parameters: string, body: string, scopes: object[], url: string,
 *   position: { line: number, column: number } }} handler
 */
function compile(window, { name, parameters, body, scopes, url, position }) {
  const start = `return function ${name}`;
  // Checked on its own first: a body that closes the function is a syntax error and must not get into the scopes below.
  const pageWindow = thread.windows.get(window);
  const problem = syntaxErrorOfBody(parameters.split(', '), body);
  if (problem !== undefined) throw pageWindow.code.makeError('SyntaxError', problem);
  let head = '';
  let tail = '';
  for (let index = 0; index < scopes.length; index++) {
    head += `with (arguments[0][${index}]) {`;
    tail += '}';
  }
  const before = `(function () {${head} ${start}`;
  const source = `${before}(${parameters}) {${body}\n}\n${tail}})`;
  const { line, column } = position;
  const base = window._document.baseURLSerialized();
  const handler = pageWindow.runScript(source, url, { line, column: column - before.length, base })(scopes);
  // The standard has a line break before the body, which would put the body one line late.
  pageWindow.code.setText(handler, `function ${name}(${parameters}) {\n${body}\n}`);
  return handler;
}

/**
 * @param {Jsdom.Impl} target
 * @param {string} event
 */
function getCurrentEventHandlerValue(target, event) {
  const value = target._getEventHandlerFor(event);
  if (!value) return null;
  if (value.body === undefined) return value;
  if ((target._ownerDocument ?? target._document)._scriptingDisabled) return null;

  const ofWindow = isWindow(target);
  // The `onload` of a body is the window's, but its text is an attribute of the body.
  const element = ofWindow ? null : /** @type {Jsdom.ElementImpl} */ (target);
  const document = element?._ownerDocument ?? target._document;
  const window = document._globalObject;
  const name = `on${event}`;
  const isWindowError = event === 'error' && element === null;
  const scopes = [];
  if (element !== null) {
    scopes.push(idlUtils.wrapperForImpl(document));
    if (element.form) scopes.push(idlUtils.wrapperForImpl(element.form));
    scopes.push(idlUtils.wrapperForImpl(element));
  }
  let handler;
  try {
    handler = compile(window, {
      name,
      parameters: isWindowError ? 'event, source, lineno, colno, error' : 'event',
      body: value.body,
      scopes,
      url: document.URL,
      position: startTagEnd(element ?? document.body),
    });
  } catch (error) {
    target._setEventHandlerFor(event, null);
    reportException(window, error, document.URL);
    return null;
  }
  let Converter = EventHandlerNonNull;
  if (isWindowError) Converter = OnErrorEventHandlerNonNull;
  else if (event === 'beforeunload') Converter = OnBeforeUnloadEventHandlerNonNull;
  target._setEventHandlerFor(event, Converter.convert(window, handler));
  return target._getEventHandlerFor(event);
}

// jsdom's own functions look it up in the module each time.
original.getCurrentEventHandlerValue = getCurrentEventHandlerValue;

module.exports = original;
