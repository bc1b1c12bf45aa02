'use strict';

// Stands in for jsdom's `living/helpers/runtime-script-errors.js`: reports an exception to its window and, when no
// listener handles it, to the page's user. https://html.spec.whatwg.org/multipage/webappapis.html#report-an-exception

const { types } = require('node:util');

const ErrorEvent = require('jsdom/lib/generated/idl/ErrorEvent.js');
const PromiseRejectionEvent = require('jsdom/lib/generated/idl/PromiseRejectionEvent.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const native = require('selfprof/internal/native.cjs');
const { thread } = require('../thread/thread.cjs');
const { inspect } = require('../thread/inspect.cjs');
const { syntaxErrorPosition } = require('../scripts/script-compilation.cjs');

/**
 * Targets whose listeners of `error` run now: an exception in one of them is not reported to the same target.
 *
 * @type {WeakSet<object>}
 */
const inReporting = new WeakSet();

/**
 * Reads a property of what was thrown.
 *
 * @param {any} value of the page
 * @param {string} key
 * @returns {string | undefined}
 */
function read(value, key) {
  try {
    const found = value?.[key];
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** The innermost position that a stack names. @param {string | undefined} stack */
function locate(stack) {
  for (const line of (stack ?? '').split('\n').slice(1)) {
    const found = /at (?:.+? \()?(.+?):(\d+):(-?\d+)\)?$/.exec(line);
    if (found !== null) return { filename: found[1], lineno: Number(found[2]), colno: Number(found[3]) };
  }
  return undefined;
}

/**
 * Describes what was thrown, and where.
 *
 * @param {unknown} thrown
 * @param {string} url of the script that threw, when its stack does not say
 * @param {string} [caller] the stack of the caller of `reportError()`
 */
function describe(thrown, url, caller) {
  const stack = read(thrown, 'stack');
  const isError = types.isNativeError(thrown) || stack !== undefined;
  const [lineno = 0, colno = 0] = syntaxErrorPosition(thrown).split(':').filter(Boolean).map(Number);
  const place = { filename: url, lineno, colno };
  const text = isError ? `${read(thrown, 'name') ?? 'Error'}: ${read(thrown, 'message') ?? ''}` : inspect(thrown);
  return { text, stack: stack ?? text, ...((lineno === 0 ? locate(caller ?? stack) : undefined) ?? place) };
}

/**
 * @param {Jsdom.Window} window
 * @param {unknown} error what was thrown; of a muted script, nothing
 * @param {string} [url] of the script that threw, when its stack does not say
 * @param {boolean} [muted] whether the script is known to be of another origin: the page then learns only that
 *   something failed
 * @param {string} [caller] the stack of the caller of `reportError()`
 */
function reportException(window, error, url = window._document.URL, muted = false, caller = undefined) {
  if (muted || takeMuted(window, error)) {
    const message = 'Script error.';
    const nowhere = { lineno: 0, colno: 0 };
    const report = { message, filename: '', ...nowhere, error: null };
    // What a worker does not handle goes to the page that started it.
    reportError(window, report, { message, stack: message, filename: muted ? url : '', ...nowhere });
    return;
  }
  const { text, stack, ...position } = describe(error, url, caller);
  const message = `Uncaught ${text}`;
  reportError(window, { message, ...position, error }, { message, stack, ...position });
}

/**
 * Whether a muted script threw an exception. If so, this tells the page's user, so call it once for each.
 *
 * @param {Jsdom.Window} window
 * @param {unknown} thrown
 */
function takeMuted(window, thrown) {
  const place = native.mutedException(thrown);
  if (place === undefined) return false;
  thread.reports.mutedException(thread.windows.find(window)?.frame ?? 0, place, thrown);
  return true;
}

/**
 * Fires an error at a window, or at a worker's global object, and shows it unless a listener handles it.
 *
 * @param {Jsdom.Window} window
 * @param {object} report members of the event
 * @param {{ message: string, stack: string, filename: string, lineno: number, colno: number }} shown what the page's
 *   user gets; of a worker, what the window that started it gets
 */
function reportError(window, report, shown) {
  if (!fireError(window, report)) window._settings.virtualConsole.emit('exception', shown);
}

/**
 * https://html.spec.whatwg.org/multipage/webappapis.html#unhandled-promise-rejections
 *
 * @param {Jsdom.Window} window
 * @param {unknown} reason
 * @param {object} promise
 */
function reportRejection(window, reason, promise) {
  const event = createAnEvent('unhandledrejection', window, PromiseRejectionEvent, {
    cancelable: true,
    promise,
    reason,
  });
  idlUtils.implForWrapper(window)._dispatch(event);
  if (event.defaultPrevented) return;
  const { text, ...described } = describe(reason, window._document.URL);
  window._settings.virtualConsole.emit('rejection', { message: `Uncaught (in promise) ${text}`, ...described });
}

/**
 * Fires `error` at a window.
 *
 * @param {Jsdom.Window} window
 * @param {object} report
 * @returns {boolean} whether a listener handled it
 */
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

/** What jsdom's modules call. @type {(window: Jsdom.Window, error: unknown, url?: string, stack?: string) => void} */
const reportFromJsdom = (window, error, url, stack) => reportException(window, error, url, false, stack);

module.exports = Object.assign(reportFromJsdom, { reportError, reportException, reportRejection });
