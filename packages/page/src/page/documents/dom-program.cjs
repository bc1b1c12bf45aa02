'use strict';

// The program of a thread with documents: what page-thread.cjs calls of the modules around jsdom, and the messages for
// them.

const { thread } = require('../thread/thread.cjs');

const { closeWindow, openOutermost, parse, runInitScripts } = require('./documents.cjs');
const automation = require('../automation/commands.cjs');
const { evaluate } = require('../automation/evaluate-script.cjs');
const frames = require('../frames/frame-element.cjs');
const { restoreInterfaces } = require('../apis/node-interfaces.cjs');
const { embed, receiveMessage } = require('../frames/remote-window.cjs');
const { reportException, reportRejection } = require('../jsdom/exceptions.cjs');
require('../jsdom/style-markers.cjs');
require('../jsdom/event-times.cjs');
require('../jsdom/promise-jobs.cjs');
require('../jsdom/hyperlinks.cjs');
require('../jsdom/session-history.cjs');
const { setVisible } = require('../jsdom/page-visibility.cjs');
const { fillStorage, forgetStorage, receiveStorage, sendChanges } = require('../jsdom/storage.cjs');
const { onWorkerGone } = require('../apis/started-workers.cjs');
const { unload } = require('../jsdom/unloading.cjs');

/** The outermost window of this thread. @type {Jsdom.Window | undefined} */
let page;

/**
 * Performs a command of a program that drives the page.
 *
 * @param {{ id: number, frame: number } & import('../automation/commands.cjs').Command} message
 */
function automate({ id, frame, ...message }) {
  const done = (/** @type {import('../../window/contracts.js').CommandOutcome} */ outcome) =>
    thread.answer(id, outcome);
  const pageWindow = thread.windows.ofFrame(frame);
  if (pageWindow === undefined) done({ error: { code: 'no such window', message: 'the frame is gone' } });
  else automation.perform(pageWindow, message, done);
}

/** What the host sends, by the message's type. @type {Record<string, (message: any) => void>} */
const onMessage = {
  automate,
  evaluate,
  message: receiveMessage,
  storage: receiveStorage,
  'worker gone': onWorkerGone,
  'navigate frame': ({ frame, ...asked }) => frames.byNumber(frame)?._navigateAsAsked(asked),
  'remote loaded': ({ frame }) => frames.byNumber(frame)?._remoteLoaded(),
};

/**
 * Notifies the host when the document is parsed and when it is loaded, after the page's own listeners.
 *
 * @param {Jsdom.Window} window
 */
function announceLoading(window) {
  for (const type of ['DOMContentLoaded', 'load']) {
    const announce = (/** @type {{ isTrusted: boolean }} */ { isTrusted }) => {
      // A page can fire events of these types, too.
      if (isTrusted) setImmediate(() => thread.tell({ type, frame: 0 }));
    };
    window._globalProxy.addEventListener(type, announce, { capture: true });
  }
}

/** @type {import('../page-thread.cjs').DomProgram} */
module.exports = {
  receive(message) {
    if (Object.hasOwn(onMessage, message.type)) onMessage[message.type](message);
  },

  open({ document, content, ancestors, storage, initScripts }) {
    page = openOutermost(document, content, initScripts);
    if (storage !== undefined) fillStorage(storage);
    if (ancestors !== undefined) embed(page, ancestors);
    runInitScripts(thread.windows.get(page));
    announceLoading(page);
    parse(page, content.body, document.contentType);
  },

  setVisible,

  unload() {
    automation.answerAll();
    if (page !== undefined) unload(page._document, { isNavigation: true });
    sendChanges();
  },

  close() {
    // The outermost first, then those of frames that were being replaced.
    for (const pageWindow of thread.windows.all()) if (pageWindow.isOpen) closeWindow(pageWindow.window);
    page = undefined;
    frames.reset();
    forgetStorage();
    restoreInterfaces();
  },

  /** @param {unknown} error @param {any} [window] */
  report(error, window = page) {
    if (window !== undefined) reportException(window, error);
    else thread.fail(error);
  },

  reject(reason, promise) {
    const { windows } = thread;
    const window = windows.all().find(({ code }) => code.owns(promise))?.window ?? page;
    if (window !== undefined) reportRejection(window, reason, promise);
  },
};
