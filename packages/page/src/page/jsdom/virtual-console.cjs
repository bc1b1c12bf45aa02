'use strict';

// In place of jsdom's virtual console: sends what pages log, and what goes wrong in them, to the page's user.

const { Console } = require('node:console');

const { thread } = require('../thread/thread.cjs');
const { OPTIONS, inspect } = require('../thread/inspect.cjs');
const { RequestFailed } = require('../loading/reports.cjs');

/**
 * @param {import('../windows/page-window.cjs').PageWindow} pageWindow
 * @returns {Jsdom.VirtualConsole} what jsdom calls with the name of a console method, or with `jsdomError`
 */
exports.consoleFor = (pageWindow) => {
  /** Missing features that were reported: each is reported once per window. @type {Set<string>} */
  const missing = new Set();
  /** The method that is being called. */
  let method = '';

  const send = (/** @type {{ type: string, [member: string]: unknown }} */ message) =>
    thread.tell({ ...message, frame: pageWindow.frame });
  const stream = /** @type {any} */ ({
    write: (/** @type {string} */ text) => send({ type: 'console', method, text: text.replace(/\n$/, '') }),
  });
  /** @type {Record<string, any>} */
  const console = new Console({ stdout: stream, ignoreErrors: false, inspectOptions: OPTIONS });

  /** Calls of jsdom that are no methods of the console. @type {Record<string, (value: any) => void>} */
  const reports = {
    // Features that jsdom lacks, and resources that could not be loaded.
    jsdomError(error) {
      if (error.cause instanceof RequestFailed) return;
      if (error.type === 'not-implemented') {
        // The package that jsdom suggests to install would not help here.
        const text = `${error.message}`.replace(/: without installing .*/, ': pages have no canvas to paint on');
        if (missing.has(text)) return;
        missing.add(text);
        send({ type: 'problem', kind: 'not-implemented', text, url: '' });
        return;
      }
      const cause = error.cause === undefined ? '' : `: ${error.cause?.message ?? inspect(error.cause)}`;
      const text = `${error.message}${cause}`;
      send({ type: 'problem', kind: `${error.type}`, text, url: `${error.url ?? ''}` });
    },
    exception({ message, stack, filename, lineno, colno }) {
      send({ type: 'exception', message: `${message}`, stack: `${stack}`, filename: `${filename}`, lineno, colno });
    },
  };
  reports.rejection = reports.exception;

  return {
    emit(name, ...values) {
      const { emitWarning } = process;
      method = name;
      // As for a timer that was not started.
      process.emitWarning = (/** @type {string | Error} */ text) =>
        send({ type: 'console', method: 'warn', text: `${text}` });
      try {
        if (Object.hasOwn(reports, name)) reports[name](values[0]);
        else console[name](...values);
      } catch {
        // Logging never throws to the page.
      } finally {
        process.emitWarning = emitWarning;
      }
    },
  };
};
