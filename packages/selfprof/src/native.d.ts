/**
 * The native addon, as crates/node exports it. test/native.test.mjs checks that each export is declared here and the
 * other way round.
 */

/** The marks and measures of a session, in columns. */
export interface CollectedEntries {
  names: string[];
  /** One number per entry: twice the index of its name, plus 1 for a measure. */
  heads: Uint32Array;
  /** Two numbers per entry: start time and duration, in milliseconds. */
  times: Float64Array;
  /** When the session ended: entries that begin later do not belong to it. */
  until: number;
  /** How many entries did not fit. */
  dropped: number;
  /** Whether entries that ended before the first sample are left out. */
  isCircular: boolean;
}

/** A trace in columns. Optional indices are stored plus 1, and 0 means absent. */
export interface TraceColumns {
  names: string[];
  resources: string[];
  /** Four numbers per frame: name, resource + 1, line, column. */
  frames: Uint32Array;
  /** Two numbers per stack: parent + 1, frame. */
  stacks: Uint32Array;
  /** One number per sample, in milliseconds since the time origin. */
  timestamps: Float64Array;
  /** Stack + 1, one per sample. */
  stackIds: Uint32Array;
  /** Index into selfprof-trace's `Marker` + 1, one per sample. */
  markers: Uint8Array;
  /** The entries, when the addon collected them. */
  entries?: CollectedEntries;
}

/** A finished recording in the format that was asked for. */
export interface TraceOutput {
  /** Columns for the format `object`, bytes for `json-gzip`. */
  trace: TraceColumns | Uint8Array<ArrayBuffer>;
  /** The time of the last sample that went into a chunk, in milliseconds. */
  lastChunkEnd?: number;
  /** How many samples V8 took but could not keep. */
  lost: number;
  /** Whether its stacks or frames took as much as they may, so that later samples are missing. */
  hasFullTables: boolean;
}

/** The options of a session. Numbers are results of `ToNumber`. */
export interface OpenOptions {
  sampleInterval: number;
  maxBufferSize: number;
  /** How many stacks the buffer may hold, for sessions of untrusted scripts; absent for no limit. */
  maxStacks?: number;
  /** How many bytes its frames may take, with their names and the URLs of their scripts; absent for no limit. */
  maxFrameBytes?: number;
  bufferPolicy: string;
  /** The realm that opens the session; absent for one of the thread itself. */
  realm?: number;
  /** Whether the session also sees the realms of its realm's origin group. */
  includeSameOriginFrames?: boolean;
  maxChunks?: number;
  /** Only for `profileThreads`: JavaScript collects the entries of its own sessions. */
  includeEntries?: boolean;
}

export interface OpenSession {
  id: number;
  /** The sample interval that the session got, in milliseconds. */
  sampleInterval: number;
}

/** What one thread recorded. */
export interface ThreadTrace {
  threadId: number;
  name: string;
  /** Absent when the thread did not answer in time. */
  output?: TraceOutput;
}

/** The options of a recording into a journal. */
export interface RecordOptions {
  /** The length of the periods that get a file each, in milliseconds; absent for one file. */
  period?: number;
  /** The path of the journal. */
  path: string;
  /** The socket of the recorder. The recording ends when the recorder closes it. */
  connection?: string;
  /** How many milliseconds to keep at least; absent to keep everything. */
  keep?: number;
  sampleInterval: number;
  /** How many samples to record at most. */
  limit?: number;
  /** How many marks and measures to record at most; absent to record none. */
  maxEntries?: number;
  threadId: number;
  threadName: string;
  /** The command line of the process. */
  command: string;
  mode: string;
  timeOrigin: number;
  node: string;
  /**
   * Whether to write what there is when V8's heap nears its limit. Not where something else may have asked V8 before,
   * for nothing but what was asked last happens.
   */
  watchHeapLimit: boolean;
  /** Whether calls within Node's own scripts are folded now, rather than when the recording is read. */
  foldNodeFrames: boolean;
}

/** The options of a realm. */
export interface RealmOptions {
  /** Realms with the same group can reach each other, as the frames of one origin can. */
  originGroup?: string;
  /** The prefixes of the URLs of host scripts. */
  hostScripts: string[];
  /** The prefixes of the URLs of scripts that traces leave out. */
  samplerScripts?: string[];
  /** The realm's time origin on the clock of `now`, in milliseconds. */
  timeOrigin: number;
  /** Isolated realms get a finer clock and all markers. */
  crossOriginIsolated: boolean;
}

/** How a value is serialized, by functions of its realm. */
export interface CloneWriterOptions {
  /** An object of the realm. */
  anchor: object;
  isHostObject(object: object): boolean;
  writeHostObject(object: object): unknown;
  shareMemory(buffer: SharedArrayBuffer): void;
  dataCloneError(message: string): never;
  transferred: object[];
}

/** What a value is deserialized with. */
export interface CloneReaderOptions {
  /** An object of the realm that gets the value. */
  anchor: object;
  hostObjects: unknown[];
  shared: unknown[];
  transferred: unknown[];
}

/** How a script of a realm is compiled. */
export interface ScriptOptions {
  realm: number;
  /** Functions of muted scripts show in no trace. */
  muted?: boolean;
  /** A marker, for a host script that does this work for the realm. */
  work?: string;
  /** The line of the resource in which the source begins, counted from 0. */
  line?: number;
  /** The column of that line, counted from 0. */
  column?: number;
  /** A function of a script compiled by `vm.Script`: `import()` is answered as it is there. */
  referrer?: unknown;
}

/** A module of a page. */
export interface ScriptModule {
  /** One array per import: the specifier, then keys and values of the import attributes in turn. */
  readonly requests: string[][];
  /** The module's namespace object; undefined before it is instantiated. */
  readonly namespace: object | undefined;
  /** Says which module each request means, in the order of the requests. */
  link(modules: ScriptModule[]): void;
  /** @throws when an import is missing */
  instantiate(): void;
  /** The same promise each time. */
  evaluate(): Promise<unknown>;
}

/** Marks are 1, measures 2, and 0 is both. A name is a number that the caller chose, and -1 is all names. */
export interface Timeline {
  /** The object with the functions that run once per entry. */
  fastCalls(): FastCalls;
  /** Sets the attributes of `PerformanceTiming`, in the order of its IDL. */
  setTiming(values: Float64Array): void;
  /** The start of the latest mark of a name; NaN when there is none. */
  latest(name: number): number;
  uses(name: number): boolean;
  entries(type: number, name: number): EntryColumns;
  inCallOrder(type: number, name: number): ValueColumns;
  clear(type: number, name: number): Uint32Array;
  /** How many entries of a type did not fit. */
  dropped(type: number): number;
  /** How many entries were made so far: the sequence number of the next one. */
  made(): number;
  /** How many more entries of a type fit. */
  room(type: number): number;
  /** The steps of `PerformanceObserver.observe()`; see observer.cjs for the numbers. */
  observe(observer: number, current: number, members: number, types: number): number;
  disconnect(observer: number): void;
  /** The observers of any of these types, in the order in which they registered. */
  interested(types: number): Uint32Array;
  /** The set of types that are observed. */
  observed(): number;
  /** The `droppedEntriesCount` for an observer's next callback; null when it gets none. */
  takeDropped(observer: number): number | null;
}

/** Entries in the order of their start times. */
export interface EntryColumns {
  /** 1 for a mark, 2 for a measure. */
  types: Uint8Array;
  names: Uint32Array;
  sequences: Float64Array;
  /** Two numbers per entry: start time and duration. */
  times: Float64Array;
}

/** Start times of marks, or durations of measures, in the order of the calls. */
export interface ValueColumns {
  names: Uint32Array;
  values: Float64Array;
}

/** Must be called as methods: V8 then calls them straight from optimised code. */
export interface FastCalls {
  now(): number;
  /** Makes a mark at the current time; returns that time. */
  mark(name: number): number;
  /** Returns 1 when the buffer had room, 0 otherwise. */
  markAt(name: number, startTime: number): number;
  /** Returns 1 when the buffer had room, 0 otherwise. */
  measureAt(name: number, startTime: number, duration: number): number;
  /** Removes entries; returns how many names have no entry any more. */
  clear(type: number, name: number): number;
  /** Returns 1 when an entry has the name, 0 otherwise. */
  uses(name: number): number;
  /** Writes start and duration of a measure to `result`; returns 0, or which exception to throw. */
  resolve(startKind: number, start: number, endKind: number, end: number, duration: number): number;
  readonly result: Float64Array;
  /** Refers to an object weakly, in place of the one with that number. */
  setWeak(number: number, object: object): void;
  /** The object with that number, unless it was collected. */
  getWeak<T extends object>(number: number): T | undefined;
}

/** Gets the events of sessions, from the event loop. */
export interface Listener {
  onFull(session: number): void;
  onChunk(session: number): void;
}

/** The chunks of one session that wait to be taken. */
export interface Chunks {
  readonly chunks: unique symbol;
}

export interface Addon {
  /** The `process.versions.modules` that the addon was built for. */
  builtFor(): number;
  /** Now on the clock of sample timestamps, in milliseconds. */
  now(): number;
  /** Sample intervals and the grid of timestamps, in milliseconds. */
  offers(): { baseInterval: number; timeResolution: number };

  /** Makes the agent of this thread; returns false when the thread has one. */
  begin(
    mode: string,
    hostScripts: string[],
    timeOrigin: number,
    threadId: number,
    threadName: string,
    onEntriesWanted: () => void,
    samplerScripts?: string[],
    workScripts?: Record<string, string>,
    isTemporary?: boolean,
  ): boolean;
  /** The agent stays when the recording of its thread ends. Returns whether the thread has an agent. */
  keepAgent(): boolean;

  Chunks: new () => Chunks;
  /** @throws an error whose `code` is the name of the constructor to throw */
  open(options: OpenOptions, listener: Listener, chunks?: Chunks): OpenSession;
  close(session: number, format: string, entries?: CollectedEntries): Promise<TraceOutput>;
  /** Stops a session and discards what it recorded. */
  abandon(session: number): void;
  takeChunk(session: number, chunks: Chunks): TraceColumns | null;
  /** Frees what V8 holds of profiles that were read. */
  releaseReadProfiles(): void;

  profileThreads(options: OpenOptions): OpenSession;
  threadsStarted(profiling: number): Promise<void>;
  stopThreads(profiling: number, format: string): Promise<ThreadTrace[]>;
  explainThreads(profiling: number, options: { sampleInterval: number; maxBufferSize: number }): Promise<string>;
  giveUpOnThreads(profiling: number): void;
  cancelThreads(profiling: number): void;

  /** Records this thread into a journal until its environment ends. */
  /**
   * Returns false when the recording has ended already. Otherwise, `onEnd` is called when it has ended and the program
   * goes on.
   *
   * @throws when another recorder records this process
   */
  record(options: RecordOptions, onEnd?: () => void): boolean;
  /** Samples with this number have these labels. */
  defineLabels(number: number, names: string[], values: string[]): void;
  /** Labels samples with the numbers in the current value of an AsyncLocalStorage; false if Node does not allow it. */
  readLabelsOfStorage(storage: object, value: object, expected: Int32Array): boolean;
  /** Labels samples with the numbers in an array; false if samples are labelled already. */
  readLabelsOfMemory(memory: Int32Array): boolean;
  /** Creates a file that is locked as long as this process lives. */
  beginLifeSign(path: string, content: string): void;
  /** Unlocks the file, since the process is about to end. */
  endLifeSign(): void;
  /**
   * Pauses sampling of this thread, and writes what its recordings have, because the program may be about to end or to
   * be replaced.
   */
  pauseRecordings(): void;
  /** The program goes on after all. */
  resumeRecordings(): void;
  entriesAreWanted(): boolean;
  nameEntry(name: string): number;
  forgetEntryNames(): void;
  recordEntry(isMeasure: boolean, name: number, startTime: number, duration: number): void;

  Timeline: new (
    origin: number,
    resolution: number,
    limits?: { mark?: number; measure?: number },
    timing?: Float64Array,
  ) => Timeline;

  openRealm(options: RealmOptions): number;
  closeRealm(realm: number): void;
  pauseRealm(realm: number, paused: boolean): void;
  /** The realm of a page's script; 0 for scripts of the host and for code made by `eval`. */
  realmOfScript(scriptId: number): number;
  /** Takes a sample now; returns how many sessions got it. */
  forceSample(realm?: number): number;
  /** Runs a classic script in the context of `contextObject`; returns its completion value. */
  compileScript(contextObject: unknown, source: string, url: string, options: ScriptOptions): unknown;
  compileModule(contextObject: unknown, source: string, url: string, options: ScriptOptions): ScriptModule;
  ScriptModule: new () => ScriptModule;
  /** Returns false where Node allows no such function. */
  onImportMeta(callback: (meta: object, url: string, global: object) => void): boolean;
  hostPages(
    importModule: (id: number, realm: number, referrer: unknown, specifier: string, attributes: string[]) => void,
    isHostSite: (site: NodeJS.CallSite) => boolean,
    formatStack: (error: Error, sites: NodeJS.CallSite[]) => unknown,
    promiseRejected: (isRejected: boolean, promise: Promise<unknown>, reason: unknown) => void,
  ): void;
  /** A function of the context, as `Reflect.apply`. It notes what the callee throws, for `mutedException`. */
  notingApply(
    contextObject: unknown,
  ): (callee: (...parameters: never[]) => unknown, self: unknown, parameters: unknown[]) => unknown;
  /** Where in a muted script an exception came from, as `URL:line:column`; `undefined` when it came from elsewhere. */
  mutedException(exception: unknown): string | undefined;
  /** The same for a promise that was rejected without a handler. */
  mutedRejection(promise: unknown): string | undefined;
  /** Runs the promise jobs that are due; nothing while such jobs run. */
  runPromiseJobs(): void;
  settleImport(id: number, fulfilled: boolean, result: unknown): void;
  /**
   * Returns an array of the realm: the bytes, and the transferred buffers. See
   * crates/node/src/pages/structured_clone.rs.
   */
  serializeValue(value: unknown, options: CloneWriterOptions): unknown[] | undefined;
  /** Returns a value of the realm. */
  deserializeValue(bytes: ArrayBuffer, options: CloneReaderOptions): unknown;

  /** How many realms and scripts this thread has, and how many threads a signal must wait for; for tests. */
  liveCounts(): { realms: number; scripts: number; signalWatchers: number };
  /** How many threads of the process have an agent. */
  agentCount(): number;
  /** CPU time of this thread so far, in milliseconds; for benchmarks. */
  threadCpuTime(): number;
  /** How long recordings have held up this thread, in milliseconds; for benchmarks. */
  ticks(): { count: number; longest: number; longestAlone: number; longestCpu: number; cpu: number };
}
