'use strict';

// Loads our own code into the realm of a window, before any script of the page runs there.

const path = require('node:path');
const vm = require('node:vm');

const { ownValue } = require('../cloning/own-values.cjs');
const { HostModules } = require('./host-modules.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').WindowCode} WindowCode */
/** @typedef {import('../any-realm/realm-contracts.js').WindowHost} WindowHost */
/** @typedef {import('./realm.cjs').Realm} Realm */

const WINDOW_REALM = path.join(__dirname, '..', 'window-realm');

/** Calls functions of a page. */
const OBSERVER = require.resolve('selfprof/internal/timing/observer.cjs');

/** Taken from the global object before a page can replace them: our modules in the window find these. */
const INTRINSICS = [
  'Array',
  'Boolean',
  'DOMException',
  'Error',
  'Event',
  'EventTarget',
  'FinalizationRegistry',
  'Float64Array',
  'Map',
  'Math',
  'Number',
  'Object',
  'Promise',
  'RangeError',
  'Reflect',
  'Set',
  'String',
  'Symbol',
  'TypeError',
  'Uint32Array',
  'Uint8Array',
  'WeakRef',
];

/**
 * selfprof's modules run in windows too, with other modules in place of those that need Node.
 *
 * @param {WindowHost} host
 * @param {() => unknown} facade what stands for the addon, once it is made
 * @returns {import('./host-modules.cjs').Redirect}
 */
function windowOverrides(host, facade) {
  const files = new Map([
    [require.resolve('selfprof/internal/capabilities.cjs'), path.join(WINDOW_REALM, 'capabilities.cjs')],
    [require.resolve('selfprof/internal/events.cjs'), path.join(WINDOW_REALM, 'events.cjs')],
    ['node:perf_hooks', path.join(WINDOW_REALM, 'perf-hooks.cjs')],
  ]);
  return (specifier) => {
    if (specifier === 'selfprof:host') return { value: host };
    if (specifier === require.resolve('selfprof/internal/native.cjs')) return { value: facade() };
    const file = files.get(specifier);
    return file === undefined ? undefined : { file };
  };
}

/**
 * @param {import('./module-store.cjs').ModuleStore} store
 * @param {{ window: object, realm: Realm }} window
 * @param {WindowHost} host what the DOM realm gives the window
 * @param {object} functions what the main realm gives it
 */
function loadWindowCode(store, { window, realm }, host, functions) {
  /** @type {Record<string, unknown>} */
  const globals = {};
  for (const name of ['process', 'setImmediate']) globals[name] = ownValue(host, name);
  for (const name of INTRINSICS) globals[name] = ownValue(window, name);
  const reflect = vm.runInContext('(apply) => ({ __proto__: Reflect, apply })', window)(ownValue(host, 'apply'));
  /** @type {unknown} */
  let facade;
  const modules = new HostModules(
    window,
    store,
    'window',
    windowOverrides(host, () => facade),
    globals,
    (file) => (file === OBSERVER ? { Reflect: reflect } : {}),
  );
  facade = modules.require(path.join(WINDOW_REALM, 'native-facade.cjs'), functions);
  const code = /** @type {WindowCode} */ (modules.require(path.join(WINDOW_REALM, 'window-program.cjs')));
  code.setMarkerFunctions(markerFunction(realm, 'parse'), markerFunction(realm, 'style'));
  return code;
}

/**
 * A function of the realm that calls its argument. Samples that are taken meanwhile have the marker.
 *
 * @param {Realm} realm
 * @param {'parse' | 'style'} marker
 * @returns {<Result>(work: () => Result) => Result}
 */
function markerFunction(realm, marker) {
  const source = `'use strict'; (function (work) { /* ${marker} */ return work(); })`;
  return /** @type {<Result>(work: () => Result) => Result} */ (
    realm.run(source, path.join(WINDOW_REALM, `${marker}.work`), { work: marker })
  );
}

module.exports = { loadWindowCode };
