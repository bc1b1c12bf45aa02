'use strict';

// Stands for jsdom's `living/nodes/HTMLScriptElement-impl.js`: script elements as HTML prepares and executes them, with
// CORS, modules and import maps. The methods with an underscore are what jsdom's parsers and nodes call.
// https://html.spec.whatwg.org/multipage/scripting.html#script-processing-model

const gate = require('selfprof:gate');
const { labelToName } = require('@exodus/bytes/encoding.js');
const { serializeURL } = require('whatwg-url');

const HTMLElementImpl = require('jsdom/lib/jsdom/living/nodes/HTMLElement-impl.js').implementation;
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { reportResourceError } = require('jsdom/lib/jsdom/living/helpers/resource-errors.js');
const { isShadowRoot } = require('jsdom/lib/jsdom/living/helpers/shadow-dom.js');
const { asciiLowercase, stripLeadingAndTrailingASCIIWhitespace } = require('jsdom/lib/jsdom/living/helpers/strings.js');
const { childTextContent } = require('jsdom/lib/jsdom/living/helpers/text.js');
const nodeTypes = require('jsdom/lib/jsdom/living/node-type.js');

const { reportException } = require('./exceptions.cjs');
const realms = require('./realms.cjs');
const { corsSettings } = require('./resources.cjs');

const JAVASCRIPT = new Set(
  ('application/ecmascript application/javascript application/x-ecmascript application/x-javascript text/ecmascript ' +
    'text/javascript text/javascript1.0 text/javascript1.1 text/javascript1.2 text/javascript1.3 text/javascript1.4 ' +
    'text/javascript1.5 text/jscript text/livescript text/x-ecmascript text/x-javascript').split(' '),
);

/**
 * What a prepared script holds once it is ready; `null` stands for one that could not be loaded.
 *
 * @typedef {{ run: () => void }} Runnable
 */

class HTMLScriptElementImpl extends HTMLElementImpl {
  #parserDocument = null;
  #preparationDocument = null;
  #forceAsync = true;
  #isExternal = false;
  #alreadyStarted = false;
  #type = null;
  /** @type {Runnable | null | undefined} undefined while it loads */
  #result;
  #whenReady = null;
  #stopDelayingLoad = null;
  #signal = null;

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

  _attributeChangeSteps(localName, oldValue, value, namespace) {
    super._attributeChangeSteps(localName, oldValue, value, namespace);
    if (namespace !== null) return;
    if (localName === 'async' && oldValue === null && value !== null) this.#forceAsync = false;
    if (localName === 'src' && value !== null && this.isConnected) this._postConnectionSteps();
  }

  _cloningSteps(copy) {
    copy.#alreadyStarted = this.#alreadyStarted;
  }

  /**
   * Prepares the script element. For a script that the parser has to wait for, returns when it is ready (`null`: it is) and
   * how to execute it.
   */
  _prepare(parserSignal) {
    if (this.#alreadyStarted) return undefined;
    const parserDocument = this.#parserDocument;
    this.#parserDocument = null;
    if (parserDocument !== null && !this.hasAttributeNS(null, 'async')) this.#forceAsync = true;
    const source = childTextContent(this);
    const src = this.getAttributeNS(null, 'src');
    if ((src === null && source === '') || !this.isConnected) return undefined;
    const type = this.#determineType();
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
    if (type === 'classic' && !this.#eventAndForAllow()) return undefined;

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
    this.#result = type === 'importmap' ? this.#importMap(source) : this.#inlineScript(source);
    if (parserDocument === null || type === 'importmap') {
      this.#execute();
      return undefined;
    }
    return { ready: null, execute: () => this.#execute() };
  }

  #determineType() {
    const type = this.getAttributeNS(null, 'type');
    const language = this.getAttributeNS(null, 'language');
    let text = 'text/javascript';
    if (type !== null && type !== '') text = stripLeadingAndTrailingASCIIWhitespace(type);
    else if (type === null && language !== null && language !== '') text = `text/${language}`;
    const lower = asciiLowercase(text);
    if (JAVASCRIPT.has(lower)) return 'classic';
    return lower === 'module' || lower === 'importmap' ? lower : null;
  }

  #eventAndForAllow() {
    if (!this.hasAttributeNS(null, 'event') || !this.hasAttributeNS(null, 'for')) return true;
    const read = (name) => asciiLowercase(stripLeadingAndTrailingASCIIWhitespace(this.getAttributeNS(null, name)));
    return read('for') === 'window' && ['onload', 'onload()'].includes(read('event'));
  }

  /** Decides when a script that is being loaded is executed, and starts to load it. */
  #schedule(parserSignal, load) {
    const document = this.#preparationDocument;
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
      // Ends with the parser, which ends with its document.
      if (parserSignal !== undefined) this.#signal = parserSignal;
      const { promise: ready, resolve } = Promise.withResolvers();
      this.#whenReady = resolve;
      const script = { ready, execute: () => this.#execute() };
      if (this.#type === 'module' || this.hasAttributeNS(null, 'defer')) document._scriptsToExecuteAfterParsing.push(script);
      else pending = script;
    }
    load();
    return pending;
  }

  #ready(result) {
    if (this.#result !== undefined) return;
    this.#result = this.#signal.aborted ? null : result;
    const steps = this.#whenReady;
    this.#whenReady = null;
    steps?.();
  }

  /** Hands a request to the host; `start` gets what to call with its answer and returns the request's id. */
  #request(url, start) {
    const signal = this.#signal;
    const onAbort = () => {
      gate.abortFetch(id);
      this.#ready(null);
    };
    const id = start((answer) => {
      signal.removeEventListener('abort', onAbort);
      const { error, ...loaded } = JSON.parse(answer);
      if (error !== undefined && !signal.aborted) reportResourceError(this, url, new Error(error));
      this.#ready(error === undefined ? this.#runnable(loaded, url) : null);
    });
    signal.addEventListener('abort', onAbort, { once: true });
  }

  #fetchOptions() {
    const document = this.#preparationDocument;
    return {
      ...corsSettings(this),
      integrity: this.getAttributeNS(null, 'integrity') ?? '',
      referrer: document.URL,
      window: realms.realmOf(document._globalObject)?.id,
      initiator: 'script',
    };
  }

  #load(url) {
    const document = this.#preparationDocument;
    if (this.#type === 'module') {
      this.#loadModule({ url }, url);
      return;
    }
    const encoding = labelToName(this.getAttributeNS(null, 'charset')) || document._encoding;
    const request = JSON.stringify({ url, ...this.#fetchOptions(), encoding });
    this.#request(url, (done) => gate.fetchScript(request, done));
  }

  #loadInlineModule(source) {
    const document = this.#preparationDocument;
    this.#loadModule({ source, name: document.URL, ...sourcePosition(this) }, document.URL);
  }

  #loadModule(module, url) {
    const document = this.#preparationDocument;
    const { credentials, ...options } = this.#fetchOptions();
    const request = JSON.stringify({
      ...options,
      // Modules are always fetched with CORS; without the attribute as with `crossorigin=anonymous`.
      credentials: this.hasAttributeNS(null, 'crossorigin') ? credentials : 'same-origin',
      base: document.baseURLSerialized(),
      ...module,
    });
    this.#request(url, (done) => gate.loadModule(document._globalObject, request, done));
  }

  #runnable({ handle, muted = false }, url) {
    const document = this.#preparationDocument;
    const window = document._globalObject;
    const run = this.#type === 'module' ? gate.runModule : gate.runFetchedScript;
    return { run: () => attempt(window, url, muted, () => run(window, handle)) };
  }

  #inlineScript(source) {
    const document = this.#preparationDocument;
    const window = document._globalObject;
    const { URL: url } = document;
    const { line, column } = sourcePosition(this);
    const base = document.baseURLSerialized();
    return { run: () => attempt(window, url, false, () => gate.runScript(window, source, url, line, column, base)) };
  }

  #importMap(source) {
    const document = this.#preparationDocument;
    const window = document._globalObject;
    const base = document.baseURLSerialized();
    return {
      run: () => {
        const problem = gate.registerImportMap(window, source, base);
        if (problem !== '') reportException(window, new window.TypeError(problem), document.URL);
      },
    };
  }

  // https://html.spec.whatwg.org/multipage/scripting.html#execute-the-script-element
  #execute() {
    let loaded;
    try {
      const document = this._ownerDocument;
      if (document._isDestroyed || this.#preparationDocument !== document) return undefined;
      const result = this.#result;
      // What was ready before its document stopped loading still runs, unless it was the parser's.
      if (this.#signal.aborted && (this.#parserDocument !== null || result === null)) return undefined;
      if (result === null) {
        fireAnEvent('error', this);
        return undefined;
      }
      const guardsWrites = this.#isExternal || this.#type === 'module';
      if (guardsWrites) document._ignoreDestructiveWritesCounter++;
      const outer = document._currentScript;
      document._currentScript = this.#type !== 'classic' || isShadowRoot(this.getRootNode()) ? null : this;
      try {
        if (canRunScript(document)) result.run();
      } finally {
        document._currentScript = outer;
        if (guardsWrites) document._ignoreDestructiveWritesCounter--;
      }
      // `load` comes after the microtasks that the script left behind.
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

  set text(text) {
    this.textContent = text;
  }

  get async() {
    return this.#forceAsync || this.hasAttributeNS(null, 'async');
  }

  set async(value) {
    this.#forceAsync = false;
    if (value) this.setAttributeNS(null, 'async', '');
    else this.removeAttributeNS(null, 'async');
  }
}

function attempt(window, url, muted, run) {
  try {
    run();
  } catch (error) {
    reportException(window, error, url, muted);
  }
}

/** Where an element's text begins in its document's source, from 0. */
function sourcePosition(element) {
  for (const child of element._children()) {
    const location = child.nodeType === nodeTypes.TEXT_NODE ? child.sourceCodeLocation : null;
    if (location) return { line: location.startLine - 1, column: location.startCol - 1 };
  }
  return { line: 0, column: 0 };
}

function canRunScript(document) {
  const window = document._defaultView;
  return (
    window !== null && !document._isDestroyed && !document._scriptingDisabled && document._globalObject._document === document
  );
}

module.exports = { implementation: HTMLScriptElementImpl };
