'use strict';

// In place of jsdom's virtual console: sends what pages log, and what goes wrong in them, to the page's user.

const { thread } = require('./thread.cjs');
const { format, inspect } = require('./inspect.cjs');
const { RequestFailed } = require('./reports.cjs');

/**
 * @param {import('./page-window.cjs').PageWindow} pageWindow
 * @returns {Jsdom.VirtualConsole} what jsdom calls with the name of a console method, or with `jsdomError`
 */
exports.consoleFor = (pageWindow) => {
  /** @type {Map<string, number>} */
  const counts = new Map();
  /** @type {Map<string, number>} */
  const timers = new Map();
  let indent = 0;
  /** Missing features that were reported: each is reported once per window. @type {Set<string>} */
  const missing = new Set();

  const send = (/** @type {{ type: string, [member: string]: unknown }} */ message) =>
    thread.tell({ ...message, frame: pageWindow.frame });
  const log = (/** @type {string} */ method, /** @type {unknown[]} */ values) => {
    const text = ' '.repeat(indent) + format(values);
    send({ type: 'console', method, text: text });
  };

  /** @type {Record<string, (values: any[]) => void>} */
  const methods = {
    assert: ([condition, ...values]) => {
      if (!condition) log('assert', ['Assertion failed', ...(values.length > 0 ? [':', ...values] : [])]);
    },
    clear: () => {},
    count: ([label = 'default']) => {
      const next = (counts.get(`${label}`) ?? 0) + 1;
      counts.set(`${label}`, next);
      log('count', [`${label}: ${next}`]);
    },
    countReset: ([label = 'default']) => void counts.delete(`${label}`),
    dir: ([value]) => log('dir', [value]),
    group: (values) => {
      if (values.length > 0) log('group', values);
      indent = Math.min(indent + 2, 40);
    },
    groupEnd: () => {
      indent = Math.max(indent - 2, 0);
    },
    time: ([label = 'default']) => void timers.set(`${label}`, performance.now()),
    timeLog: ([label = 'default', ...values]) => {
      const since = timers.get(`${label}`);
      if (since !== undefined) log('timeLog', [`${label}: ${elapsed(since)}`, ...values]);
    },
    timeEnd: ([label = 'default']) => {
      const since = timers.get(`${label}`);
      if (since !== undefined) log('timeEnd', [`${label}: ${elapsed(since)}`]);
      timers.delete(`${label}`);
    },
    trace: (values) => log('trace', values.length > 0 ? values : ['Trace']),
    // Features that jsdom lacks, and resources that could not be loaded.
    jsdomError: ([error]) => {
      if (error.cause instanceof RequestFailed) return;
      if (error.type === 'not-implemented') {
        // The package that jsdom suggests to install would not help here.
        const text = `${error.message}`.replace(/: without installing .*/, ': pages have no canvas to paint on');
        if (missing.has(text)) return;
        missing.add(text);
        send({ type: 'problem', kind: 'not-implemented', text: text, url: '' });
        return;
      }
      const cause = error.cause === undefined ? '' : `: ${error.cause?.message ?? inspect(error.cause)}`;
      send({
        type: 'problem',
        kind: `${error.type}`,
        text: `${error.message}${cause}`,
        url: `${error.url ?? ''}`,
      });
    },
    exception: ([{ message, stack, filename, lineno, colno }]) => {
      send({ type: 'exception', message: `${message}`, stack: `${stack}`, filename: `${filename}`, lineno, colno });
    },
  };
  methods.rejection = methods.exception;
  methods.groupCollapsed = methods.group;
  methods.dirxml = methods.dir;

  return {
    emit(method, ...values) {
      try {
        if (Object.hasOwn(methods, method)) methods[method](values);
        else log(method, values);
      } catch {
        // Logging never throws to the page.
      }
    },
  };
};

/** @param {number} since */
function elapsed(since) {
  return `${(performance.now() - since).toFixed(3)}ms`;
}
