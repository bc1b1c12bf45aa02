// What the modules of a page thread and those in its windows give each other.

import type { MessagePort } from 'node:worker_threads';

import type { Addon } from 'selfprof/internal/native.js';
import type { FetchDescription, ResourceDescription } from 'selfprof/internal/timing/types.js';

/** A value that `serialize` of structured-clone.cjs has written. */
export interface CloneRecord {
  /** What V8's serializer has written. */
  bytes: ArrayBuffer;
  /** The transferred buffers. */
  buffers: ArrayBuffer[];
  shared: SharedArrayBuffer[];
  /** Ports of Node's, of the transferred message ports. */
  ports: MessagePort[];
  /** The other platform objects, as `serialize` of their platform describes them. */
  objects: any[];
}

/** Writes a value: returns its bytes and the transferred buffers. The functions belong to the value's realm. */
export type ValueWriter = (
  value: unknown,
  isHostObject: (object: object) => boolean,
  writeHostObject: (object: object) => unknown,
  shareMemory: (buffer: SharedArrayBuffer) => void,
  dataCloneError: (message: string) => never,
  transferred: object[],
) => unknown[] | undefined;

/** Reads what was written, into the realm of `anchor`. */
export type ValueReader = (
  bytes: ArrayBuffer,
  hostObjects: object[],
  shared: SharedArrayBuffer[],
  transferred: ArrayBuffer[],
  anchor: object,
) => unknown;

/** The bytes of a Blob or of a request's body, with their MIME type. */
export interface TypedBytes<Type = string> {
  bytes: Uint8Array;
  type: Type;
}

/** jsdom's objects, for structured clone and for what else our modules in a window ask about them. */
export interface WindowPlatform {
  write: ValueWriter;
  read: ValueReader;
  /** Makes a `DataCloneError`. */
  dataCloneError(message: string): Error;
  /**
   * What describes a platform object; undefined for an ordinary object; a message, why it cannot be cloned. Throws
   * nothing.
   */
  serialize(object: object): unknown;
  deserialize(data: any): object;
  /** Makes a transferred message port: set by ports.cjs. */
  receive?(pipe: MessagePort): object;
  /** Whether a value is an error of any realm. */
  isError(value: unknown): boolean;
  /** Whether a value is an `ArrayBuffer`, or a shared one, of any realm. */
  isArrayBuffer(value: unknown): boolean;
  /** Objects of this interface cannot be cloned. */
  refuse(Interface: { prototype: object }): void;
  blobOf(object: unknown): TypedBytes | undefined;
  bodyOf(object: unknown): TypedBytes<string | null> | undefined;
}

/** Gets the answer to a request, as JSON, and the bytes that belong to it. */
export type OnAnswer = (answer: string, bytes: Uint8Array) => void;

/** What the thread says of a window's document. */
export interface WindowDescription {
  isIsolated: boolean;
  isSecure: boolean;
  /** On the addon's clock, in milliseconds. */
  origin: number;
  /** On the clock of the Unix epoch, in milliseconds. */
  timeOrigin: number;
  /** How the document was fetched; undefined for one that was not. */
  loading?: FetchDescription;
}

/** The times of a fetch are on the window's own clock: see page/loading/resource-timing.cjs. */
export type { FetchDescription };

/** What was thrown, in words. */
export interface ErrorDescription {
  name: string;
  message: string;
  stack: string;
}

/** The outcome of a script that the page's user had run. */
export type EvaluationOutcome = { value: CloneRecord } | { error: ErrorDescription };

/** The outcome of a WebDriver command: JSON, or the protocol's error. */
export type CommandOutcome =
  | { text: string; error?: undefined }
  | { text?: undefined; error: { code: string; message: string; stack?: string } };

/** What the thread knows about elements and windows that WebDriver's clients name. */
export interface WebDriverReferences {
  describe(value: object): { text?: string; isCollection?: boolean; error?: { code: string; message: string } };
  resolve(object: Record<string, unknown>): { value?: unknown; error?: { code: string; message: string } } | undefined;
}

/** How the thread makes and reads values of a window's realm. */
export type WindowCode = typeof import('./window-program.cjs') & {
  /** Functions of the realm that call their argument, by the profiler marker of the samples taken meanwhile. */
  markerFunctions: Record<'parse' | 'style', <Result>(work: () => Result) => Result>;
};

/** What a window is made with. */
export interface WindowSettings {
  isIsolated: boolean;
  isSecure: boolean;
  origin: number;
  timeOrigin: number;
  queueTask: (task: () => void) => void;
  reportException: (error: unknown) => void;
  /** Of a document: what `performance.timing` and `performance.navigation` show. */
  timing?: Record<string, number>;
  navigation?: Record<string, unknown>;
  /** Of a document: the entry of its navigation. A worker's description has plain data here, which it does not use. */
  loading?: any;
  isTopLevel?: boolean;
  /** Of a worker. */
  scope?: WorkerScope;
}

export interface WorkerScope {
  url: string;
  origin: string;
  name: string;
  type: 'classic' | 'module';
  userAgent: string;
  crypto: object;
  isIsolated: boolean;
}

/** A worker, as the window that started it knows it. */
export interface StartedWorker {
  post(record: CloneRecord): void;
  end(): void;
}

/** What `require('selfprof:host')` gives in a window's realm: functions of the thread. */
export interface WindowHost {
  /** Calls a function of the page: what it throws is noted. */
  apply(callee: (...parameters: never[]) => unknown, self: unknown, parameters: unknown[]): unknown;
  inspect(value: unknown): string;
  platform: WindowPlatform;
  process: { emitWarning(text: string): void };
  setImmediate(callback: () => void): { unref(): void };
  now(): number;
  setNow(clock: () => number): void;
  document(): WindowDescription;
  /** Lets other windows of the thread find the members of an interface. */
  shareMembers(prototype: object, Interface: string, members: Map<PropertyKey, PropertyDescriptor>): void;
  /**
   * A member of an interface, of the window that an object belongs to; undefined when the object is not of that
   * interface.
   */
  memberOf(
    value: unknown,
    Interface: string,
    member: PropertyKey,
    kind: 'value' | 'get' | 'set',
  ): ((...parameters: any[]) => unknown) | undefined;
  eventCounts(): [type: string, count: number][];
  interactionCount(): number;
  isElement(value: unknown): boolean;
  isDocument(value: unknown): boolean;
  hasListeners(target: object, type: string): boolean;
  fireEvent(target: object, type: string): void;
  fireMessage(target: object, type: string, init: object): void;
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array<ArrayBuffer>;
  parseMediaQuery(text: string): { text: string; matches(): boolean };
  baseUrl(): string;
  referrer(): string;
  newHeaders(init: unknown, guard: string): Headers;
  createObjectUrl(bytes: Uint8Array, type: string): string;
  revokeObjectUrl(url: string): void;
  /** Sends a request, and returns what aborts it. */
  request(request: any, bytes: Uint8Array | undefined, onResponse: OnAnswer, onError: () => void): () => void;
  startWorker(request: any, worker: object, onMessage: (record: CloneRecord) => void): StartedWorker;
  newPipes(onPipes: (one: MessagePort, other: MessagePort) => void): void;
  writePipe(pipe: MessagePort, record: CloneRecord): void;
  readPipe(pipe: MessagePort, onRecord: (record: CloneRecord) => void): void;
  closePipe(pipe: MessagePort): void;
  /** Opens a channel to the documents and workers of the page that have this origin. */
  openChannel(
    name: string,
    onRecord: (record: CloneRecord, origin: string) => void,
  ): { post(record: CloneRecord): void; close(): void };
  /** Node's interfaces of streams, by name. */
  streams: Record<string, any>;
  /** Node's. */
  CryptoKey: any;
  encrypt(
    operation: string,
    parameters: unknown[],
    onDone: (value: unknown) => void,
    onFail: (name: string, message: string) => void,
  ): void;
  /** Node's ports behind the message ports of the thread. */
  pipes: {
    get(port: object): MessagePort | undefined;
    set(port: object, pipe: MessagePort): void;
    /** Takes the pipe from a port, which is of no use afterwards. */
    take(port: object): MessagePort | undefined;
  };
  /** What `toString` gives for functions of all windows of the thread; an empty text for native functions. */
  functionTexts: { get(value: unknown): string | undefined; set(part: object, text: string): void };
}

/** A script that was fetched: see page/loading/loader.cjs. */
export interface FetchedScript {
  source: string;
  url: string;
  base: string;
  muted: boolean;
}

/** `WindowHost` of a worker. */
export interface WorkerHost extends WindowHost {
  importScript(url: string): FetchedScript | undefined;
  runImported(script: FetchedScript): unknown;
  runText(text: string): unknown;
  setTimer(task: () => void, delay: number, repeats: boolean): number;
  clearTimer(id: number): void;
  atob(text: string): string | undefined;
  btoa(text: string): string | undefined;
  log(method: string, values: unknown[]): void;
  reportException(error: unknown): void;
  postToOwner(record: CloneRecord): void;
  close(): void;
}

/** What stands for the addon in a window: see page/windows/window-native.cjs. */
export interface WindowAddon
  extends Pick<Addon, 'Chunks' | 'Timeline' | 'abandon' | 'close' | 'open' | 'releaseReadProfiles' | 'takeChunk'> {
  offers(): ReturnType<Addon['offers']> & { concurrentSessions: number; mode: 'eager' | 'lazy' | undefined };
  /** In bytes. */
  heapSizes(): { total: number; used: number; limit: number };
  listenToLongTasks(listener: (name: string, startTime: number, duration: number) => void): void;
  listenToResources(listener: (resource: ResourceDescription) => void): void;
}
