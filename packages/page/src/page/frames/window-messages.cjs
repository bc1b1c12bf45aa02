'use strict';

// Messages between windows. https://html.spec.whatwg.org/multipage/web-messaging.html#posting-messages

const { thread } = require('../thread/thread.cjs');
const { parseURL, serializeURLOrigin } = require('whatwg-url');

const DOMException = require('jsdom/lib/generated/idl/DOMException.js');
const MessageEvent = require('jsdom/lib/generated/idl/MessageEvent.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');

const { callingRealm } = require('../thread/page-code.cjs');

/** @typedef {import('../../window/contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../windows/page-window.cjs').PageWindow} PageWindow */

/**
 * Reads the arguments of `postMessage` and serializes the message.
 *
 * @param {PageWindow} pageWindow whose errors are thrown
 * @param {ArrayLike<any>} parameters
 * @param {(record: CloneRecord, targetOrigin: string) => void} send
 */
function post({ window, code }, parameters, send) {
  if (parameters.length < 1) {
    throw new window.TypeError("Failed to execute 'postMessage' on 'Window': 1 argument required, but only 0 present.");
  }
  const [message, second, third] = /** @type {any[]} */ (parameters);
  let targetOrigin = '/';
  let transfer = [];
  if (typeof second === 'object' || second === undefined) {
    if (second?.targetOrigin !== undefined) targetOrigin = `${second.targetOrigin}`;
    transfer = second?.transfer ?? [];
  } else {
    targetOrigin = `${second}`;
    transfer = third ?? [];
  }
  if (targetOrigin === '/') {
    targetOrigin = window._origin;
  } else if (targetOrigin !== '*') {
    const url = parseURL(targetOrigin);
    if (url === null) {
      throw DOMException.create(window, [
        `Invalid target origin '${targetOrigin}' in a call to 'postMessage'.`,
        'SyntaxError',
      ]);
    }
    targetOrigin = serializeURLOrigin(url);
  }
  send(code.serialize(message, transfer), targetOrigin);
}

/**
 * Fires the event of a message at a window.
 *
 * @param {PageWindow} pageWindow
 * @param {CloneRecord} record
 * @param {{ origin: string, source: object }} sender
 */
function deliver(pageWindow, record, { origin, source }) {
  const { window, code } = pageWindow;
  window._document._queueATask(() => {
    const target = idlUtils.implForWrapper(window);
    let init;
    try {
      const { value, transferred } = code.deserialize(record);
      init = { data: value, ports: code.freeze(transferred) };
    } catch {
      target._dispatch(createAnEvent('messageerror', window, MessageEvent, { origin, source }));
      return;
    }
    target._dispatch(createAnEvent('message', window, MessageEvent, { ...init, origin, source }));
  });
}

/**
 * The window that a message comes from: the one whose script calls. When the event loop calls, as for a timer, the one
 * that it calls for. https://html.spec.whatwg.org/multipage/webappapis.html#incumbent-settings-object
 *
 * @param {PageWindow} target
 */
function senderOf(target) {
  return thread.windows.ofRealm(callingRealm()) ?? target;
}

/** Defines `window.postMessage` for windows of this thread. @param {PageWindow} pageWindow */
function install(pageWindow) {
  const { window, code } = pageWindow;
  window.postMessage = code.wrap(
    'postMessage',
    /** @this {object | null | undefined} @param {unknown[]} parameters */
    function postMessage(...parameters) {
      const isOwn = this === undefined || this === null || this === window;
      const target = isOwn ? pageWindow : thread.windows.find(this);
      if (target === undefined) throw new window.TypeError('Illegal invocation');
      const sender = senderOf(target);
      post(target, parameters, (record, targetOrigin) => {
        const { window: receiver } = target;
        if (targetOrigin !== '*' && targetOrigin !== receiver._origin) return;
        deliver(target, record, { origin: sender.window._origin, source: sender.window._globalProxy });
      });
    },
    1,
  );
}

module.exports = { deliver, install, post };
