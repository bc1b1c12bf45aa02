'use strict';

// Loads jsdom with a few of its modules replaced: those that decide how scripts run, what is loaded and where a window navigates.
//
// Our modules in this folder require modules of jsdom as `jsdom/lib/...`, and jsdom's own dependencies as jsdom does. `original:lib/...` is
// a module of jsdom that is replaced for everyone else.

const fs = require('node:fs');
const { registerHooks } = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

/** Modules of jsdom, and our modules in their place. @type {Record<string, string>} */
const REPLACED = {
  // It marks the samples that are taken while jsdom parses.
  'lib/jsdom/browser/parser/index.js': 'parser.cjs',
  // Requests go through the host's rules of the network.
  'lib/jsdom/browser/resources/jsdom-dispatcher.js': 'resource-loading.cjs',
  // Handlers in attributes are scripts of the document, at their own lines.
  'lib/jsdom/living/helpers/create-event-accessor.js': 'event-handlers.cjs',
  // What a muted script throws is hidden.
  'lib/jsdom/living/helpers/runtime-script-errors.js': 'exceptions.cjs',
  // Frames of other origins live in other threads.
  'lib/jsdom/living/nodes/HTMLFrameElement-impl.js': 'frame-element.cjs',
  // Modules, import maps, CORS and integrity, which jsdom lacks.
  'lib/jsdom/living/nodes/HTMLScriptElement-impl.js': 'script-element.cjs',
  // Navigation, which jsdom does not implement.
  'lib/jsdom/living/window/navigation.js': 'navigation.cjs',
};

/** Modules that a worker does not need: without them FormData loads nothing of the DOM, which would take long. @type {Record<string, string>} */
const WITHOUT_ELEMENTS = {
  'lib/generated/idl/HTMLElement.js': 'worker/no-element.cjs',
  'lib/generated/idl/HTMLFormElement.js': 'worker/no-element.cjs',
  'lib/jsdom/living/helpers/form-controls.js': 'worker/no-element.cjs',
};

/** Packages and modules of Node as jsdom's modules see them. @type {Record<string, string>} */
const FOR_JSDOM = {
  // Images have their sizes, and canvases no context.
  '@napi-rs/canvas': 'canvas-image.cjs',
  // Contexts are made as realms of the addon, and what runs in them is compiled there.
  'node:vm': 'jsdom-vm.cjs',
  // `document.cookie` uses the jar of the page.
  'tough-cookie': 'cookie-jar.cjs',
};

/**
 * @param {{ folder: string, version: string }} library jsdom
 * @param {'page' | 'worker'} kind of the thread
 */
function installJsdomHooks(library, kind) {
  const replaced = new Map();
  for (const [original, file] of Object.entries(kind === 'worker' ? { ...REPLACED, ...WITHOUT_ELEMENTS } : REPLACED)) {
    const from = path.join(library.folder, original);
    if (!fs.existsSync(from)) throw new Error(`jsdom ${library.version} has no ${original}`);
    replaced.set(pathToFileURL(from).href, pathToFileURL(path.join(__dirname, file)).href);
  }
  const ours = pathToFileURL(__dirname + path.sep).href;
  const jsdom = pathToFileURL(library.folder + path.sep).href;
  const entry = pathToFileURL(path.join(library.folder, 'lib', 'api.js')).href;
  const urlOf = (/** @type {string} */ file) => pathToFileURL(path.join(library.folder, file)).href;

  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL = '' } = context;
      if (parentURL.startsWith(jsdom)) {
        if (Object.hasOwn(FOR_JSDOM, specifier))
          return {
            url: pathToFileURL(path.join(__dirname, FOR_JSDOM[specifier])).href,
            format: 'commonjs',
            shortCircuit: true,
          };
        const found = nextResolve(specifier, context);
        const replacement = replaced.get(found.url);
        return replacement === undefined ? found : { url: replacement, format: 'commonjs', shortCircuit: true };
      }
      if (!parentURL.startsWith(ours) || specifier.startsWith('.') || specifier.startsWith('node:'))
        return nextResolve(specifier, context);
      if (specifier.startsWith('original:'))
        return { url: urlOf(specifier.slice('original:'.length)), format: 'commonjs', shortCircuit: true };
      if (specifier.startsWith('jsdom/')) {
        const url = urlOf(specifier.slice('jsdom/'.length));
        return { url: replaced.get(url) ?? url, format: 'commonjs', shortCircuit: true };
      }
      if (specifier.startsWith('selfprof')) return nextResolve(specifier, context);
      return nextResolve(specifier, { ...context, parentURL: entry });
    },
  });
}

module.exports = { installJsdomHooks };
