'use strict';

// The program of the DOM realm: what the main realm calls in it, and what the user's thread sends to it.

require('./dom-globals.cjs');

const bridge = require('selfprof:main-realm');
const { answer, postToHost } = require('./post-to-host.cjs');
const { openWindow, parse } = require('./documents.cjs');
const automation = require('./automation/commands.cjs');
const { evaluate } = require('./evaluate-script.cjs');
const frames = require('./frame-element.cjs');
const { runInitScripts, setInitScripts } = require('./init-scripts.cjs');
const { embed, receiveMessage } = require('./remote-window.cjs');
const { reportException, reportRejection } = require('./exceptions.cjs');
const { inspect } = require('./inspect.cjs');
const realms = require('./window-realms.cjs');
require('./style-markers.cjs');
require('./event-times.cjs');
require('./promise-jobs.cjs');
require('./hyperlinks.cjs');
const { setVisible } = require('./page-visibility.cjs');
const { fillStorage, receiveStorage, sendChanges } = require('./storage.cjs');
const { unload } = require('./unloading.cjs');

const { Uint8Array } = globalThis;

/** The outermost window of this thread. @type {Jsdom.Window | undefined} */
let page;

/**
 * Performs a command of a program that drives the page.
 *
 * @param {{ id: number, frame: number } & import('./automation/commands.cjs').Command} message
 */
function automate({ id, frame, ...message }) {
  const done = (/** @type {import('../any-realm/realm-contracts.js').CommandOutcome} */ outcome) => answer(id, outcome);
  const realm = realms.byFrame(frame);
  if (realm === undefined) done({ error: { code: 'no such window', message: 'the frame is gone' } });
  else automation.perform(realm, message, done);
}

/** What the user's thread sends, by the message's type. @type {Record<string, (message: any) => void>} */
const onMessage = {
  automate,
  evaluate,
  message: receiveMessage,
  storage: receiveStorage,
  'remote loaded': ({ frame }) => frames.byNumber(frame)?._remoteLoaded(),
};

/**
 * Notifies the user's thread when a document is parsed and when it is loaded, after the page's own listeners. @param {Jsdom.Window} window
 */
function announceLoading(window) {
  const id = realms.realmOf(window)?.id;
  const target = window._globalProxy;
  for (const type of ['DOMContentLoaded', 'load']) {
    const announce = () => bridge.setImmediate(() => postToHost({ type, frame: id }));
    // A page can fire events of these types, too, without end.
    target.addEventListener(
      type,
      (/** @type {{ isTrusted: boolean }} */ { isTrusted }) => {
        if (isTrusted) announce();
      },
      { capture: true },
    );
  }
}

/** @type {import('../any-realm/realm-contracts.js').DomProgram} */
module.exports = {
  allocate: (length) => new Uint8Array(length),

  receive(message) {
    if (Object.hasOwn(onMessage, message.type)) onMessage[message.type](message);
  },

  /** Opens the page's document. */
  open(text, bytes) {
    const { contentType, ancestors, storage, initScripts, ...description } = JSON.parse(text);
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
    if (page !== undefined) unload(page._document, { isNavigation: true });
    sendChanges();
  },

  navigateFrame: (frame, ticket) => frames.byNumber(frame)?._navigateAsAsked(ticket),

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
