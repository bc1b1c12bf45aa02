// jsdom's inner modules publish no types. These say which of their members our modules use; everything else of them is `any`.

declare namespace Jsdom {
  /** The global object of a window, or of a worker. */
  interface Window {
    _document: DocumentImpl;
    _globalObject: Window;
    _globalProxy: Window;
    _origin: string;
    _settings: { virtualConsole: VirtualConsole; userAgent: string; dispatcher?: { close(): void } };
    _frameElement: ElementImpl | null;
    [member: string]: any;
  }

  interface VirtualConsole {
    emit(method: string, ...values: any[]): void;
  }

  /** The implementation behind an object that pages see. */
  interface Impl {
    _globalObject: Window;
    _dispatch(event: any): boolean;
    [member: string]: any;
  }

  interface NodeImpl extends Impl {
    _ownerDocument: DocumentImpl;
    nodeType: number;
    firstChild: NodeImpl | null;
    parentNode: NodeImpl | null;
    isConnected: boolean;
    appendChild(node: NodeImpl): NodeImpl;
    removeChild(node: NodeImpl): NodeImpl;
    getRootNode(options?: { composed?: boolean }): NodeImpl;
  }

  interface DocumentImpl extends NodeImpl {
    URL: string;
    _URL: UrlRecord;
    _origin: string;
    _defaultView: Window | null;
    _isDestroyed: boolean;
    _parentDocument: DocumentImpl | null;
    _childDocuments: Set<DocumentImpl>;
    baseURLSerialized(): string;
    encodingParseAURL(text: string): UrlRecord | null;
    _delayLoadEvent(): () => void;
    _queueATask(task: () => void): void;
  }

  interface ElementImpl extends NodeImpl {
    _localName: string;
    getAttributeNS(namespace: string | null, name: string): string | null;
    setAttributeNS(namespace: string | null, name: string, value: string): void;
    removeAttributeNS(namespace: string | null, name: string): void;
    hasAttributeNS(namespace: string | null, name: string): boolean;
  }

  /** whatwg-url's URL record. */
  interface UrlRecord {
    scheme: string;
    fragment: string | null;
    [member: string]: any;
  }

  /** A module of generated/idl: an interface of the platform. */
  interface Interface {
    is(value: unknown): boolean;
    isImpl(value: unknown): boolean;
    create(window: Window, parameters?: unknown[]): any;
    createImpl(window: Window, parameters: unknown[], data: object): any;
    convert(window: Window, value: unknown, options?: { context?: string }): any;
    install(window: Window, globalNames: string[]): void;
    setup(wrapper: object, window: Window): void;
  }
}

declare module 'jsdom/lib/generated/idl/utils.js' {
  /** `null` or `undefined` for other values. */
  export function implForWrapper(wrapper: unknown): any;
  export function wrapperForImpl(impl: unknown): any;
  /** The same; a value that is no implementation is returned as it is. */
  export function tryWrapperForImpl(impl: unknown): any;
  export function isObject(value: unknown): boolean;
  export const implSymbol: symbol;
  export const wrapperSymbol: symbol;
}

declare module 'jsdom/lib/generated/idl/*.js' {
  const Interface: Jsdom.Interface;
  export = Interface;
}

declare module 'jsdom/lib/jsdom/browser/Window.js' {
  export function createWindow(options: object): Jsdom.Window;
}

declare module 'jsdom/lib/jsdom/living/xhr/xhr-utils.js' {
  const utils: {
    performFetch(dispatcher: unknown, config: { uploadListener: boolean }, signal: AbortSignal): Promise<unknown>;
  };
  export = utils;
}

declare module 'jsdom/lib/jsdom/living/events/*.js' {
  export const implementation: { prototype: any };
}

declare module 'jsdom/lib/jsdom/living/webstorage/Storage-impl.js' {
  export const implementation: { prototype: any };
}

declare module 'jsdom/lib/jsdom/living/window/History-impl.js' {
  export const implementation: { prototype: { _sharedPushAndReplaceState: (...parameters: unknown[]) => void } };
}

declare module 'jsdom/lib/jsdom/living/window/SessionHistory.js' {
  const SessionHistory: { prototype: { traverseHistory: (...parameters: unknown[]) => void } };
  export = SessionHistory;
}

declare module 'jsdom/lib/jsdom/living/nodes/Document-impl.js' {
  export const implementation: { prototype: any };
}

declare module 'jsdom/lib/jsdom/living/nodes/HTMLA*Element-impl.js' {
  export const implementation: {
    prototype: {
      _chooseABrowsingContext: (name: string, source: Jsdom.Window) => Jsdom.Window | null;
      _followAHyperlink: () => void;
    };
  };
}

declare module 'jsdom/lib/jsdom/living/nodes/HTMLElement-impl.js' {
  export class implementation {
    _ownerDocument: Jsdom.DocumentImpl;
    _localName: string;
    isConnected: boolean;
    textContent: string | null;
    _attributeChangeSteps(
      localName: string,
      oldValue: string | null,
      value: string | null,
      namespace: string | null,
    ): void;
    _childrenInsertedSteps(): void;
    _removingSteps(isSubtreeRoot: boolean, oldAncestor: object): void;
    getAttributeNS(namespace: string | null, name: string): string | null;
    setAttributeNS(namespace: string | null, name: string, value: string): void;
    removeAttributeNS(namespace: string | null, name: string): void;
    hasAttributeNS(namespace: string | null, name: string): boolean;
    getRootNode(): Jsdom.NodeImpl;
    _children(): Iterable<Jsdom.NodeImpl>;
  }
}

declare module 'jsdom/lib/jsdom/living/helpers/binary-data.js' {
  export function concatTypedArrays(chunks: Uint8Array[]): Uint8Array;
}

declare module 'jsdom/lib/jsdom/living/helpers/create-element.js' {
  export function createElement(document: Jsdom.DocumentImpl, name: string, namespace: string): Jsdom.ElementImpl;
}

declare module 'jsdom/lib/jsdom/living/helpers/encoding.js' {
  export function utf8Decode(bytes: Uint8Array): string;
}

declare module 'jsdom/lib/jsdom/living/helpers/events.js' {
  export function createAnEvent(type: string, window: Jsdom.Window, Interface: Jsdom.Interface, init?: object): any;
  /** Returns whether nobody prevented the default. */
  export function fireAnEvent(
    type: string,
    target: object,
    Interface?: Jsdom.Interface,
    init?: object,
    hasDocumentAsTarget?: boolean,
  ): boolean;
}

declare module 'jsdom/lib/jsdom/living/helpers/page-transition-event.js' {
  export function fireAPageTransitionEvent(type: string, window: Jsdom.Window, isPersisted: boolean): void;
}

declare module 'jsdom/lib/jsdom/living/helpers/focusing.js' {
  export function isFocusableAreaElement(element: Jsdom.NodeImpl): boolean;
}

declare module 'jsdom/lib/jsdom/living/helpers/form-controls.js' {
  export function isDisabled(element: Jsdom.ElementImpl): boolean;
}

declare module 'jsdom/lib/jsdom/living/helpers/namespaces.js' {
  export const HTML_NS: string;
}

declare module 'jsdom/lib/jsdom/living/helpers/resource-errors.js' {
  export function reportResourceError(element: object, url: string, error: Error): void;
}

declare module 'jsdom/lib/jsdom/living/helpers/shadow-dom.js' {
  export function isShadowRoot(node: Jsdom.NodeImpl): boolean;
}

declare module 'jsdom/lib/jsdom/living/helpers/strings.js' {
  export function asciiLowercase(text: string): string;
  export function stripLeadingAndTrailingASCIIWhitespace(text: string): string;
}

declare module 'jsdom/lib/jsdom/living/helpers/text.js' {
  export function childTextContent(element: object): string;
}

declare module 'jsdom/lib/jsdom/living/css/helpers/computed-style.js' {
  export function getComputedStylePropertyValue(element: Jsdom.ElementImpl, property: string): string | undefined;
}

declare module 'jsdom/lib/jsdom/living/css/helpers/selectors.js' {
  export function query(root: Jsdom.NodeImpl, selector: string, isFirstOnly: false): Iterable<Jsdom.ElementImpl>;
}

declare module 'jsdom/lib/jsdom/living/css/match/media.js' {
  /** For a list that `parseGrammar` made. */
  function match(list: unknown, window: Jsdom.Window): boolean | 'unknown';
  export = match;
}

declare module 'jsdom/lib/jsdom/living/css/parse/parser.js' {
  export function parseGrammar(text: string, grammar: string, window: Jsdom.Window): unknown;
}

declare module 'jsdom/lib/jsdom/living/css/serialize.js' {
  export function serializeComponentValues(values: unknown): string;
}

declare module 'jsdom/lib/jsdom/living/css/resolve.js' {
  export let getResolvedPropertyValue: (property: string, element: Jsdom.ElementImpl) => string;
  export let getComputedPropertyNames: (element: Jsdom.ElementImpl) => string[];
}

declare module 'jsdom/lib/jsdom/living/node-type.js' {
  export const TEXT_NODE: number;
}

declare module 'jsdom/lib/jsdom/living/xhr/multipart-form-data.js' {
  export function serializeEntryList(entries: object[]): { boundary: Uint8Array; outputChunks: Uint8Array[] };
}

// Modules of jsdom that one of ours stands in for; it requires the original by this name.

declare module 'original:lib/jsdom/browser/parser/index.js' {
  export function parseFragment(markup: string, context: Jsdom.ElementImpl, scriptingMode: unknown): Jsdom.NodeImpl[];
  export function parseIntoDocument(markup: string, document: Jsdom.DocumentImpl): void;
  export const HTMLDocumentParser: unknown;
  export const XMLDocumentParser: unknown;
}

declare module 'original:lib/jsdom/living/helpers/create-event-accessor.js' {
  export let getCurrentEventHandlerValue: (target: Jsdom.Impl, event: string) => unknown;
}

declare module 'original:lib/jsdom/living/xhr/XMLHttpRequest-impl.js' {
  export const implementation: { prototype: any };
}

declare module 'original:lib/jsdom/living/window-properties.js' {
  export let create: (prototype: object, window: object) => object;
  export let elementAttached: (element: Jsdom.ElementImpl) => void;
  export let elementDetached: (element: Jsdom.ElementImpl) => void;
  export let elementAttributeModified: (
    element: Jsdom.ElementImpl,
    name: string,
    value: string | null,
    oldValue: string | null,
    namespace: string | null,
  ) => void;
}

// jsdom's own dependencies.

declare module '@exodus/bytes/encoding.js' {
  export function labelToName(label: string | null): string | null;
  export function legacyHookDecode(bytes: Uint8Array, encoding: string): string;
}

declare module 'html-encoding-sniffer' {
  function sniffHTMLEncoding(
    bytes: Uint8Array,
    options: { xml: boolean; transportLayerEncodingLabel?: string; defaultEncoding: string },
  ): string;
  export = sniffHTMLEncoding;
}

declare module 'whatwg-mimetype' {
  export class MIMEType {
    constructor(text: string);
    static parse(text: string): MIMEType | null;
    essence: string;
    parameters: Map<string, string>;
    isXML(): boolean;
    isHTML(): boolean;
    isJavaScript(options?: { prohibitParameters?: boolean }): boolean;
  }
}

declare module 'whatwg-url' {
  export function parseURL(text: string): Jsdom.UrlRecord | null;
  export function serializeURL(url: Jsdom.UrlRecord, excludeFragment?: boolean): string;
  export function serializeURLOrigin(url: Jsdom.UrlRecord): string;
  export function percentDecodeString(text: string): Uint8Array;
}

declare module 'webidl-conversions' {
  export function DOMString(value: unknown, options: { context: string; globals: Jsdom.Window }): string;
}

declare module 'whatwg-url/webidl2js-wrapper.js' {
  export const URL: Jsdom.Interface;
  export const URLSearchParams: Jsdom.Interface;
}
