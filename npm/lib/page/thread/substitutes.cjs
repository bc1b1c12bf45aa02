'use strict';

// Whose place our own modules take in the DOM realm: those of jsdom that decide how scripts run and what is loaded, and
// Node's, which that realm does not have.

const fs = require('node:fs');
const path = require('node:path');

const DOM = path.join(__dirname, '..', 'dom');

/** Of jsdom's modules. */
const OWN = {
  'lib/jsdom/browser/parser/index.js': 'parser.cjs',
  'lib/jsdom/browser/resources/jsdom-dispatcher.js': 'resources.cjs',
  'lib/jsdom/living/helpers/create-event-accessor.js': 'event-handlers.cjs',
  'lib/jsdom/living/helpers/runtime-script-errors.js': 'exceptions.cjs',
  'lib/jsdom/living/nodes/HTMLFrameElement-impl.js': 'frame-element.cjs',
  'lib/jsdom/living/nodes/HTMLScriptElement-impl.js': 'script-element.cjs',
  'lib/jsdom/living/window/navigation.js': 'navigation.cjs',
};

/** What a worker has no use for: without it, FormData needs nothing of the DOM, whose modules take long to load. */
const WITHOUT_ELEMENTS = {
  'lib/generated/idl/HTMLElement.js': 'worker/no-element.cjs',
  'lib/generated/idl/HTMLFormElement.js': 'worker/no-element.cjs',
  'lib/jsdom/living/helpers/form-controls.js': 'worker/no-element.cjs',
};

/** Of Node's modules, and of packages that need them. */
const NODE = {
  '@napi-rs/canvas': '../images.cjs',
  'node:buffer': 'buffer.cjs',
  'node:crypto': 'crypto.cjs',
  'node:os': 'os.cjs',
  'node:stream': 'stream.cjs',
  'node:util': 'util.cjs',
  'node:vm': 'vm.cjs',
  'node:worker_threads': 'worker_threads.cjs',
  undici: 'undici.cjs',
};

/**
 * @param {{ folder: string, version: string }} library jsdom
 * @param {() => object} gate what `selfprof:gate` exports
 * @param {'page' | 'worker'} kind of the thread
 * @returns {import('./host-modules.cjs').Redirect}
 */
function substitutes(library, gate, kind) {
  const bySpecifier = new Map(Object.entries(NODE).map(([name, file]) => [name, path.join(DOM, 'node', file)]));
  const byFile = new Map();
  const own = kind === 'worker' ? { ...OWN, ...WITHOUT_ELEMENTS } : OWN;
  for (const [original, file] of Object.entries(own)) {
    const replaced = path.join(library.folder, original);
    if (!fs.existsSync(replaced)) throw new Error(`jsdom ${library.version} has no ${original}`);
    byFile.set(replaced, path.join(DOM, file));
  }
  return (specifier, from) => {
    if (specifier === 'selfprof:gate') return { value: gate() };
    const builtin = bySpecifier.get(specifier);
    if (builtin !== undefined) return { file: builtin };
    if (path.isAbsolute(specifier)) {
      const file = byFile.get(specifier);
      return file === undefined ? undefined : { file };
    }
    // Our own modules require jsdom's by their place in it, and jsdom's dependencies as jsdom does.
    if (!from.startsWith(DOM + path.sep) || specifier.startsWith('.')) return undefined;
    if (specifier.startsWith('original:')) return { file: path.join(library.folder, specifier.slice('original:'.length)) };
    if (specifier.startsWith('jsdom/')) {
      const file = path.join(library.folder, specifier.slice('jsdom/'.length));
      return { file: byFile.get(file) ?? file };
    }
    return { as: path.join(library.folder, 'lib', 'api.js') };
  };
}

module.exports = { substitutes };
