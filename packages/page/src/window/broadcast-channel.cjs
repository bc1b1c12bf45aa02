'use strict';

// BroadcastChannel, by Node's.
// https://html.spec.whatwg.org/multipage/web-messaging.html#broadcasting-to-other-browsing-contexts

const host = require('selfprof:host');
const { dispatchMessage } = require('./ports.cjs');
const { serialize } = require('./structured-clone.cjs');
const { exposeInterface, requireArguments } = require('./webidl-members.cjs');

class BroadcastChannel extends EventTarget {
  #name;
  /** @type {ReturnType<typeof host.openChannel> | undefined} */
  #channel;

  /** @param {any} name of the page */
  constructor(name) {
    requireArguments(arguments.length, "Failed to construct 'BroadcastChannel'");
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
    requireArguments(arguments.length, "Failed to execute 'postMessage' on 'BroadcastChannel'");
    if (this.#channel === undefined) throw new DOMException('The channel is closed.', 'InvalidStateError');
    this.#channel.post(serialize(message));
  }

  close() {
    this.#channel?.close();
    this.#channel = undefined;
  }
}

function installBroadcastChannel() {
  host.platform.refuse(BroadcastChannel);
  exposeInterface(BroadcastChannel, { handlers: ['message', 'messageerror'] });
}

module.exports = { installBroadcastChannel };
