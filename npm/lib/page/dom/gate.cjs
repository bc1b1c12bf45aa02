'use strict';

// The only way from the DOM realm to the main realm. What a page can reach it may also replace, so the functions of the
// main realm stay in the closures below: they are called, never passed on, never put where a patched method would see
// them. Only primitives, and objects of the page's own realms, go through. Neither does an error of the main realm: one
// that is thrown on the way in, when the stack is full, is exchanged for one of this realm.

/* global mainRealm -- the main realm's functions, see thread/gate.cjs */

const { Error, RangeError } = globalThis;

/** A function of this realm that stands for one of the main realm. No spread: it would run replaceable code. */
function own(call) {
  return (a, b, c, d, e, f, g) => {
    try {
      return call(a, b, c, d, e, f, g);
    } catch {
      throw new RangeError('Maximum call stack size exceeded');
    }
  };
}

/** For host functions that complete as code of a page does: with a value, or by throwing one. */
function completing(call, take) {
  return (a, b, c, d, e, f, g) => {
    let outcome;
    let value;
    try {
      outcome = call(a, b, c, d, e, f, g);
      value = take();
    } catch {
      throw new RangeError('Maximum call stack size exceeded');
    }
    if (outcome === 'returned') return value;
    if (outcome === 'threw') throw value;
    throw new Error(outcome);
  };
}

const { take } = mainRealm;

exports.timeOrigin = mainRealm.timeOrigin;
exports.now = own(mainRealm.now);
exports.enter = own(mainRealm.enter);
exports.setTimer = own(mainRealm.setTimer);
exports.clearTimer = own(mainRealm.clearTimer);
exports.setImmediate = own(mainRealm.setImmediate);
exports.decode = own(mainRealm.decode);
exports.encodeInto = own(mainRealm.encodeInto);
exports.utf8Length = own(mainRealm.utf8Length);
exports.atob = own(mainRealm.atob);
exports.btoa = own(mainRealm.btoa);
exports.randomFill = own(mainRealm.randomFill);
exports.randomUUID = own(mainRealm.randomUUID);
exports.kindOf = own(mainRealm.kindOf);
exports.placeOf = own(mainRealm.placeOf);
exports.createContext = completing(mainRealm.createContext, take);
exports.enterWindow = completing(mainRealm.enterWindow, take);
exports.runScript = completing(mainRealm.runScript, take);
exports.checkFunctionBody = completing(mainRealm.checkFunctionBody, take);
exports.runFetchedScript = completing(mainRealm.runFetchedScript, take);
exports.loadModule = own(mainRealm.loadModule);
exports.runModule = completing(mainRealm.runModule, take);
exports.registerImportMap = own(mainRealm.registerImportMap);
exports.closeWindow = own(mainRealm.closeWindow);
exports.fetchScript = own(mainRealm.fetchScript);
exports.fetchFrame = own(mainRealm.fetchFrame);
exports.describeWindow = completing(mainRealm.describeWindow, take);
exports.useDocument = own(mainRealm.useDocument);
exports.fetch = own(mainRealm.fetch);
exports.abortFetch = own(mainRealm.abortFetch);
exports.createObjectUrl = own(mainRealm.createObjectUrl);
exports.revokeObjectUrl = own(mainRealm.revokeObjectUrl);
exports.newPipes = own(mainRealm.newPipes);
exports.startWorker = own(mainRealm.startWorker);
exports.endWorker = own(mainRealm.endWorker);
exports.importScript = own(mainRealm.importScript);
exports.closeWorker = own(mainRealm.closeWorker);
exports.getCookies = own(mainRealm.getCookies);
exports.setCookie = own(mainRealm.setCookie);
