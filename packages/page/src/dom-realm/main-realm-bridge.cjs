'use strict';

// The only way from the DOM realm to the main realm. A page can replace whatever it can reach, so the functions of the main realm stay in
// the closures below: they are called, but never passed on or put where a patched method would see them. Only primitives and objects of the
// page's own realms cross. An error of the main realm does not: see any-realm/foreign-calls.cjs.

const { callForeign } = require('../any-realm/foreign-calls.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').MainRealmBridge} MainRealmBridge */
/** @typedef {import('../any-realm/realm-contracts.js').MainRealmFunctions} MainRealmFunctions */

const { Error, RangeError } = globalThis;

/** The parameter of the function that this module is compiled to: see main-realm/dom-bridge.cjs. */
const main = /** @type {MainRealmFunctions} */ (mainRealm);

/**
 * For functions of the main realm that complete as code of a page does, by returning or by throwing: they return how they completed, and
 * `take` gets the value.
 *
 * @template {unknown[]} Parameters
 * @param {(...parameters: Parameters) => string} call
 * @returns {(...parameters: Parameters) => any}
 */
function withCompletion(call) {
  const { take } = main;
  const foreign = /** @type {(...parameters: unknown[]) => string} */ (call);
  const own = (
    /** @type {unknown} */ a,
    /** @type {unknown} */ b,
    /** @type {unknown} */ c,
    /** @type {unknown} */ d,
    /** @type {unknown} */ e,
    /** @type {unknown} */ f,
    /** @type {unknown} */ g,
  ) => {
    let outcome;
    let value;
    try {
      outcome = foreign(a, b, c, d, e, f, g);
      value = take();
    } catch {
      throw new RangeError('Maximum call stack size exceeded');
    }
    if (outcome === 'returned') return value;
    if (outcome === 'threw') throw value;
    throw new Error(outcome);
  };
  return /** @type {(...parameters: unknown[]) => any} */ (own);
}

/** @type {MainRealmBridge} */
const bridge = {
  timeOrigin: main.timeOrigin,
  now: callForeign(main.now),
  postToHost: callForeign(main.postToHost),
  enter: callForeign(main.enter),
  setTimer: callForeign(main.setTimer),
  clearTimer: callForeign(main.clearTimer),
  setImmediate: callForeign(main.setImmediate),
  runPromiseJobs: callForeign(main.runPromiseJobs),
  decode: callForeign(main.decode),
  encodeInto: callForeign(main.encodeInto),
  utf8Length: callForeign(main.utf8Length),
  atob: callForeign(main.atob),
  btoa: callForeign(main.btoa),
  randomFill: callForeign(main.randomFill),
  randomUUID: callForeign(main.randomUUID),
  kindOf: callForeign(main.kindOf),
  writeValue: withCompletion(main.writeValue),
  readValue: withCompletion(main.readValue),
  // A function of this realm.
  apply: main.apply,
  takeMuted: callForeign(main.takeMuted),
  syntaxErrorPosition: callForeign(main.syntaxErrorPosition),
  createContext: withCompletion(main.createContext),
  newNamedProperties: withCompletion(main.newNamedProperties),
  enterWindow: withCompletion(main.enterWindow),
  runScript: withCompletion(main.runScript),
  runUserScript: withCompletion(main.runUserScript),
  checkFunctionBody: withCompletion(main.checkFunctionBody),
  runFetchedScript: withCompletion(main.runFetchedScript),
  loadModule: callForeign(main.loadModule),
  runModule: withCompletion(main.runModule),
  registerImportMap: callForeign(main.registerImportMap),
  closeWindow: callForeign(main.closeWindow),
  fetchScript: callForeign(main.fetchScript),
  fetchFrame: callForeign(main.fetchFrame),
  callingWindow: callForeign(main.callingWindow),
  describeWindow: withCompletion(main.describeWindow),
  useDocument: callForeign(main.useDocument),
  fetch: callForeign(main.fetch),
  abortFetch: callForeign(main.abortFetch),
  createObjectUrl: callForeign(main.createObjectUrl),
  revokeObjectUrl: callForeign(main.revokeObjectUrl),
  newPipes: callForeign(main.newPipes),
  startWorker: callForeign(main.startWorker),
  endWorker: callForeign(main.endWorker),
  importScript: callForeign(main.importScript),
  closeWorker: callForeign(main.closeWorker),
  getCookies: callForeign(main.getCookies),
  setCookie: callForeign(main.setCookie),
};

module.exports = bridge;
