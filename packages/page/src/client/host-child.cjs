'use strict';

// The process of the pages, as the user's process sees it: it answers calls and reports events over an IPC channel, see
// host/host-process.cjs.

const { fork } = require('node:child_process');
const path = require('node:path');

const { toError } = require('./error-records.cjs');
const { processFlags } = require('./process-flags.cjs');

const PROGRAM = path.join(__dirname, '..', 'host', 'host-process.cjs');

/** What Node and `selfprof run` take from the environment is meant for the user's program. */
const NOT_INHERITED = ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'SELFPROF_RUN'];

/** @typedef {{ event: string, window: string } & Record<string, any>} HostEvent */
/** @typedef {{ resolve: (result: any) => void, reject: (error: Error) => void, at: { stack?: string } }} PendingCall */

function environment() {
  const env = { ...process.env };
  for (const name of NOT_INHERITED) delete env[name];
  return env;
}

class HostChild {
  #process;
  #onEvent;
  #onEnd;
  /** @type {Map<number, PendingCall>} */
  #calls = new Map();
  #nextCall = 1;
  /** Why the process has ended, as it says itself. @type {string | undefined} */
  #reason;
  /** @type {Error | undefined} */
  #failure;
  /** @type {PromiseWithResolvers<void>} */
  #ended = Promise.withResolvers();

  /**
   * @param {(event: HostEvent) => void} onEvent called with what happens in pages
   * @param {(error: Error) => void} onEnd called when the process has ended, with why
   */
  constructor(onEvent, onEnd) {
    this.#onEvent = onEvent;
    this.#onEnd = onEnd;
    this.#process = fork(PROGRAM, [], {
      // Node would warn of what the process is allowed to do.
      execArgv: [...processFlags(), '--no-warnings'],
      env: environment(),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // Signals of the terminal go to the user's process, which may still need the pages then.
      detached: true,
    });
    this.#process.on('message', (message) => this.#onMessage(message));
    this.#process.on('error', (error) => this.#end(`the process of the pages cannot be used: ${error.message}`));
    this.#process.on('exit', (code, signal) => {
      const how = signal === null ? `exited with the code ${code}` : `was ended by ${signal}`;
      const end = () => this.#end(this.#reason ?? `the process of the pages ${how}`);
      // Its last message may say why.
      if (this.#process.connected) this.#process.once('disconnect', end);
      else end();
    });
    this.#keepAlive(false);
  }

  /** Whether it takes no more calls. */
  get hasEnded() {
    return this.#failure !== undefined;
  }

  /** Whether the process and its channel keep the program alive. @param {boolean} isNeeded */
  #keepAlive(isNeeded) {
    const { channel } = this.#process;
    if (isNeeded) {
      this.#process.ref();
      channel?.ref();
    } else {
      this.#process.unref();
      channel?.unref();
    }
  }

  /**
   * Calls a method of host/methods.cjs. Its promise keeps the program alive until it is settled.
   *
   * @param {string} method
   * @param {object} parameters
   * @returns {Promise<any>}
   * @throws {Error} what the method throws, with the stack of this call; or why the process has ended
   */
  call(method, parameters) {
    const at = {};
    Error.captureStackTrace(at, this.call);
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) throw this.#failure;
      const id = this.#nextCall++;
      this.#process.send({ id, method, parameters });
      this.#calls.set(id, { resolve, reject, at });
      this.#keepAlive(true);
    });
  }

  /** @param {any} message */
  #onMessage(message) {
    if (message.event === 'ending') {
      this.#reason = message.reason;
      return;
    }
    if (message.event !== undefined) {
      this.#onEvent(message);
      return;
    }
    const call = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if (this.#calls.size === 0) this.#keepAlive(false);
    if (message.error === undefined) call?.resolve(message.result);
    else call?.reject(withStack(toError(message.error), call.at));
  }

  /** @param {string} reason */
  #end(reason) {
    if (this.#failure !== undefined) return;
    this.#failure = new Error(reason);
    this.#keepAlive(false);
    for (const { reject, at } of this.#calls.values()) reject(withStack(new Error(reason), at));
    this.#calls.clear();
    this.#ended.resolve();
    this.#onEnd(this.#failure);
  }

  /** Ends the process, whatever it is doing. */
  async kill() {
    if (this.#failure !== undefined) return;
    this.#reason = 'the page host was closed';
    this.#keepAlive(true);
    this.#process.kill('SIGKILL');
    await this.#ended.promise;
  }
}

/**
 * An error of the other process, with the stack of the call here.
 *
 * @param {Error} error
 * @param {{ stack?: string }} at
 */
function withStack(error, { stack = '' }) {
  // The user's own frames say where the call is.
  const frames = stack.split('\n').filter((line) => line.startsWith('    at ') && !line.includes(__dirname));
  const value = [String(error), ...frames].join('\n');
  Object.defineProperty(error, 'stack', { value, writable: true, configurable: true });
  return error;
}

module.exports = { HostChild };
