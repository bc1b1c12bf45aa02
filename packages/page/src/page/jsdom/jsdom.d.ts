// jsdom's inner modules publish no types. These say which of their members our modules use; everything else of them is
// `any`.

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
    _children(): Iterable<NodeImpl>;
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

declare module 'jsdom/lib/jsdom/living/nodes/HTMLElement-impl.js' {
  export const implementation: new (...parameters: any[]) => Jsdom.ElementImpl;
}

// Everything else of jsdom's modules, and of those that one of ours stands in for, is `any`.
declare module 'jsdom/lib/*';
declare module 'original:lib/*';

// jsdom's own dependencies.

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

declare module '@exodus/bytes/encoding.js';
declare module 'html-encoding-sniffer';
declare module 'saxes';
declare module 'webidl-conversions';
declare module 'whatwg-url/webidl2js-wrapper.js';
