'use strict';

// Stands in for jsdom's `living/nodes/HTMLScriptElement-impl.js`: script elements as HTML prepares and executes them,
// with CORS, modules and import maps. jsdom's parsers and nodes call the methods with an underscore.
// https://html.spec.whatwg.org/multipage/scripting.html#script-processing-model

const { thread } = require('../thread/thread.cjs');
const { labelToName } = require('@exodus/bytes/encoding.js');
const { serializeURL } = require('whatwg-url');

const HTMLElementImpl = require('jsdom/lib/jsdom/living/nodes/HTMLElement-impl.js').implementation;
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { isShadowRoot } = require('jsdom/lib/jsdom/living/helpers/shadow-dom.js');
const { childTextContent } = require('jsdom/lib/jsdom/living/helpers/text.js');
const { TEXT_NODE } = require('jsdom/lib/jsdom/living/node-type.js');

const { reportException } = require('./exceptions.cjs');
const { corsSettings } = require('./resource-loading.cjs');
const { isEventAndForAllowed, scriptType } = require('./script-type.cjs');

/**
 * A script that the parser has to run: a promise for when it is ready (`null` if it is), and how to execute it.
 *
 * @typedef {{ ready: Promise<unknown> | null, execute: () => unknown }} ParserScript
 */

class HTMLScriptElementImpl extends HTMLElementImpl {
  /** @type {Jsdom.DocumentImpl | null} */
  #parserDocument = null;
  /** @type {Jsdom.DocumentImpl | null} */
  #preparationDocument = null;
  #forceAsync = true;
  #isExternal = false;
  #alreadyStarted = false;
  /** @type {ReturnType<typeof scriptType>} */
  #type = null;
  /**
   * Runs the script. `undefined` while it loads, `null` if it could not be loaded.
   *
   * @type {(() => unknown) | null | undefined}
   */
  #result;
  /** @type {((value?: unknown) => unknown) | null} */
  #whenReady = null;
  /** Lets the document's `load` event happen. @type {(() => void) | null} */
  #stopDelayingLoad = null;
  /** That of an external script. @type {string | undefined} */
  #url;
  /** Whether it is of another origin, without CORS. */
  #isMuted = false;
  /** Ends the loading with the document. @type {AbortSignal | undefined} */
  #signal;

  /** The document that the script was prepared in. */
  get #document() {
    return this.#preparationDocument ?? this._ownerDocument;
  }

  /** @param {Jsdom.DocumentImpl} document */
  _initializeFromParser(document) {
    this.#parserDocument = document;
    this.#forceAsync = false;
  }

  _markAsAlreadyStarted() {
    this.#alreadyStarted = true;
  }

  _postConnectionSteps() {
    if (this.#parserDocument === null) this._prepare();
  }

  _childrenInsertedSteps() {
    super._childrenInsertedSteps();
    if (this.isConnected) this._postConnectionSteps();
  }

  /**
   * @param {string} localName
   * @param {string | null} oldValue
   * @param {string | null} value
   * @param {string | null} namespace
   */
  _attributeChangeSteps(localName, oldValue, value, namespace) {
    super._attributeChangeSteps(localName, oldValue, value, namespace);
    if (namespace !== null) return;
    if (localName === 'async' && oldValue === null && value !== null) this.#forceAsync = false;
    if (localName === 'src' && value !== null && this.isConnected) this._postConnectionSteps();
  }

  /** @param {HTMLScriptElementImpl} copy */
  _cloningSteps(copy) {
    copy.#alreadyStarted = this.#alreadyStarted;
  }

  /**
   * Prepares the script element. Returns what the parser has to wait for and run, if anything.
   *
   * @param {AbortSignal} [parserSignal]
   * @returns {ParserScript | undefined}
   */
  _prepare(parserSignal) {
    if (this.#alreadyStarted) return undefined;
    const parserDocument = this.#parserDocument;
    this.#parserDocument = null;
    if (parserDocument !== null && !this.hasAttributeNS(null, 'async')) this.#forceAsync = true;
    const source = childTextContent(this);
    const src = this.getAttributeNS(null, 'src');
    if ((src === null && source === '') || !this.isConnected) return undefined;
    const type = scriptType(this);
    if (type === null) return undefined;
    if (parserDocument !== null) {
      this.#parserDocument = parserDocument;
      this.#forceAsync = false;
    }
    this.#alreadyStarted = true;
    this.#type = type;
    const document = this._ownerDocument;
    this.#preparationDocument = document;
    this.#signal = document._fetchSignal;
    if (parserDocument !== null && parserDocument !== document) return undefined;
    if (!canRunScript(document)) return undefined;
    if (type === 'classic' && this.hasAttributeNS(null, 'nomodule')) return undefined;
    if (type === 'classic' && !isEventAndForAllowed(this)) return undefined;

    if (src !== null) {
      const url = src === '' || type === 'importmap' ? null : document.encodingParseAURL(src);
      if (url === null) {
        document._queueATask(() => fireAnEvent('error', this));
        return undefined;
      }
      this.#isExternal = true;
      return this.#schedule(parserSignal, () => this.#load(serializeURL(url)));
    }
    if (type === 'module') {
      return this.#schedule(parserSignal, () => this.#loadInlineModule(source));
    }
    const pageWindow = thread.windows.get(document._globalObject);
    const { URL: shown } = document;
    const base = document.baseURLSerialized();
    const position = sourcePosition(this);
    this.#result =
      type === 'importmap'
        ? () => pageWindow.modules.registerImportMap(source, base)
        : () => pageWindow.runScript(source, shown, { ...position, base });
    if (parserDocument === null || type === 'importmap') {
      this.#execute();
      return undefined;
    }
    return { ready: null, execute: () => this.#execute() };
  }

  /**
   * Decides when a script that has to be loaded is executed, and starts loading it.
   *
   * @param {AbortSignal | undefined} parserSignal
   * @param {() => void} load
   * @returns {ParserScript | undefined}
   */
  #schedule(parserSignal, load) {
    const document = this.#document;
    /** @type {ParserScript | undefined} */
    let pending;
    if (this.hasAttributeNS(null, 'async') || this.#forceAsync) {
      this.#stopDelayingLoad = document._delayLoadEvent();
      this.#whenReady = () => this.#execute();
    } else if (this.#parserDocument === null) {
      this.#stopDelayingLoad = document._delayLoadEvent();
      const scripts = document._scriptsToExecuteInOrder;
      scripts.push(this);
      this.#whenReady = async () => {
        if (scripts[0] !== this) return;
        while (scripts.length > 0 && scripts[0].#result !== undefined) {
          await scripts[0].#execute();
          scripts.shift();
        }
      };
    } else {
      // The loading ends with the parser, which ends with its document.
      if (parserSignal !== undefined) this.#signal = parserSignal;
      const { promise: ready, resolve } = Promise.withResolvers();
      this.#whenReady = resolve;
      const script = { ready, execute: () => this.#execute() };
      if (this.#type === 'module' || this.hasAttributeNS(null, 'defer'))
        document._scriptsToExecuteAfterParsing.push(script);
      else pending = script;
    }
    load();
    return pending;
  }

  /** @param {(() => unknown) | null} result */
  #ready(result) {
    if (this.#result !== undefined) return;
    this.#result = this.#signal?.aborted ? null : result;
    const steps = this.#whenReady;
    this.#whenReady = null;
    steps?.();
  }

  /** Loads an external script. @param {string} url */
  #load(url) {
    const document = this.#document;
    const pageWindow = thread.windows.get(document._globalObject);
    if (this.#type === 'module') {
      this.#loadModule(url, (options) => pageWindow.modules.prepare({ ...options, url }));
      return;
    }
    const encoding = labelToName(this.getAttributeNS(null, 'charset')) || document._encoding;
    this.#request(
      { url, ...corsSettings(this) },
      (request, signal) => thread.loader.fetchScript(request, encoding, signal),
      (script) => {
        this.#isMuted = script.muted;
        thread.loader.run(pageWindow, script);
      },
    );
  }

  /** @param {string} source */
  #loadInlineModule(source) {
    const { URL: url, _globalObject: window } = this.#document;
    const inline = { source, url, base: this.#document.baseURLSerialized(), ...sourcePosition(this) };
    this.#loadModule(url, ({ credentials }) =>
      thread.windows.get(window).modules.prepareInline({ ...inline, credentials }),
    );
  }

  /**
   * @param {string} url
   * @param {(options: import('../scripts/window-modules.cjs').ModuleFetchOptions) =>
   *   Promise<import('../scripts/window-modules.cjs').ModuleScript>} prepare
   */
  #loadModule(url, prepare) {
    const { modules } = thread.windows.get(this.#document._globalObject);
    // Modules are always fetched with CORS: without the attribute, as with `crossorigin=anonymous`.
    const credentials = this.hasAttributeNS(null, 'crossorigin') ? corsSettings(this).credentials : 'same-origin';
    this.#request({ url, mode: 'cors', credentials }, prepare, (script) => modules.run(script));
  }

  /**
   * @template Script
   * @param {Pick<import('../loading/loader.cjs').RequestOfPage, 'url' | 'mode' | 'credentials'>} options
   * @param {(request: import('../loading/loader.cjs').PageRequest, signal: AbortSignal) => Promise<Script>} load
   * @param {(script: Script) => unknown} run
   */
  #request(options, load, run) {
    const signal = this.#signal;
    const document = this.#document;
    const integrity = this.getAttributeNS(null, 'integrity') ?? '';
    const window = thread.windows.get(document._globalObject);
    const request = { ...options, integrity, referrer: document.URL, window, initiator: 'script' };
    const abort = thread.loader.start(request, load, (script) => {
      signal?.removeEventListener('abort', onAbort);
      this.#url = options.url;
      this.#ready(script === undefined ? null : () => run(script));
    });
    const onAbort = () => {
      abort();
      this.#ready(null);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  }

  // https://html.spec.whatwg.org/multipage/scripting.html#execute-the-script-element
  #execute() {
    /** @type {Promise<unknown> | undefined} */
    let loaded;
    try {
      const document = this._ownerDocument;
      if (document._isDestroyed || this.#preparationDocument !== document) return undefined;
      const result = this.#result;
      // A script that was ready before its document stopped loading still runs, unless the parser waits for it.
      if (this.#signal?.aborted && (this.#parserDocument !== null || result === null)) return undefined;
      if (result === null) {
        fireAnEvent('error', this);
        return undefined;
      }
      const guardsWrites = this.#isExternal || this.#type === 'module';
      if (guardsWrites) document._ignoreDestructiveWritesCounter++;
      const outer = document._currentScript;
      document._currentScript = this.#type !== 'classic' || isShadowRoot(this.getRootNode()) ? null : this;
      try {
        if (result !== undefined && canRunScript(document)) result();
      } catch (error) {
        reportException(document._globalObject, error, this.#url ?? document.URL, this.#isMuted);
      } finally {
        thread.runPromiseJobs();
        document._currentScript = outer;
        if (guardsWrites) document._ignoreDestructiveWritesCounter--;
      }
      // `load` is fired after the microtasks that the script has queued.
      if (this.#isExternal) loaded = Promise.resolve().then(() => fireAnEvent('load', this));
      return loaded;
    } finally {
      if (this.#stopDelayingLoad !== null) {
        Promise.resolve(loaded).then(this.#stopDelayingLoad);
        this.#stopDelayingLoad = null;
      }
    }
  }

  get text() {
    return childTextContent(this);
  }

  /** @param {string} text */
  set text(text) {
    this.textContent = text;
  }

  get async() {
    return this.#forceAsync || this.hasAttributeNS(null, 'async');
  }

  /** @param {boolean} value */
  set async(value) {
    this.#forceAsync = false;
    if (value) this.setAttributeNS(null, 'async', '');
    else this.removeAttributeNS(null, 'async');
  }
}

/** @param {Jsdom.DocumentImpl} document */
function canRunScript(document) {
  const window = document._defaultView;
  return (
    window !== null &&
    !document._isDestroyed &&
    !document._scriptingDisabled &&
    document._globalObject._document === document
  );
}

/**
 * Where an element's text begins in its document's source, counted from 0.
 *
 * @param {HTMLScriptElementImpl} element
 */
function sourcePosition(element) {
  for (const child of element._children()) {
    const location = child.nodeType === TEXT_NODE ? child.sourceCodeLocation : null;
    if (location) return { line: location.startLine - 1, column: location.startCol - 1 };
  }
  return { line: 0, column: 0 };
}

module.exports = { implementation: HTMLScriptElementImpl };
