'use strict';

// Stands in for `undici` in jsdom, which uses its WebSocket: connections are made by the rules of the thread's network.
// undici is loaded for the first of them, because that takes long.

const { thread } = require('../thread/thread.cjs');

/** @typedef {import('undici').Dispatcher.DispatchOptions} DispatchOptions */
/** @typedef {import('undici').Dispatcher.DispatchHandler} DispatchHandler */
/** @typedef {import('node:net').Socket} Socket */

/** The connections of a window's WebSockets. jsdom has it as the window's dispatcher. */
class WebSocketConnections {
  /** @type {import('undici').Agent | undefined} */
  #agent;
  /** @type {Set<Socket>} */
  #sockets = new Set();
  #isClosed = false;

  /** @param {import('../windows/page-window.cjs').PageWindow} window */
  constructor(window) {
    this.window = window;
  }

  /** @param {string} url @param {string[]} protocols */
  open(url, protocols) {
    const { WebSocket } = require('undici');
    const { loader, reports } = thread;
    this.#agent ??= this.#newAgent();
    const agent = this.#agent;
    const dispatcher = {
      dispatch: (/** @type {DispatchOptions} */ request, /** @type {DispatchHandler} */ handler) =>
        agent.dispatch(request, this.#storingCookies(request, handler)),
    };
    const headers = loader.network.webSocketHeaders(new URL(url.replace(/^ws/, 'http')), this.window.client);
    const socket = new WebSocket(url, { protocols, headers, dispatcher: /** @type {any} */ (dispatcher) });
    socket.addEventListener('error', ({ error }) => {
      if (!this.#isClosed) reports.loadFailure({ initiator: 'websocket', url, window: this.window }, error);
    });
    return socket;
  }

  #newAgent() {
    const { Agent, buildConnector } = require('undici');
    const { addressOf, ...options } = thread.loader.network.connections;
    const connector = buildConnector({ ...options, allowH2: false });
    return new Agent({
      connect: (target, callback) => {
        if (this.#isClosed) {
          callback(new Error('the document is gone'), null);
          return;
        }
        /** @type {Socket} */
        const socket = /** @type {any} */ (connector({ ...target, hostname: addressOf(target.hostname) }, callback));
        this.#sockets.add(socket);
        socket.once('close', () => this.#sockets.delete(socket));
      },
    });
  }

  /**
   * A handler that stores the cookies of the handshake first.
   *
   * @param {DispatchOptions} request
   * @param {DispatchHandler} handler
   * @returns {DispatchHandler}
   */
  #storingCookies({ origin, path }, handler) {
    const store = (/** @type {import('node:http').IncomingHttpHeaders} */ headers) => {
      if (this.#isClosed) return;
      const cookies = headers['set-cookie'] ?? [];
      thread.loader.network.storeCookies(new URL(`${origin}${path}`), [cookies].flat(), this.window.client);
    };
    // undici's handler keeps its state in `this`.
    return {
      ...handler,
      onRequestUpgrade(controller, status, headers, socket) {
        store(headers);
        return handler.onRequestUpgrade?.call(this, controller, status, headers, socket);
      },
      onResponseStart(controller, status, headers, text) {
        store(headers);
        return handler.onResponseStart?.call(this, controller, status, headers, text);
      },
    };
  }

  /** The document is gone. jsdom has begun to close its WebSockets: that is still sent. */
  close() {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroySoon();
    this.#agent?.destroy();
  }
}

/**
 * In place of undici's.
 *
 * @param {string} url
 * @param {{ dispatcher: WebSocketConnections, protocols: string[] }} options
 */
function WebSocket(url, { dispatcher, protocols }) {
  return dispatcher.open(url, protocols);
}

module.exports = { WebSocket, WebSocketConnections };
