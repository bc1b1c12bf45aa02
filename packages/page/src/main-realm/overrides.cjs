'use strict';

// Modules that our own modules stand in for in the DOM realm: modules of jsdom that decide how scripts run and what is loaded, and modules
// of Node, which that realm does not have.

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const DOM = path.join(__dirname, '..', 'dom-realm');

/** Files of jsdom, and our modules in dom-realm/. @type {Record<string, string>} */
const JSDOM = {
  'lib/generated/idl/EventListener.js': 'event-listener.cjs',
  'lib/jsdom/browser/parser/index.js': 'parser.cjs',
  'lib/jsdom/browser/resources/jsdom-dispatcher.js': 'resource-loading.cjs',
  'lib/jsdom/living/helpers/create-event-accessor.js': 'event-handlers.cjs',
  'lib/jsdom/living/helpers/runtime-script-errors.js': 'exceptions.cjs',
  'lib/jsdom/living/nodes/HTMLFrameElement-impl.js': 'frame-element.cjs',
  'lib/jsdom/living/nodes/HTMLScriptElement-impl.js': 'script-element.cjs',
  'lib/jsdom/living/window-properties.js': 'window-properties.cjs',
  'lib/jsdom/living/window/navigation.js': 'navigation.cjs',
};

/** Files of jsdom that a worker does not need: without them FormData loads nothing of the DOM, which would take long. @type {Record<string, string>} */
const WITHOUT_ELEMENTS = {
  'lib/generated/idl/HTMLElement.js': 'worker/no-element.cjs',
  'lib/generated/idl/HTMLFormElement.js': 'worker/no-element.cjs',
  'lib/jsdom/living/helpers/form-controls.js': 'worker/no-element.cjs',
};

/** Node's modules, and packages that need them or that pages do not; our modules in dom-realm/node/. */
const NODE = {
  '@napi-rs/canvas': '../canvas-image.cjs',
  'node:buffer': 'buffer.cjs',
  'node:crypto': 'crypto.cjs',
  'node:os': 'os.cjs',
  'node:stream': 'stream.cjs',
  'node:util': 'util.cjs',
  'node:vm': 'vm.cjs',
  'node:worker_threads': 'worker_threads.cjs',
  'tough-cookie': '../cookie-jar.cjs',
  undici: 'undici.cjs',
};

/**
 * @param {{ folder: string, version: string }} library jsdom
 * @param {() => unknown} bridge what `selfprof:main-realm` exports
 * @param {'page' | 'worker'} kind of the thread
 * @returns {import('./host-modules.cjs').Redirect}
 */
function overrides(library, bridge, kind) {
  const bySpecifier = new Map(Object.entries(NODE).map(([name, file]) => [name, path.join(DOM, 'node', file)]));
  const byFile = new Map();
  const replacements = kind === 'worker' ? { ...JSDOM, ...WITHOUT_ELEMENTS } : JSDOM;
  for (const [original, file] of Object.entries(replacements)) {
    const replaced = path.join(library.folder, original);
    if (!fs.existsSync(replaced)) throw new Error(`jsdom ${library.version} has no ${original}`);
    byFile.set(replaced, path.join(DOM, file));
  }
  return (specifier, from) => {
    if (specifier === 'selfprof:main-realm') return { value: bridge() };
    const builtin = bySpecifier.get(specifier);
    if (builtin !== undefined) return { file: builtin };
    if (path.isAbsolute(specifier)) {
      const file = byFile.get(specifier);
      return file === undefined ? undefined : { file };
    }
    // Our own modules require files of jsdom by their path in it, and jsdom's dependencies as jsdom does.
    if (!from.startsWith(DOM + path.sep) || specifier.startsWith('.')) return undefined;
    if (specifier.startsWith('original:'))
      return { file: path.join(library.folder, specifier.slice('original:'.length)) };
    if (specifier.startsWith('jsdom/')) {
      const file = path.join(library.folder, specifier.slice('jsdom/'.length));
      return { file: byFile.get(file) ?? file };
    }
    return { as: path.join(library.folder, 'lib', 'api.js') };
  };
}

/**
 * Functions of a page that jsdom calls back are called by modules that its build generates, all by `Reflect.apply` and `Reflect.construct`.
 *
 * @param {{ folder: string }} library jsdom
 * @param {object} context of the DOM realm
 * @param {Function} apply what they call instead, a function of that realm
 * @returns {(file: string) => Record<string, unknown>} what stands in for globals in a file
 */
function callbackGlobals(library, context, apply) {
  const generated = path.join(library.folder, 'lib', 'generated', 'idl') + path.sep;
  const make = vm.runInContext(
    `({ construct }) => (apply) => ({
      __proto__: Reflect,
      apply,
      construct: (callee, parameters) => apply(construct, undefined, [callee, parameters]),
    })`,
    context,
    { filename: __filename },
  )(vm.runInContext('Reflect', context));
  const globals = { Reflect: make(apply) };
  return (file) => (file.startsWith(generated) ? globals : {});
}

module.exports = { callbackGlobals, overrides };
