'use strict';

// Loads jsdom with a few of its modules replaced: those that decide how scripts run, what is loaded and where a window
// navigates.
//
// Our modules in the folders of `page` require modules of jsdom as `jsdom/lib/...`, and jsdom's own dependencies as
// jsdom does. `original:lib/...` is a module of jsdom that is replaced for everyone else.

const fs = require('node:fs');
const { registerHooks } = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

/** Modules of jsdom, and our modules in their place. @type {Record<string, string>} */
const REPLACED = {
  // What the getter of `handleEvent` of a muted script throws is hidden.
  'lib/generated/idl/EventListener.js': 'jsdom/event-listener.cjs',
  // It marks the samples that are taken while jsdom parses.
  'lib/jsdom/browser/parser/index.js': 'jsdom/parser.cjs',
  // Requests go through the host's rules of the network.
  'lib/jsdom/browser/resources/jsdom-dispatcher.js': 'jsdom/resource-loading.cjs',
  // Handlers in attributes are scripts of the document, at their own lines.
  'lib/jsdom/living/helpers/create-event-accessor.js': 'jsdom/event-handlers.cjs',
  // What a muted script throws is hidden.
  'lib/jsdom/living/helpers/runtime-script-errors.js': 'jsdom/exceptions.cjs',
  // Frames of other origins live in other threads.
  'lib/jsdom/living/nodes/HTMLFrameElement-impl.js': 'frames/frame-element.cjs',
  // Modules, import maps, CORS and integrity, which jsdom lacks.
  'lib/jsdom/living/nodes/HTMLScriptElement-impl.js': 'jsdom/script-element.cjs',
  // Synchronous requests.
  'lib/jsdom/living/xhr/XMLHttpRequest-impl.js': 'jsdom/synchronous-requests.cjs',
  // Navigation, which jsdom does not implement.
  'lib/jsdom/living/window/navigation.js': 'jsdom/navigation.cjs',
};

/**
 * Modules that a worker does not need: without them FormData loads nothing of the DOM, which would take long.
 *
 * @type {Record<string, string>}
 */
const WITHOUT_ELEMENTS = {
  'lib/generated/idl/HTMLElement.js': 'worker/no-element.cjs',
  'lib/generated/idl/HTMLFormElement.js': 'worker/no-element.cjs',
  'lib/jsdom/living/helpers/form-controls.js': 'worker/no-element.cjs',
};

/** Packages and modules of Node as jsdom's modules see them. @type {Record<string, string>} */
const FOR_JSDOM = {
  // Images have their sizes, and canvases no context.
  '@napi-rs/canvas': 'jsdom/canvas-image.cjs',
  // Synchronous requests are made by the host.
  'node:worker_threads': 'jsdom/synchronous-requests.cjs',
  // Contexts are made as realms of the addon, and what runs in them is compiled there.
  'node:vm': 'jsdom/jsdom-vm.cjs',
  // `document.cookie` uses the jar of the page.
  'tough-cookie': 'jsdom/cookie-jar.cjs',
  // WebSockets use the network of the page.
  undici: 'jsdom/web-sockets.cjs',
};

/** The package whose writable stream is the parser of documents. */
const PARSER_STREAM = /\/parse5-parser-stream\//;

/**
 * @param {{ folder: string, version: string }} library jsdom
 * @param {'page' | 'worker'} kind of the thread
 */
function installJsdomHooks(library, kind) {
  const ours = pathToFileURL(path.join(__dirname, '..') + path.sep).href;
  const jsdom = pathToFileURL(path.join(library.folder, 'lib') + path.sep).href;
  const entry = pathToFileURL(path.join(library.folder, 'lib', 'api.js')).href;
  const moduleAt = (/** @type {string} */ url) => ({ url, format: 'commonjs', shortCircuit: true });
  const ourModule = (/** @type {string} */ file) => moduleAt(new URL(file, ours).href);
  const urlOf = (/** @type {string} */ file) => pathToFileURL(path.join(library.folder, file)).href;

  /** Our modules, by the URLs of jsdom's. @type {Map<string, string>} */
  const replaced = new Map();
  for (const [original, file] of Object.entries(kind === 'worker' ? { ...REPLACED, ...WITHOUT_ELEMENTS } : REPLACED)) {
    if (!fs.existsSync(path.join(library.folder, original)))
      throw new Error(`jsdom ${library.version} has no ${original}`);
    replaced.set(urlOf(original), file);
  }

  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL = '' } = context;
      // Documents are parsed in pieces, each under a profiler marker.
      if (specifier === 'node:stream' && PARSER_STREAM.test(parentURL)) return ourModule('jsdom/parser-stream.cjs');
      if (parentURL.startsWith(jsdom)) {
        if (Object.hasOwn(FOR_JSDOM, specifier)) return ourModule(FOR_JSDOM[specifier]);
        const found = nextResolve(specifier, context);
        const file = replaced.get(found.url);
        return file === undefined ? found : ourModule(file);
      }
      const isOfJsdom = !/^(?:\.|node:|selfprof)/.test(specifier);
      if (!parentURL.startsWith(ours) || !isOfJsdom) return nextResolve(specifier, context);
      if (specifier.startsWith('original:')) return moduleAt(urlOf(specifier.slice('original:'.length)));
      if (!specifier.startsWith('jsdom/')) return nextResolve(specifier, { ...context, parentURL: entry });
      const url = urlOf(specifier.slice('jsdom/'.length));
      const file = replaced.get(url);
      return file === undefined ? moduleAt(url) : ourModule(file);
    },
  });
}

module.exports = { installJsdomHooks };
