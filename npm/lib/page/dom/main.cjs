'use strict';

// The DOM realm's own program: what the main realm has it do, and what its user's messages ask for.

require('./environment.cjs');

const gate = require('selfprof:gate');
const outbox = require('./outbox.cjs');
const { openWindow, parse } = require('./documents.cjs');
const automation = require('./automation/main.cjs');
const { evaluate } = require('./evaluate.cjs');
const frames = require('./frame-element.cjs');
const messages = require('./messages.cjs');
const { embed } = require('./remote-window.cjs');
const { reportException, reportRejection } = require('./exceptions.cjs');
const { inspect } = require('./inspect.cjs');
const realms = require('./realms.cjs');
require('./style.cjs');
const visibility = require('./visibility.cjs');

const { Uint8Array } = globalThis;

let page;

/** A command of a program that drives the page. */
function automate({ id, frame, ...message }) {
  const done = (outcome) => outbox.tell({ type: 'evaluated', id, ...outcome });
  const realm = realms.byFrame(frame);
  if (realm === undefined) done({ error: { code: 'no such window', message: 'the frame is gone' } });
  else automation.perform(realm, message, done);
}

const onMessage = {
  automate,
  evaluate,
  message: messages.receive,
  'remote loaded': ({ frame }) => frames.byNumber(frame)?._remoteLoaded(),
  'navigate remote': ({ frame, url, referrer }) => frames.byNumber(frame)?._navigateTo(url, referrer),
};

/** Says when a document is parsed and when it is loaded, as soon as the page's own listeners have run. */
function announce(window) {
  const { id } = realms.realmOf(window);
  const target = window._globalProxy;
  for (const type of ['DOMContentLoaded', 'load']) {
    target.addEventListener(type, () => gate.setImmediate(() => outbox.tell({ type, frame: id })), { capture: true });
  }
}

module.exports = {
  /** Memory of this realm, for the main realm to fill. */
  allocate: (length) => new Uint8Array(length),

  connect(port) {
    outbox.connect(port, (message) => {
      // What is asked for is a task of the page, which may be a long one.
      if (Object.hasOwn(onMessage, message.type)) gate.enter(() => onMessage[message.type](message));
    });
  },

  /** Opens the page's document. */
  open(text, bytes) {
    const { contentType, place, ...description } = JSON.parse(text);
    page = openWindow(description);
    if (place !== undefined) embed(page, place);
    announce(page);
    parse(page, bytes, contentType);
  },

  setVisible: visibility.set,

  /** Something was thrown that nobody caught. */
  report(error, window = page) {
    if (window !== undefined) reportException(window, error);
    else outbox.tell({ type: 'problem', frame: 0, kind: 'host', text: inspect(error), url: '' });
  },

  /** A promise was rejected and nobody listens. */
  reject(reason, promise) {
    const realm = realms.all().find(({ code }) => code.owns(promise)) ?? realms.realmOf(page);
    if (realm !== undefined) reportRejection(realm.window, reason, promise);
  },
};
