'use strict';

// Stands for jsdom's virtual console: what pages log, and what goes wrong in them, goes to the page's user.

const { tell } = require('./outbox.cjs');
const { format, inspect } = require('./inspect.cjs');

/** Messages a second, and characters a message: a page must not fill its user's memory. */
const LIMIT = 1_000;
const TEXT = 10_000;

let second = 0;
let count = 0;

/** @returns what jsdom calls with a console method's name, or with `jsdomError` */
exports.consoleFor = (realm) => {
  const counts = new Map();
  const timers = new Map();
  let indent = 0;
  /** What is missing is said once a window, however often it is asked for. */
  const missing = new Set();

  const send = (message) => {
    const now = Math.floor(performance.now() / 1_000);
    count = now === second ? count + 1 : 1;
    second = now;
    if (count > LIMIT) return;
    if (count === LIMIT) tell({ type: 'console', frame: realm.id, method: 'warn', text: 'too many messages a second, the rest are left out' });
    else tell({ ...message, frame: realm.id });
  };
  const log = (method, values) => {
    const text = ' '.repeat(indent) + format(values);
    send({ type: 'console', method, text: text.length > TEXT ? `${text.slice(0, TEXT)}...` : text });
  };

  const methods = {
    assert: ([condition, ...values]) => condition || log('assert', ['Assertion failed', ...(values.length > 0 ? [':', ...values] : [])]),
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
      if (timers.has(`${label}`)) log('timeLog', [`${label}: ${elapsed(timers.get(`${label}`))}`, ...values]);
    },
    timeEnd: ([label = 'default']) => {
      if (timers.has(`${label}`)) log('timeEnd', [`${label}: ${elapsed(timers.get(`${label}`))}`]);
      timers.delete(`${label}`);
    },
    trace: (values) => log('trace', values.length > 0 ? values : ['Trace']),
    // What jsdom cannot do, and resources that did not load.
    jsdomError: ([error]) => {
      if (error.type === 'not-implemented') {
        // What jsdom would have its users install does not help here.
        const what = `${error.message}`.replace(/: without installing .*/, ', for pages have no canvas to paint on');
        if (missing.has(what) || missing.size > LIMIT) return;
        missing.add(what);
        send({ type: 'problem', kind: 'not-implemented', text: what, url: '' });
        return;
      }
      const cause = error.cause === undefined ? '' : `: ${error.cause?.message ?? inspect(error.cause)}`;
      send({ type: 'problem', kind: `${error.type}`, text: `${error.message}${cause}`, url: error.url === undefined ? '' : `${error.url}` });
    },
    exception: ([report]) => send({ type: 'exception', ...report }),
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
        // Logging has no effect on a page, not even by failing.
      }
    },
  };
};

function elapsed(since) {
  return `${(performance.now() - since).toFixed(3)}ms`;
}
