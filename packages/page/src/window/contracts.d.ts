// What the realms of a page thread give each other. Each type here is a border between a trusted realm and one that a page may have taken
// over, so what arrives over it is checked, whatever its type says.

/** What an object is by its internal slots, which no code can fake: `Error`, `Date`, `Proxy` and so on, or what `typeof` says. */
export type KindOf = (value: unknown) => string;

/** How code of a page completed: it returned, it threw, or the host failed (any other text is the host's message). */
export type Completion = string;

/** A value that `serialize` of structured-clone.cjs has written. */
export interface CloneRecord {
  /** What V8's serializer has written. */
  bytes: ArrayBuffer;
  /** Shows that a page has not changed the bytes: see cloning/value-serializer.cjs. */
  tag: string;
  /** The transferred buffers. */
  buffers: ArrayBuffer[];
  shared: SharedArrayBuffer[];
  /** The transferred platform objects, as `transfer` of their platform describes them. */
  ports: any[];
  /** The other platform objects, as `serialize` of their platform describes them. */
  objects: any[];
  /** Of a result for the user's thread: how many bytes it takes in a heap, see cloning/serialized-size.cjs. */
  heap?: number;
  /** Of a result: what the shapes of its objects cost, see cloning/object-shapes.cjs. */
  shapeCost?: number;
}

/** Writes a value: returns its bytes, the transferred buffers and the tag. The functions belong to the value's realm. */
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
  bytes: unknown,
  tag: unknown,
  hostObjects: unknown,
  shared: unknown,
  transferred: unknown,
  anchor: object,
) => unknown;

/** A port of Node's, as the DOM realm sees it. */
export interface Pipe {
  onmessage: ((event: { data: any }) => void) | null;
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
  start?(): void;
  close(): void;
}

/** One end of a message channel between threads. */
export interface Channel {
  pipe: Pipe;
  /** How many bytes wait at the other end; both ends share the counter. */
  out: Int32Array;
  /** How many bytes wait at this end; undefined until the other end has sent its counter. */
  into: Int32Array | undefined;
  /** An upper bound of the bytes that this end has posted and that wait; undefined for none. */
  posted?: number | undefined;
}

/** Objects of the host in structured clone: those that ECMAScript does not define. */
export interface Platform {
  write: ValueWriter;
  read: ValueReader;
  /** Makes a `DataCloneError`. */
  dataCloneError(message: string): Error;
  /** What describes a platform object; undefined for an ordinary object; a message, why it cannot be cloned. Throws nothing. */
  serialize?(object: object): unknown;
  deserialize?(data: any): object;
  /** Whether the value goes to a realm of the same agent cluster. */
  mayShareMemory?: boolean;
  /** Whether the value comes from such a realm. */
  mayReceiveMemory?: boolean;
  isTransferable?(object: object): boolean;
  /** What describes a transferable platform object, which it detaches. */
  transfer?(object: object): unknown;
  /** The transferred object. */
  receive?(data: any): object;
}

/** The bytes of a Blob or of a request's body, with their MIME type. */
export interface TypedBytes<Type = string> {
  bytes: Uint8Array;
  type: Type;
}

/** `Platform` of a window, with what its own modules ask about jsdom's objects. */
export interface WindowPlatform extends Platform {
  kindOf: KindOf;
  /** Objects of this interface cannot be cloned. */
  refuse(Interface: { prototype: object }): void;
  blobOf(object: unknown): TypedBytes | undefined;
  bodyOf(object: unknown): TypedBytes<string | null> | undefined;
}

/** Gets the answer of the main realm, as JSON, and the bytes that belong to it. */
export type OnAnswer = (answer: string, bytes: Uint8Array) => void;

/** The functions of the main realm that dom-realm/main-realm-bridge.cjs gets, and nothing else in the DOM realm. */
export interface MainRealmFunctions {
  /** What the last function that returned a `Completion` returned or threw. */
  take(): unknown;
  timeOrigin: number;
  now(): number;
  /** Sends a message to the user's thread: JSON, and what it has of a record. Returns whether there was room for it. */
  postToHost(text: string, record: CloneRecord | undefined): boolean;
  enter(callback: () => void): void;
  setTimer(callback: () => void, delay: number, repeats: boolean): number;
  clearTimer(id: number): void;
  setImmediate(callback: () => void): void;
  /** Runs the promise jobs that are due, unless code of a page is on the stack. */
  runPromiseJobs(): void;
  decode(label: string, fatal: boolean, ignoreBOM: boolean, view?: ArrayBufferView | ArrayBuffer): string | undefined;
  encodeInto(text: string, view: Uint8Array): void;
  utf8Length(text: string): number;
  atob(text: string): string | undefined;
  btoa(text: string): string | undefined;
  randomFill(view: Uint8Array): void;
  randomUUID(): string;
  kindOf: KindOf;
  writeValue(...parameters: Parameters<ValueWriter>): Completion;
  readValue(...parameters: Parameters<ValueReader>): Completion;
  /** A function of the DOM realm that calls functions of a page, as `Reflect.apply`. What they throw is noted for `takeMuted`. */
  apply(callee: (...parameters: never[]) => unknown, self: unknown, parameters: unknown[]): unknown;
  /** Whether an exception comes from a muted script. If so, this tells the page's user about it, so call it once for each exception. */
  takeMuted(window: object, thrown: unknown): boolean;
  /** `line:column` of a syntax error, empty for other errors. */
  syntaxErrorPosition(error: unknown): string;
  createContext(
    document: number,
    frame: number,
    mayBeIsolated: boolean,
    around: number,
    allowsScripts: boolean,
  ): Completion;
  newNamedProperties(window: object, prototype: object, original: object, names: Set<string>): Completion;
  enterWindow(window: object, host: WindowHost): Completion;
  /** A script of the page's document, which may not allow scripts. */
  runScript(window: object, source: string, url: string, line: number, column: number, base: string): Completion;
  /** A script of the page's user. */
  runUserScript(window: object, source: string, name: string, column: number, base: string): Completion;
  checkFunctionBody(window: object, parameters: string, body: string): Completion;
  runFetchedScript(window: object, handle: number): Completion;
  loadModule(window: object, request: string, onDone: OnAnswer): number;
  runModule(window: object, handle: number): Completion;
  /** Returns what is wrong with the import map; empty when nothing is. */
  registerImportMap(window: object, text: string, base: string): string;
  closeWindow(window: object): void;
  fetchScript(request: string, onDone: OnAnswer): number;
  fetchFrame(request: string, onDone: OnAnswer): number;
  /** The window whose script calls, by its global object: undefined when no script of a window does. */
  callingWindow(): object | undefined;
  describeWindow(window: object): Completion;
  useDocument(window: object, document: number): void;
  fetch(request: string, body: Uint8Array | undefined, onDone: OnAnswer): number;
  abortFetch(id: number): void;
  createObjectUrl(bytes: Uint8Array, type: string): string;
  revokeObjectUrl(url: string): void;
  newPipes(onPipes: (one: Pipe, other: Pipe) => void): void;
  startWorker(window: object, request: string, onPipe: (pipe: Pipe) => void, onFailure: () => void): number;
  endWorker(id: number): void;
  importScript(url: string): string;
  closeWorker(): void;
  getCookies(window: object, url: string): string;
  setCookie(window: object, url: string, text: string): void;
}

/** What `require('selfprof:main-realm')` gives in the DOM realm: functions of that realm, which complete as its own do. */
export interface MainRealmBridge
  extends Omit<
    MainRealmFunctions,
    | 'take'
    | 'createContext'
    | 'newNamedProperties'
    | 'enterWindow'
    | 'runScript'
    | 'runUserScript'
    | 'checkFunctionBody'
    | 'runFetchedScript'
    | 'runModule'
    | 'describeWindow'
    | 'writeValue'
    | 'readValue'
  > {
  writeValue: ValueWriter;
  readValue: ValueReader;
  createContext(document: number, frame: number, mayBeIsolated: boolean, around: number, allowsScripts: boolean): any;
  newNamedProperties(window: object, prototype: object, original: object, names: Set<string>): object;
  enterWindow(window: object, host: WindowHost): WindowCode;
  runScript(window: object, source: string, url: string, line: number, column: number, base: string): any;
  runUserScript(window: object, source: string, name: string, column: number, base: string): any;
  checkFunctionBody(window: object, parameters: string, body: string): void;
  runFetchedScript(window: object, handle: number): unknown;
  runModule(window: object, handle: number): void;
  /** JSON of a `WindowDescription`. */
  describeWindow(window: object): string;
}

/** What the main realm says of a window's document. */
export interface WindowDescription {
  isIsolated: boolean;
  isSecure: boolean;
  mayProfile: boolean;
  /** On the addon's clock, in milliseconds. */
  origin: number;
  /** On the clock of the Unix epoch, in milliseconds. */
  timeOrigin: number;
  /** How the document was fetched; undefined for one that was not. */
  loading?: FetchDescription;
}

/** The times of a fetch on the window's own clock, and what else it may know: see main-realm/resource-timing.cjs. */
export interface FetchDescription {
  fetchStart: number;
  responseEnd: number;
  redirectStart: number;
  redirectEnd: number;
  domainLookupStart: number;
  domainLookupEnd: number;
  connectStart: number;
  connectEnd: number;
  secureConnectionStart: number;
  requestStart: number;
  responseStart: number;
  redirectCount: number;
  protocol: string;
  status: number;
  encodedSize: number;
  decodedSize: number;
  transferSize: number;
  contentType: string;
  contentEncoding: string;
}

/** What was thrown, in words. */
export interface ErrorDescription {
  name: string;
  message: string;
  stack: string;
}

/** The outcome of a script that the page's user had run. */
export type EvaluationOutcome = { value: CloneRecord } | { error: ErrorDescription };

/** The outcome of a WebDriver command: JSON, or the protocol's error. */
export type CommandOutcome = { text: string } | { error: { code: string; message: string; stack?: string } };

/** What the DOM realm knows about elements and windows that WebDriver's clients name. */
export interface WebDriverReferences {
  describe(value: object): { text?: string; isCollection?: boolean; error?: { code: string; message: string } };
  resolve(object: Record<string, unknown>): { value?: unknown; error?: { code: string; message: string } } | undefined;
}

/** What window-realm/window-program.cjs exports: how the main realm and the DOM realm make and read values of a window's realm. */
export interface WindowCode {
  allocate(
    name: string,
    length: number,
  ): Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
  describe(error: unknown): ErrorDescription;
  describeModule(meta: object, url: string, resolve: (specifier: string) => unknown): void;
  deserialize(record: CloneRecord): { value: unknown; transferred: object[] };
  /** Does work of the host for the window's document under a profiler marker. */
  runWithMarker<Result>(marker: 'parse' | 'style', work: () => Result): Result;
  emptyObject(): Record<string, any>;
  /** Calls a function with the parameters in the record, which is undefined when the value is the result itself. */
  evaluate(callee: unknown, record: CloneRecord | undefined, onDone: (outcome: EvaluationOutcome) => void): void;
  execute(
    callee: (...parameters: any[]) => unknown,
    parameters: unknown[],
    references: WebDriverReferences,
    isAsync: boolean,
    onDone: (outcome: CommandOutcome) => void,
  ): void;
  freeze<Value>(value: Value): Readonly<Value>;
  install(settings: WindowSettings): void;
  makeError(name: string, message: string): Error;
  /** Whether a promise was made in the window's realm. */
  owns(promise: object): boolean;
  parse(text: string): any;
  /** Fires a message at a worker's global object. */
  receive(record: CloneRecord): void;
  serialize(value: unknown, transferList?: object[], mayShareMemory?: boolean): CloneRecord;
  settle(value: unknown, onFulfilled: (value: unknown) => void, onRejected: (reason: unknown) => void): void;
  setMarkerFunctions(
    parse: <Result>(work: () => Result) => Result,
    style: <Result>(work: () => Result) => Result,
  ): void;
  toJson(
    value: unknown,
    references: WebDriverReferences,
  ): { text: string; error?: undefined } | { text?: undefined; error: { code: string; message: string } };
  /** Sets what `toString` gives for a function. */
  setText(part: object, text: string): void;
  /** A function of the window's realm, as those of the platform are: it cannot be constructed. */
  wrap(name: string, call: (...parameters: any[]) => unknown, length: number): (...parameters: any[]) => unknown;
}

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
  /** Returns whether there was room for the message. */
  post(record: CloneRecord): boolean;
  end(): void;
}

/** Finds a member of an interface for an object; undefined when the object is not of that interface in the window. */
export type MemberFinder = (
  value: unknown,
  Interface: string,
  member: PropertyKey,
  kind: 'value' | 'get' | 'set',
) => ((...parameters: any[]) => unknown) | undefined;

/** What `require('selfprof:host')` gives in a window's realm: functions of the DOM realm. */
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
  /** Lets other windows of the thread find the members of interfaces that an object of this window has. */
  shareMembers(find: MemberFinder): void;
  /** The member for an object of another window. */
  memberOf: MemberFinder;
  eventCounts(): [type: string, count: number][];
  interactionCount(): number;
  isElement(value: unknown): boolean;
  isDocument(value: unknown): boolean;
  hasListeners(target: object, type: string): boolean;
  fireEvent(target: object, type: string): void;
  fireMessage(target: object, type: string, init: object): void;
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array<ArrayBuffer>;
  baseUrl(): string;
  referrer(): string;
  newHeaders(init: unknown, guard: string): Headers;
  createObjectUrl(bytes: Uint8Array, type: string): string;
  revokeObjectUrl(url: string): void;
  /** Sends a request, and returns what aborts it. */
  request(request: object, bytes: Uint8Array | undefined, onResponse: OnAnswer, onError: () => void): () => void;
  startWorker(request: object, worker: object, onMessage: (record: CloneRecord) => void): StartedWorker;
  newPipes(onPipes: (one: Channel, other: Channel) => void): void;
  /** Returns whether there was room for the message. */
  writePipe(channel: Channel, record: CloneRecord): boolean;
  readPipe(channel: Channel, onRecord: (record: CloneRecord) => void): void;
  closePipe(channel: Channel): void;
  /** The channels of the window's message ports. */
  pipes: {
    get(port: object): Channel | undefined;
    set(port: object, channel: Channel): void;
    /** Takes the channel from a port, which is of no use afterwards. */
    take(port: object): Channel | undefined;
  };
  /** What `toString` gives for functions of all windows of the thread; an empty text for native functions. */
  functionTexts: { get(value: unknown): string | undefined; set(part: object, text: string): void };
}

/** `WindowHost` of a worker. */
export interface WorkerHost extends WindowHost {
  importScript(url: string): { handle: number; muted: boolean; error?: string };
  runImported(handle: number): unknown;
  runText(text: string): unknown;
  setTimer(task: () => void, delay: number, repeats: boolean): number;
  clearTimer(id: number): void;
  atob(text: string): string | undefined;
  btoa(text: string): string | undefined;
  log(method: string, values: unknown[]): void;
  reportException(error: unknown): void;
  postToOwner(record: CloneRecord): boolean;
  close(): void;
}

/** Marks and measures that a window has collected for a session. */
export interface CollectedEntries {
  /** A JSON array of strings. */
  names: string;
  heads: Uint32Array;
  times: Float64Array;
  until: number;
  dropped: number;
  isCircular: boolean;
}

/** The functions of the main realm that window-realm/native-facade.cjs gets, and nothing else in the window's realm. */
export interface WindowFunctions {
  /** A JSON array of the names of a timeline's methods. */
  timelineMethods: string;
  listen(onFull: (session: number) => void, onChunk: (session: number) => void): void;
  listenToLongTasks(onTask: (name: string, startTime: number, duration: number) => void): void;
  listenToResources(onResource: (text: string) => void): void;
  /** JSON of the sizes that `performance.memory` shows. */
  heapSizes(): string;
  offers(): string;
  newChunks(): number;
  /** JSON of the session, or of a `code` and a `message`. */
  openSession(
    sampleInterval: number,
    maxBufferSize: number,
    bufferPolicy: string,
    maxChunks: number,
    includeEntries: boolean,
    includeSameOriginFrames: boolean,
    chunks: number,
  ): string;
  closeSession(
    session: number,
    format: string,
    collected: CollectedEntries | undefined,
    onDone: (trace: any) => void,
    onFailed: (message: string) => void,
  ): void;
  takeChunk(session: number, chunks: number): any;
  abandon(session: number): void;
  releaseReadProfiles(): void;
  newTimeline(origin: number, resolution: number, mark: number | undefined, measure: number | undefined): number;
  timelineCalls(handle: number): any;
  callTimeline(handle: number, method: string, ...parameters: unknown[]): any;
}

/** What the DOM realm's program gives the main realm. */
export interface DomProgram {
  /** Memory of the DOM realm, for the main realm to fill. */
  allocate(length: number): Uint8Array;
  /** Handles a message of the user's thread. */
  receive(message: any): void;
  /** `content` is the document's bytes; of a worker, the port to the object that started it. */
  open(description: string, content: any): void;
  /** A worker: its script has run for the first time, so messages may arrive. */
  start?(): void;
  setVisible(isVisible: boolean): void;
  /** The documents of the thread are about to go: their last events are fired. */
  unload?(): void;
  /** A frame of another thread asks to be navigated; `ticket` goes to `fetchFrame`. */
  navigateFrame?(frame: number, ticket: number): void;
  report(error: unknown, window?: object): void;
  reject(reason: unknown, promise: object): void;
}
