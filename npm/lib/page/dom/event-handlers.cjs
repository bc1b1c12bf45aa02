'use strict';

// Stands for jsdom's `living/helpers/create-event-accessor.js`, of which it replaces one step: how the text of an event
// handler attribute becomes a function. https://html.spec.whatwg.org/multipage/webappapis.html#getting-the-current-value-of-the-event-handler

const gate = require('selfprof:gate');
const original = require('original:lib/jsdom/living/helpers/create-event-accessor.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const EventHandlerNonNull = require('jsdom/lib/generated/idl/EventHandlerNonNull.js');
const OnBeforeUnloadEventHandlerNonNull = require('jsdom/lib/generated/idl/OnBeforeUnloadEventHandlerNonNull.js');
const OnErrorEventHandlerNonNull = require('jsdom/lib/generated/idl/OnErrorEventHandlerNonNull.js');

const { reportException } = require('./exceptions.cjs');

function isWindow(target) {
  return target._globalProxy !== undefined && target._document !== undefined;
}

/** Where an attribute's value stands in its document, from 0. */
function attributePosition(element, name) {
  const location = element?.sourceCodeLocation;
  const place = (location?.startTag ?? location)?.attrs?.[name] ?? location?.attrs?.[name];
  if (place === undefined) return { line: 0, column: 0 };
  // Behind the name, the equals sign and a quote.
  return { line: place.startLine - 1, column: place.startCol - 1 + name.length + 2 };
}

/**
 * Compiles the text of an attribute. The function sees the document, the form owner and the element as scopes around it,
 * innermost last, and its positions are those of the attribute.
 */
function compile(window, { name, parameters, body, scopes, url, position }) {
  const handler = `function ${name}(${parameters}) {\n${body}\n}`;
  // On its own first: a body that closes the function is a syntax error and must not get into the scopes below.
  gate.checkFunctionBody(window, parameters, body, url);
  let head = '';
  let tail = '';
  for (let index = 0; index < scopes.length; index++) {
    head += `with (arguments[0][${index}]) {`;
    tail += '}';
  }
  const source = `(function () {${head} return ${handler}\n${tail}})`;
  // The body begins on the second line of the source.
  const make = gate.runScript(window, source, url, position.line - 1, 0, window._document.baseURLSerialized());
  return make(scopes);
}

function getCurrentEventHandlerValue(target, event) {
  const value = target._getEventHandlerFor(event);
  if (!value) return null;
  if (value.body === undefined) return value;

  const ofWindow = isWindow(target);
  // A body's `onload` is the window's; its text still stands on the body.
  const element = ofWindow ? null : target;
  const document = ofWindow ? target._document : element._ownerDocument;
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
      position: attributePosition(element ?? document.body, name),
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

// jsdom's own functions look it up here each time.
original.getCurrentEventHandlerValue = getCurrentEventHandlerValue;

module.exports = original;
