'use strict';

// BroadcastChannel, by Node's. https://html.spec.whatwg.org/multipage/web-messaging.html#broadcasting-to-other-browsing-contexts

const host = require('selfprof:host');
const { dispatchMessage } = require('./ports.cjs');
const { serializeHere } = require('./structured-clone-api.cjs');
const { defineHandler, defineInterfaceObject } = require('./webidl-members.cjs');

class BroadcastChannel extends EventTarget {
  #name;
  /** @type {ReturnType<typeof host.openChannel> | undefined} */
  #channel;

  /** @param {any} name of the page */
  constructor(name) {
    if (arguments.length < 1)
      throw new TypeError("Failed to construct 'BroadcastChannel': 1 argument required, but only 0 present.");
    super();
    this.#name = `${name}`;
    this.#channel = host.openChannel(this.#name, (record, origin) => {
      if (this.#channel !== undefined) dispatchMessage(this, record, { origin });
    });
  }

  get name() {
    return this.#name;
  }

  /** @param {unknown} message */
  postMessage(message) {
    if (arguments.length < 1)
      throw new TypeError(
        "Failed to execute 'postMessage' on 'BroadcastChannel': 1 argument required, but only 0 present.",
      );
    if (this.#channel === undefined) throw new DOMException('The channel is closed.', 'InvalidStateError');
    this.#channel.post(serializeHere(message));
  }

  close() {
    this.#channel?.close();
    this.#channel = undefined;
  }
}

function installBroadcastChannel() {
  const { prototype } = BroadcastChannel;
  for (const name of ['name', 'postMessage', 'close']) Object.defineProperty(prototype, name, { enumerable: true });
  defineHandler(prototype, 'message');
  defineHandler(prototype, 'messageerror');
  Object.defineProperty(prototype, Symbol.toStringTag, { value: 'BroadcastChannel', configurable: true });
  host.platform.refuse(BroadcastChannel);
  defineInterfaceObject('BroadcastChannel', BroadcastChannel);
}

module.exports = { installBroadcastChannel };
