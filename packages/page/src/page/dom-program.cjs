'use strict';

// The program of a thread with documents: what page-thread.cjs calls of the modules around jsdom, and the messages for them.

const { answer, postToHost } = require('./post-to-host.cjs');
const { closeWindow, openWindow, parse } = require('./documents.cjs');
const automation = require('./automation/commands.cjs');
const { evaluate } = require('./evaluate-script.cjs');
const frames = require('./frame-element.cjs');
const { runInitScripts, setInitScripts } = require('./init-scripts.cjs');
const { restoreInterfaces } = require('./node-interfaces.cjs');
const { embed, receiveMessage } = require('./remote-window.cjs');
const { reportException, reportRejection } = require('./exceptions.cjs');
const { inspect } = require('./inspect.cjs');
const realms = require('./window-realms.cjs');
require('./style-markers.cjs');
require('./event-times.cjs');
require('./promise-jobs.cjs');
require('./hyperlinks.cjs');
require('./session-history.cjs');
const { setVisible } = require('./page-visibility.cjs');
const { fillStorage, forgetStorage, receiveStorage, sendChanges } = require('./storage.cjs');
const { unload } = require('./unloading.cjs');

/** The outermost window of this thread. @type {Jsdom.Window | undefined} */
let page;

/**
 * Performs a command of a program that drives the page.
 *
 * @param {{ id: number, frame: number } & import('./automation/commands.cjs').Command} message
 */
function automate({ id, frame, ...message }) {
  const done = (/** @type {import('../window/contracts.js').CommandOutcome} */ outcome) => answer(id, outcome);
  const realm = realms.byFrame(frame);
  if (realm === undefined) done({ error: { code: 'no such window', message: 'the frame is gone' } });
  else automation.perform(realm, message, done);
}

/** What the host sends, by the message's type. @type {Record<string, (message: any) => void>} */
const onMessage = {
  automate,
  evaluate,
  message: receiveMessage,
  storage: receiveStorage,
  'remote loaded': ({ frame }) => frames.byNumber(frame)?._remoteLoaded(),
};

/**
 * Notifies the host when a document is parsed and when it is loaded, after the page's own listeners. @param {Jsdom.Window} window
 */
function announceLoading(window) {
  const id = realms.realmOf(window)?.id;
  const target = window._globalProxy;
  for (const type of ['DOMContentLoaded', 'load']) {
    target.addEventListener(
      type,
      (/** @type {{ isTrusted: boolean }} */ { isTrusted }) => {
        // A page can fire events of these types, too.
        if (isTrusted) setImmediate(() => postToHost({ type, frame: id }));
      },
      { capture: true },
    );
  }
}

/** @type {import('./thread-types.js').DomProgram} */
module.exports = {
  receive(message) {
    if (Object.hasOwn(onMessage, message.type)) onMessage[message.type](message);
  },

  /** Opens the page's document. */
  open({ contentType, ancestors, storage, initScripts, ...description }, bytes) {
    setInitScripts(initScripts);
    page = openWindow(description);
    if (storage !== undefined) fillStorage(page, storage);
    if (ancestors !== undefined) embed(page, ancestors);
    runInitScripts(page);
    announceLoading(page);
    parse(page, bytes, contentType);
  },

  setVisible,

  unload() {
    automation.answerAll();
    if (page !== undefined) unload(page._document, { isNavigation: true });
    sendChanges();
  },

  navigateFrame: (frame, asked) => frames.byNumber(frame)?._navigateAsAsked(asked),

  close() {
    if (page !== undefined) closeWindow(page);
    page = undefined;
    // Those of frames that were being replaced.
    for (const { window } of realms.all()) closeWindow(window);
    frames.reset();
    forgetStorage();
    restoreInterfaces();
  },

  /** @param {unknown} error @param {any} [window] */
  report(error, window = page) {
    if (window !== undefined) reportException(window, error);
    else postToHost({ type: 'problem', frame: 0, kind: 'host', text: inspect(error), url: '' });
  },

  reject(reason, promise) {
    const realm = realms.all().find(({ code }) => code.owns(promise)) ?? (page && realms.realmOf(page));
    if (realm !== undefined) reportRejection(realm.window, reason, promise);
  },
};
