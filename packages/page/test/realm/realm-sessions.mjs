// Realms for tests: contexts whose scripts can force samples, and sessions of these realms.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import vm from 'node:vm';

import { framesOf } from '../../../selfprof/test/well-formed.mjs';

const require = createRequire(import.meta.url);
export const { Realm } = require('../../src/page/scripts/realm.cjs');
export const native = require('../../../selfprof/src/native.cjs');
const { toTrace } = require('../../../selfprof/src/trace.cjs');

export const listener = { onFull() {}, onChunk() {} };

/** An interval that is longer than any test, so that a session takes only its first sample by itself. */
export const NEVER = 2147483;

/** A session, opened as a window's `Profiler` opens it. */
export class Session {
  #id;

  /** @param {Realm} [realm] without one, the session is one of the thread itself */
  constructor(realm, { sampleInterval = NEVER, maxBufferSize = 2 ** 32 - 1, ...options } = {}) {
    const sessionOptions = { bufferPolicy: 'stop', maxBufferSize, maxChunks: 1, sampleInterval, ...options };
    this.#id = (realm === undefined ? native.open(sessionOptions, listener) : realm.open(sessionOptions, listener)).id;
  }

  async stop() {
    const { trace } = await native.close(this.#id, 'object');
    return toTrace(trace);
  }

  /** What each sample after the first shows: its marker, and its stack from the outermost call on. */
  async samples() {
    const trace = await this.stop();
    return trace.samples.slice(1).map((sample) => show(trace, sample));
  }
}

export function show(trace, { marker = '-', stackId }) {
  const frames = framesOf(trace, stackId).reverse();
  // Frames of scripts have a position; frames of host code have only a name.
  return [marker, ...frames.map(({ name, line }) => (line === undefined ? `[${name}]` : name))].join(' ');
}

export function allNames(trace) {
  return new Set(trace.frames.map(({ name }) => name));
}

export const CONTEXTS = [() => vm.createContext({})];
if (vm.constants?.DONT_CONTEXTIFY !== undefined) CONTEXTS.push(() => vm.createContext(vm.constants.DONT_CONTEXTIFY));

/**
 * A function of host code, like those of the DOM: it calls `callback` through another function, and forces no sample.
 */
export const hostCall = vm.runInThisContext(
  '(function appendChild(callback) { return (function insert() { return callback(); })(); })',
  {
    filename: 'host:dom.js',
  },
);

/**
 * Realms whose scripts can call `sample()`, which forces a sample in all of them, and `hostCall(callback)`.
 *
 * @param {object[]} options one for each realm
 */
export function open(...options) {
  const realms = options.map((option, index) => {
    const context = CONTEXTS[index % CONTEXTS.length]();
    const realm = new Realm(context, { crossOriginIsolated: true, hostScripts: ['host:'], ...option });
    const global = realm.run('globalThis', 'setup:global');
    global.hostCall = hostCall;
    global.sample = () => {
      for (const each of realms) each.forceSample();
    };
    return Object.assign(realm, { global, context });
  });
  return realms;
}

/** Opens a session of each realm, does `work`, and returns what the forced samples of each session show. */
export async function profile(realms, work) {
  const sessions = realms.map((realm) => new Session(realm));
  try {
    await work();
  } finally {
    for (const realm of realms) realm.close();
  }
  const samples = await Promise.all(sessions.map((session) => session.samples()));
  assert.deepEqual(native.liveCounts(), { realms: 0, scripts: 0, signalWatchers: 0 });
  return samples;
}

/** A function that calls the first of its arguments with the others. */
export const CALL = 'function call(next, ...others) { next(...others); } call';
