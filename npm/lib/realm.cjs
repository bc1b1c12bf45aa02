'use strict';

// A realm of pages: a context of node:vm whose scripts are known, so that a session of it shows them and nobody else's.

const path = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');

const { SAMPLER, begin } = require('./agent.cjs');
const native = require('./native.cjs');

/** Host code in every page: Node's scripts, and this package's, whose modules go by URLs. */
const HOST_SCRIPTS = ['node:', __dirname + path.sep, `${pathToFileURL(__dirname)}/`];

class Realm {
  #anchor;

  /**
   * @param {object} context what `vm.createContext` returned, before any script of a page ran in it
   * @param {object} [options]
   * @param {string} [options.originGroup] realms with the same text here can see each other if they wish: those of one
   *   page that have one origin
   * @param {string[]} [options.hostScripts] prefixes of the paths and URLs of further scripts that are host code
   * @param {number} [options.timeOrigin] on the clock of `native.now()`, in milliseconds; now, when it is left out
   * @param {boolean} [options.crossOriginIsolated]
   */
  constructor(context, { originGroup, hostScripts = [], timeOrigin = native.now(), crossOriginIsolated = false } = {}) {
    begin();
    // An object that was made in the context and that no page can have replaced.
    this.#anchor = vm.runInContext('(function () {})', context);
    this.id = native.openRealm({ originGroup, hostScripts: [...HOST_SCRIPTS, ...hostScripts], samplerScripts: SAMPLER, timeOrigin, crossOriginIsolated });
  }

  /**
   * Runs a classic script, and returns its completion value or throws what it throws.
   *
   * @param {string} source
   * @param {string} url
   * @param {{ line?: number, column?: number, muted?: boolean, referrer?: Function }} [options] `line` and `column`, counted
   *   from 0, are where the source begins in its URL's resource
   */
  run(source, url, options) {
    return native.compileScript(this.#anchor, source, url, { ...options, realm: this.id });
  }

  /** Compiles a module: see `ScriptModule` in crates/node/src/scripts.rs. Options are those of `run`. */
  compileModule(source, url, options) {
    return native.compileModule(this.#anchor, source, url, { ...options, realm: this.id });
  }

  /** Takes the script that defined `fn`, such as an event handler that `vm.compileFunction` made, for one of this realm's. */
  register(fn, { muted = false } = {}) {
    native.registerFunction(fn, this.id, muted);
  }

  /**
   * Opens a session, as `new Profiler` does: see `open` in crates/node/src/face.rs.
   *
   * @param {{ sampleInterval: number, maxBufferSize: number, bufferPolicy?: string, maxChunks?: number,
   *   includeSameOriginFrames?: boolean }} wishes
   * @param {object} listener a `native.Listener`
   * @param {object} [chunks] a `native.Chunks`
   * @returns {{ id: number, sampleInterval: number }}
   */
  open(wishes, listener, chunks) {
    return native.open({ bufferPolicy: 'stop', maxChunks: 1, ...wishes, realm: this.id }, listener, chunks);
  }

  /** Each started session of this realm takes a sample now; no other gets it. Returns how many took it. */
  forceSample() {
    return native.forceSample(this.id);
  }

  /** Pauses the sessions of this realm, or resumes them. */
  pause(paused) {
    native.pauseRealm(this.id, paused);
  }

  /** No more scripts and sessions. What goes on goes on; when the last session has ended, the scripts are forgotten. */
  close() {
    native.closeRealm(this.id);
  }
}

module.exports = { HOST_SCRIPTS, Realm };
