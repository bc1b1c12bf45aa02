'use strict';

// Loads our own code into the realm of a window, before any script of the page runs there. Each of its modules is
// compiled once for a thread and runs in each window.

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

/** @typedef {import('../../window/contracts.js').WindowCode} WindowCode */
/** @typedef {import('../../window/contracts.js').WindowHost} WindowHost */

const WINDOW = path.join(__dirname, '..', '..', 'window');
const ENTRY = path.join(WINDOW, 'window-program.cjs');

/** selfprof's modules run in windows too, with these in place of those that need Node. */
const REPLACED = new Map([
  [require.resolve('selfprof/internal/capabilities.cjs'), path.join(WINDOW, 'capabilities.cjs')],
  [require.resolve('selfprof/internal/events.cjs'), path.join(WINDOW, 'events.cjs')],
  ['node:perf_hooks', path.join(WINDOW, 'perf-hooks.cjs')],
]);

/** Modules that are values of this thread. @type {Map<string, 'host' | 'addon'>} */
const GIVEN = new Map([
  ['selfprof:host', 'host'],
  ['selfprof:native', 'addon'],
  [require.resolve('selfprof/internal/native.cjs'), 'addon'],
]);

/** Operations of windows that jsdom defines as functions without names, by how many arguments they require. */
const OPERATIONS = [
  `alert blur captureEvents clearInterval clearTimeout close confirm focus getSelection open print prompt
    releaseEvents scroll scrollBy scrollTo stop`,
  'atob btoa cancelAnimationFrame getComputedStyle queueMicrotask requestAnimationFrame setInterval setTimeout',
  'moveBy moveTo resizeBy resizeTo',
];

/**
 * Modules that are generated. V8 shows the name that a function has in its source text, so for these operations a
 * computed name does not suffice.
 *
 * @type {Map<string, string>}
 */
const GENERATED = new Map([
  [
    'selfprof:named-operations',
    `const { apply } = Reflect; exports.namedOperations = (originals, noting) => ({ ${OPERATIONS.flatMap(
      (names, required) =>
        names.split(/\s+/).map((name) => {
          const note = name === 'setInterval' || name === 'setTimeout' ? 'arguments[0] = noting(arguments[0]); ' : '';
          const parameters = ['first', 'second'].slice(0, required).join();
          return `${name}(${parameters}) { ${note}return apply(originals.${name}, this, arguments); }`;
        }),
    ).join()} })`,
  ],
]);

/** Calls functions of a page, and what these throw is noted. */
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
  'JSON',
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

/** What a module finds as variables. */
const PARAMETERS = ['exports', 'require', 'module', 'process', 'setImmediate', ...INTRINSICS].join(', ');

/** By file. A script's completion value is a function with the module's code. @type {Map<string, vm.Script>} */
const scripts = new Map();

/** @param {string} file */
function scriptOf(file) {
  let script = scripts.get(file);
  if (script === undefined) {
    const source = GENERATED.get(file) ?? fs.readFileSync(file, 'utf8');
    const filename = GENERATED.has(file) ? path.join(WINDOW, `${file.replace(':', '-')}.cjs`) : file;
    script = new vm.Script(`(function (${PARAMETERS}) {${source}\n})`, { filename });
    scripts.set(file, script);
  }
  return script;
}

/** Files by what requires them. @type {Map<string, string>} */
const located = new Map();

/** @param {string} specifier @param {string} from the file that requires it */
function locate(specifier, from) {
  if (GENERATED.has(specifier) || GIVEN.has(specifier)) return specifier;
  if (REPLACED.has(specifier)) return /** @type {string} */ (REPLACED.get(specifier));
  const key = `${from} ${specifier}`;
  let file = located.get(key);
  if (file === undefined) {
    file = specifier.startsWith('.') ? path.resolve(path.dirname(from), specifier) : require.resolve(specifier);
    file = REPLACED.get(file) ?? file;
    located.set(key, file);
  }
  return file;
}

/**
 * @param {import('./page-window.cjs').PageWindow} pageWindow
 * @param {WindowHost} host what this thread gives the window
 * @param {object} addon what stands for the addon there
 * @returns {WindowCode}
 */
function loadWindowCode({ window, realm }, host, addon) {
  const given = { host, addon };
  const intrinsics = INTRINSICS.map((name) => window[name]);
  const noting = vm.runInContext('(apply) => ({ __proto__: Reflect, apply })', window)(host.apply);
  /** @type {Map<string, { exports: any }>} */
  const loaded = new Map();
  const load = (/** @type {string} */ file) => {
    const gift = GIVEN.get(file);
    if (gift !== undefined) return given[gift];
    const known = loaded.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(file, module);
    const requireFrom = (/** @type {string} */ specifier) => load(locate(specifier, file));
    const values = file === OBSERVER ? intrinsics.with(INTRINSICS.indexOf('Reflect'), noting) : intrinsics;
    const run = scriptOf(file).runInContext(window);
    run(module.exports, requireFrom, module, host.process, host.setImmediate, ...values);
    return module.exports;
  };
  const code = load(ENTRY);
  return { ...code, markerFunctions: { parse: markerFunction(realm, 'parse'), style: markerFunction(realm, 'style') } };
}

/**
 * A function of the realm that calls its argument. Samples that are taken meanwhile have the marker.
 *
 * @param {import('../scripts/realm.cjs').Realm} realm
 * @param {'parse' | 'style'} marker
 * @returns {<Result>(work: () => Result) => Result}
 */
function markerFunction(realm, marker) {
  const source = `'use strict'; (function (work) { /* ${marker} */ return work(); })`;
  return /** @type {<Result>(work: () => Result) => Result} */ (
    realm.run(source, path.join(WINDOW, `${marker}.work`), { work: marker })
  );
}

module.exports = { loadWindowCode };
