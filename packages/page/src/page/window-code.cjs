'use strict';

// Loads our own code into the realm of a window, before any script of the page runs there. All of its modules are one script, which is
// compiled once for a thread and runs in each window.

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

/** @typedef {import('../window/contracts.js').WindowCode} WindowCode */
/** @typedef {import('../window/contracts.js').WindowHost} WindowHost */

const WINDOW = path.join(__dirname, '..', 'window');
const ENTRY = path.join(WINDOW, 'window-program.cjs');

/** selfprof's modules run in windows too, with these in place of those that need Node. */
const REPLACED = new Map([
  [require.resolve('selfprof/internal/capabilities.cjs'), path.join(WINDOW, 'capabilities.cjs')],
  [require.resolve('selfprof/internal/events.cjs'), path.join(WINDOW, 'events.cjs')],
  ['node:perf_hooks', path.join(WINDOW, 'perf-hooks.cjs')],
]);

/** Modules that are values of this thread, by the name of the parameter that has them. */
const GIVEN = new Map([
  ['selfprof:host', 'host'],
  ['selfprof:native', 'native'],
  [require.resolve('selfprof/internal/native.cjs'), 'native'],
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

/** The files that a program consists of, with what each requires: by specifier, a file or a given module. @returns {Map<string, { source: string, required: Record<string, string> }>} */
function collect() {
  /** @type {Map<string, { source: string, required: Record<string, string> }>} */
  const files = new Map();
  const waiting = [ENTRY];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    const source = fs.readFileSync(file, 'utf8');
    /** @type {Record<string, string>} */
    const required = {};
    files.set(file, { source, required });
    for (const [, specifier] of source.matchAll(/\brequire\('([^']+)'\)/g)) {
      const found = locate(specifier, file);
      required[specifier] = found;
      if (!GIVEN.has(found)) waiting.push(found);
    }
  }
  return files;
}

/** @param {string} specifier @param {string} from */
function locate(specifier, from) {
  if (GIVEN.has(specifier) || REPLACED.has(specifier)) return REPLACED.get(specifier) ?? specifier;
  const file = specifier.startsWith('.') ? path.resolve(path.dirname(from), specifier) : require.resolve(specifier);
  return REPLACED.get(file) ?? file;
}

/** One script with all modules as functions. Its completion value is a function that runs the program. */
function bundle() {
  const modules = [...collect()].map(([file, { source, required }]) => {
    const parameters = file === OBSERVER ? 'exports, require, module, Reflect' : 'exports, require, module';
    return `${JSON.stringify(file)}: [${JSON.stringify(required)}, function (${parameters}) {${source}\n}]`;
  });
  return `'use strict'; (function (host, native, process, setImmediate, NotingReflect, ${INTRINSICS.join(', ')}) {
const modules = { __proto__: null, ${modules.join(',\n')} };
const loaded = { __proto__: null };
const given = { __proto__: null, ${[...GIVEN].map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')} };
const load = (file) => {
  if (file in given) return given[file];
  if (file in loaded) return loaded[file].exports;
  const module = { exports: {} };
  loaded[file] = module;
  const [required, run] = modules[file];
  run(module.exports, (specifier) => load(required[specifier]), module, NotingReflect);
  return module.exports;
};
return load(${JSON.stringify(ENTRY)});
})`;
}

/** @type {vm.Script | undefined} */
let program;

/**
 * @param {import('./window-record.cjs').WindowRecord} record
 * @param {WindowHost} host what this thread gives the window
 * @param {object} addon what stands for the addon there
 * @returns {WindowCode}
 */
function loadWindowCode({ window, realm }, host, addon) {
  program ??= new vm.Script(bundle(), { filename: path.join(WINDOW, 'window-bundle.cjs') });
  const noting = vm.runInContext('(apply) => ({ __proto__: Reflect, apply })', window)(host.apply);
  const intrinsics = INTRINSICS.map((name) => /** @type {Record<string, unknown>} */ (window)[name]);
  const run = program.runInContext(window);
  const code = run(host, addon, host.process, host.setImmediate, noting, ...intrinsics);
  code.setMarkerFunctions(markerFunction(realm, 'parse'), markerFunction(realm, 'style'));
  return code;
}

/**
 * A function of the realm that calls its argument. Samples that are taken meanwhile have the marker.
 *
 * @param {import('./realm.cjs').Realm} realm
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
