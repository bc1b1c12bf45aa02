'use strict';

// Loads our own code into the realm of a window, before any script of the page runs there. All of its modules are one script, which is
// compiled once for a thread and runs in each window.

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const { SAMPLER_SCRIPTS } = require('selfprof/internal/agent.cjs');

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
 * Modules that are generated. V8 shows the name that a function has in its source text, so for these operations a computed name does not
 * suffice.
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

/** @typedef {{ source: string, required: Record<string, string> }} CollectedModule `required` has files or given modules by specifier */

/** The files that the program consists of. @returns {Map<string, CollectedModule>} */
function collect() {
  /** @type {Map<string, CollectedModule>} */
  const files = new Map();
  const waiting = [ENTRY];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    const source = GENERATED.get(file) ?? fs.readFileSync(file, 'utf8');
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
  if (GENERATED.has(specifier) || GIVEN.has(specifier) || REPLACED.has(specifier))
    return REPLACED.get(specifier) ?? specifier;
  const file = specifier.startsWith('.') ? path.resolve(path.dirname(from), specifier) : require.resolve(specifier);
  return REPLACED.get(file) ?? file;
}

/**
 * A script with modules as functions. Its completion value is a function that gives them.
 *
 * @param {[file: string, module: CollectedModule][]} collected
 * @param {string} filename
 */
function bundle(collected, filename) {
  const modules = collected.map(([file, { source, required }]) => {
    const parameters = file === OBSERVER ? 'exports, require, module, Reflect' : 'exports, require, module';
    return `${JSON.stringify(file)}: [${JSON.stringify(required)}, function (${parameters}) {${source}\n}]`;
  });
  const parameters = `process, setImmediate, ${INTRINSICS.join(', ')}`;
  const text = `'use strict'; (function (${parameters}) { return { __proto__: null, ${modules.join(',\n')} }; })`;
  return new vm.Script(text, { filename });
}

/** Compiles the program: functions of the first script are left out of traces, as those of the same files are elsewhere. */
function compile() {
  const collected = [...collect()];
  const isSampler = (/** @type {[file: string, module: unknown]} */ [file]) =>
    SAMPLER_SCRIPTS.some((prefix) => file.startsWith(prefix));
  return [
    bundle(collected.filter(isSampler), SAMPLER_SCRIPTS[0]),
    bundle(
      collected.filter((entry) => !isSampler(entry)),
      path.join(WINDOW, 'window-bundle.cjs'),
    ),
    new vm.Script(LOADER, { filename: path.join(WINDOW, 'window-bundle.cjs') }),
  ];
}

/** Runs the modules. */
const LOADER = `'use strict'; (function (modules, given, entry, NotingReflect) {
const loaded = { __proto__: null };
const load = (file) => {
  if (file in given) return given[file];
  if (file in loaded) return loaded[file].exports;
  const module = { exports: {} };
  loaded[file] = module;
  const [required, run] = modules[file];
  run(module.exports, (specifier) => load(required[specifier]), module, NotingReflect);
  return module.exports;
};
return load(entry);
})`;

/** @type {vm.Script[] | undefined} */
let program;

/**
 * @param {import('./window-record.cjs').WindowRecord} record
 * @param {WindowHost} host what this thread gives the window
 * @param {object} addon what stands for the addon there
 * @returns {WindowCode}
 */
function loadWindowCode({ window, realm }, host, addon) {
  program ??= compile();
  const noting = vm.runInContext('(apply) => ({ __proto__: Reflect, apply })', window)(host.apply);
  const intrinsics = INTRINSICS.map((name) => /** @type {Record<string, unknown>} */ (window)[name]);
  const [sampler, rest, load] = program.map((script) => script.runInContext(window));
  const parameters = [host.process, host.setImmediate, ...intrinsics];
  const modules = { __proto__: null, ...sampler(...parameters), ...rest(...parameters) };
  const given = Object.fromEntries([...GIVEN].map(([name, value]) => [name, { host, addon }[value]]));
  const code = load(modules, { __proto__: null, ...given }, ENTRY, noting);
  return { ...code, markerFunctions: { parse: markerFunction(realm, 'parse'), style: markerFunction(realm, 'style') } };
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
