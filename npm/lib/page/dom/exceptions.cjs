'use strict';

// Stands for jsdom's `living/helpers/runtime-script-errors.js`: reports an exception to its window and, when no handler
// takes care of it, to whoever opened the page. https://html.spec.whatwg.org/multipage/webappapis.html#report-an-exception

const ErrorEvent = require('jsdom/lib/generated/idl/ErrorEvent.js');
const PromiseRejectionEvent = require('jsdom/lib/generated/idl/PromiseRejectionEvent.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const gate = require('selfprof:gate');
const { inspect } = require('./inspect.cjs');

/** Targets that are being told of an exception: one that is thrown meanwhile is not reported to them again. */
const inReporting = new WeakSet();

/** Reads a property of whatever was thrown. */
function read(value, key) {
  try {
    const found = value?.[key];
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** The innermost place that a stack names. */
function locate(stack) {
  for (const line of (stack ?? '').split('\n').slice(1)) {
    const found = /at (?:.+? \()?(.+?):(\d+):(-?\d+)\)?$/.exec(line);
    if (found !== null) return { filename: found[1], lineno: Number(found[2]), colno: Number(found[3]) };
  }
  return undefined;
}

/**
 * @param {object} window
 * @param {unknown} error what was thrown
 * @param {string} [url] of the script that threw, when its stack does not say
 * @param {boolean} [muted] whether the script is another origin's: the page then learns only that something failed
 * @param {string} [stack] of the caller, for `reportError()`
 */
function reportException(window, error, url = window._document.URL, muted = false, stack = undefined) {
  const isError = gate.kindOf(error) === 'Error' || read(error, 'stack') !== undefined;
  const [lineno = 0, colno = 0] = isError ? gate.placeOf(error).split(':').filter(Boolean).map(Number) : [];
  const unparsed = lineno === 0 ? undefined : { filename: url, lineno, colno };
  const place = unparsed ?? locate(stack ?? (isError ? read(error, 'stack') : undefined)) ?? { filename: url, lineno: 0, colno: 0 };
  const text = isError ? `${read(error, 'name') ?? 'Error'}: ${read(error, 'message') ?? ''}` : inspect(error);
  const report = muted
    ? { message: 'Script error.', filename: '', lineno: 0, colno: 0, error: null }
    : { message: `Uncaught ${text}`, ...place, error };
  const shown = isError ? (read(error, 'stack') ?? text) : text;
  reportError(window, report, { message: `Uncaught ${text}`, stack: shown, ...place });
}

/**
 * Fires an error at a window, or at a worker's global object, and shows it unless that took care of it.
 *
 * @param {object} window
 * @param {object} report members of the event
 * @param {{ message: string, stack: string, filename: string, lineno: number, colno: number }} shown to the page's user; of
 *   a worker, to whoever made it
 */
function reportError(window, report, shown) {
  if (!fireError(window, report)) window._settings.virtualConsole.emit('exception', shown);
}

/** https://html.spec.whatwg.org/multipage/webappapis.html#unhandled-promise-rejections */
function reportRejection(window, reason, promise) {
  const event = createAnEvent('unhandledrejection', window, PromiseRejectionEvent, { cancelable: true, promise, reason });
  idlUtils.implForWrapper(window)._dispatch(event);
  if (event.defaultPrevented) return;
  const stack = read(reason, 'stack');
  const text = stack === undefined ? inspect(reason) : `${read(reason, 'name') ?? 'Error'}: ${read(reason, 'message') ?? ''}`;
  const place = locate(stack) ?? { filename: window._document.URL, lineno: 0, colno: 0 };
  window._settings.virtualConsole.emit('rejection', { message: `Uncaught (in promise) ${text}`, stack: stack ?? text, ...place });
}

/** Fires `error` at the window. Returns whether that took care of the exception. */
function fireError(window, report) {
  const target = idlUtils.implForWrapper(window);
  if (inReporting.has(target)) return false;
  inReporting.add(target);
  try {
    const event = createAnEvent('error', target._globalObject, ErrorEvent, { cancelable: true, ...report });
    target._dispatch(event);
    return event.defaultPrevented;
  } catch {
    return false;
  } finally {
    inReporting.delete(target);
  }
}

module.exports = (window, error, url, stack) => reportException(window, error, url, false, stack);
module.exports.reportError = reportError;
module.exports.reportException = reportException;
module.exports.reportRejection = reportRejection;
