'use strict';

// What our code in a window's realm (window/*.cjs) has of the DOM realm, and what it is told of its window.

const gate = require('selfprof:gate');
const Event = require('jsdom/lib/generated/idl/Event.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const { reportException } = require('./exceptions.cjs');
const { inspect } = require('./inspect.cjs');
const { platformOf } = require('./platform.cjs');
const { send } = require('./resources.cjs');

/** Times of a document's loading that its events tell. https://www.w3.org/TR/navigation-timing/ */
const MILESTONES = {
  readystatechange: { interactive: 'domInteractive', complete: 'domComplete' },
  DOMContentLoaded: ['domContentLoadedEventStart', 'domContentLoadedEventEnd'],
  load: ['loadEventStart', 'loadEventEnd'],
};

/** @param {import('./realms.cjs').WindowRealm} realm whose window is there and whose code is about to be */
function hostFor(realm) {
  const { window } = realm;
  let now = () => 0;
  return {
    inspect,
    platform: platformOf(window),
    // Of Node's globals, our modules know these.
    process: { emitWarning: (text) => window._settings.virtualConsole.emit('warn', `${text}`) },
    setImmediate(callback) {
      gate.setImmediate(() => callback());
      return { unref() {} };
    },
    now: () => now(),
    setNow(clock) {
      now = clock;
    },
    document: () => JSON.parse(gate.describeWindow(window)),
    hasListeners(target, type) {
      const listeners = idlUtils.implForWrapper(target)?._eventListeners?.[type];
      return listeners !== undefined && listeners.length > 0;
    },
    fireEvent(target, type) {
      const event = createAnEvent(type, window, Event);
      idlUtils.implForWrapper(target)._dispatch(event);
    },
    send,
  };
}

/** Gives a window what jsdom lacks. */
function install(realm) {
  const { window, code } = realm;
  const description = JSON.parse(gate.describeWindow(window));
  // Read by `performance.timing` each time.
  const timing = code.emptyObject();
  const navigation = code.emptyObject();
  watchLoading(window, timing, description.timeOrigin);
  code.install({
    ...description,
    timing,
    navigation,
    isTopLevel: window._top === window._globalProxy,
    queueTask: (task) => window._document._queueATask(() => task()),
    reportException: (error) => reportException(window, error),
  });
}

function watchLoading(window, timing, navigationStart) {
  const now = () => gate.now() + gate.timeOrigin;
  Object.assign(timing, { navigationStart, fetchStart: navigationStart, domLoading: now() });
  const document = idlUtils.wrapperForImpl(window._document);
  document.addEventListener('readystatechange', () => {
    const milestone = MILESTONES.readystatechange[document.readyState];
    if (milestone !== undefined) timing[milestone] ??= now();
  });
  for (const type of ['DOMContentLoaded', 'load']) {
    const [start, end] = MILESTONES[type];
    window._globalProxy.addEventListener(
      type,
      () => {
        if (timing[start] !== undefined) return;
        timing[start] = now();
        gate.setImmediate(() => {
          timing[end] = now();
        });
      },
      { capture: true },
    );
  }
}

module.exports = { hostFor, install };
