'use strict';

// A realm of a page's scripts: a vm context whose scripts are registered with the addon. A profiler session of the
// realm shows the functions of those scripts, and no session of another realm does.

const path = require('node:path');
const vm = require('node:vm');

const { SAMPLER_SCRIPTS, ensureAgent } = require('selfprof/internal/agent.cjs');
const native = require('selfprof/internal/native.cjs');
const { coarsened } = require('../thread/coarse-time.cjs');

const PAGE_SOURCES = path.join(__dirname, '..', '..') + path.sep;
const SELFPROF = path.dirname(require.resolve('selfprof/package.json'));

/** Prefixes of the paths of host code that runs in every page thread: Node's scripts, this package's and selfprof's. */
const HOST_SCRIPTS = [
  'node:',
  PAGE_SOURCES,
  path.join(SELFPROF, 'src') + path.sep,
  // What a preload option (`--import selfprof/register`, `selfprof run`) loads into every thread.
  path.join(SELFPROF, 'register'),
  path.join(SELFPROF, 'run.cjs'),
];

/** How a script is compiled. @typedef {Partial<import('selfprof/internal/native.js').ScriptOptions>} ScriptOptions */

/**
 * Numbers are results of `ToNumber`.
 *
 * @typedef {Partial<import('selfprof/internal/native.js').OpenOptions> & { sampleInterval: number, maxBufferSize:
 *   number }} SessionOptions
 */

class Realm {
  /** An object of the context that no page can have replaced. */
  #anchor;

  /**
   * @param {object} context a new vm context: no script of a page has run in it
   * @param {object} [options]
   * @param {string} [options.originGroup] realms with equal values are of one origin: a session may include frames of
   *   the others
   * @param {string[]} [options.hostScripts] prefixes of the paths and URLs of more scripts that are host code
   * @param {number} [options.timeOrigin] in milliseconds on the clock of `native.now()`; by default, now
   * @param {boolean} [options.crossOriginIsolated]
   */
  constructor(context, { originGroup, hostScripts = [], timeOrigin = native.now(), crossOriginIsolated = false } = {}) {
    ensureAgent();
    this.#anchor = vm.runInContext('(function () {})', context);
    // All clocks of a thread tick together: pages could tell finer times from clocks that do not.
    this.timeOrigin = coarsened(timeOrigin, crossOriginIsolated);
    /** @type {number} the addon's number for the realm */
    this.id = native.openRealm({
      originGroup,
      hostScripts: [...HOST_SCRIPTS, ...hostScripts],
      samplerScripts: SAMPLER_SCRIPTS,
      timeOrigin: this.timeOrigin,
      crossOriginIsolated,
    });
  }

  /**
   * Runs a classic script and returns its completion value, or throws what it throws.
   *
   * @param {string} source
   * @param {string} url
   * @param {ScriptOptions} [options]
   */
  run(source, url, options) {
    return native.compileScript(this.#anchor, source, url, { ...options, realm: this.id });
  }

  /**
   * Compiles a module: see `ScriptModule` in crates/node/src/pages/scripts.rs.
   *
   * @param {string} source
   * @param {string} url
   * @param {ScriptOptions} [options]
   */
  compileModule(source, url, options) {
    return native.compileModule(this.#anchor, source, url, { ...options, realm: this.id });
  }

  /**
   * Opens a profiler session.
   *
   * @param {SessionOptions} options
   * @param {{ onFull(session: number): void, onChunk(session: number): void }} listener
   * @param {import('selfprof/internal/native.js').Chunks} [chunks]
   * @returns {{ id: number, sampleInterval: number }}
   */
  open(options, listener, chunks) {
    return native.open({ bufferPolicy: 'stop', maxChunks: 1, ...options, realm: this.id }, listener, chunks);
  }

  /** Takes a sample for each started session of this realm. @returns {number} how many sessions took it */
  forceSample() {
    return native.forceSample(this.id);
  }

  /** Pauses the sessions of this realm, or resumes them. @param {boolean} paused */
  pause(paused) {
    native.pauseRealm(this.id, paused);
  }

  /**
   * Refuses new scripts and sessions. Running sessions go on; the scripts are forgotten when the last session has
   * ended.
   */
  close() {
    native.closeRealm(this.id);
  }
}

module.exports = { HOST_SCRIPTS, Realm };
