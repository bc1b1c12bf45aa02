/// <reference lib="esnext.disposable" />

/**
 * Pages without a browser: documents on jsdom, each in a thread and a realm of its own, with `Profiler` and `performance` on their windows.
 *
 * In functions passed to {@link Page.evaluate}, `lib: ['dom']` declares the globals of pages, and
 * `import type {} from 'selfprof/register'` declares `Profiler`.
 *
 * Requires jsdom 31: `npm install --save-dev jsdom@31.0.1`.
 */

import type { ProfilerTrace } from 'selfprof';

/** Options of a {@link PageHost}. */
export interface PageHostOptions {
  /**
   * Where jsdom is: its folder, or a file or folder from which it is resolved. By default it is resolved from the main script of the process,
   * then from the working directory, then from this package.
   */
  jsdom?: string | URL | undefined;
  /** How long loading and scripts may take, in milliseconds; `Infinity` for no limit. Default: 30,000. */
  timeout?: number | undefined;
  /**
   * The maximum size of each page thread's heap, and of its buffers, in megabytes, at least 64. A page, frame or worker that exceeds either
   * limit is terminated. Default: 1,024.
   */
  memoryLimit?: number | undefined;
  /**
   * How many samples the profilers of a page may hold together; frames of other origins are counted separately. When there are several
   * profilers, the n-th gets 1/n of the budget. Default: 1,000,000, about a quarter of an hour at 1 ms. The functions in these samples may
   * take 64 MiB with their names, divided in the same way.
   */
  sampleBudget?: number | undefined;
  /**
   * How many threads a page may have: one for its document and the frames of the same origin, and one for each worker and each frame of
   * another origin. Beyond that, frames stay empty and workers fire `error`. Default: 16.
   */
  threadLimit?: number | undefined;
  /** `navigator.userAgent`, and the header `User-Agent`. */
  userAgent?: string | undefined;
  /** Addresses by host name, as in /etc/hosts. */
  hosts?: Record<string, string> | undefined;
  /** The certificates of the trusted CAs, in PEM format, instead of Node's. */
  ca?: string | string[] | undefined;
  /** Whether invalid certificates are accepted. */
  ignoreCertificateErrors?: boolean | undefined;
  /** The maximum size of a response, in bytes. Default: 256 MiB. */
  bodyLimit?: number | undefined;
  /**
   * Whose the cookies and localStorage are. Each `page` has its own, which are gone when it is closed; or all pages of the `host` share
   * them, and a document has the localStorage that the others had left when it was opened.
   * Default: `'page'`.
   */
  cookies?: 'page' | 'host' | undefined;
}

/** How a document is loaded. */
export interface NavigateOptions {
  /**
   * When the navigation is complete: when the document has replaced the previous one (`commit`), at the event `DOMContentLoaded` or
   * `load` (the default), or when the page has been idle for half a second after `load`, with no pending requests and little work.
   */
  waitUntil?: 'idle' | 'load' | 'domcontentloaded' | 'commit' | undefined;
  /** In milliseconds. Default: the host's. */
  timeout?: number | undefined;
  /** The URL that `document.referrer` and the header `Referer` give. */
  referrer?: string | undefined;
  /** For a document on disk: the folder whose files it may load; they all have the same origin. Default: the document's folder. */
  root?: string | undefined;
  /** For a document on disk: headers as a server would send them, such as `{ 'Document-Policy': 'js-profiling' }`. */
  headers?: Record<string, string> | Iterable<[name: string, value: string]> | undefined;
  /**
   * Records the document from before its first script, and the documents that it navigates to. {@link Page.takeProfile} ends the
   * recording. It needs no permission from the page, which can notice it by times alone, and it does not count as one of the page's profilers.
   */
  profile?: ProfileOptions | undefined;
}

/** How the load of a page is recorded. */
export interface ProfileOptions {
  /** In milliseconds, rounded up to a whole number. Default: 1. */
  sampleInterval?: number | undefined;
  /** The number of samples after which the recording ends. Default: 1,000,000. */
  maxBufferSize?: number | undefined;
  /** Whether functions of frames of the same origin are shown, too. Default: false. */
  includeSameOriginFrames?: boolean | undefined;
}

/** How a page is opened. */
export interface OpenOptions extends NavigateOptions {
  /** Listeners that are added before the document is loaded. */
  on?: { [K in keyof PageEventMap]?: (...event: PageEventMap[K]) => void } | undefined;
}

/** The response to a navigation. */
export interface PageResponse {
  /** After redirects. */
  url: string;
  status: number;
  /** Names are in lower case. */
  headers: [name: string, value: string][];
}

/** A message on the console of a page. */
export interface ConsoleMessage {
  /** The method of `console`. */
  method: string;
  /** The arguments as text. */
  text: string;
  /** The frame that wrote it, 0 for the page itself. */
  frame: number;
}

/** An uncaught exception, or an unhandled rejection. */
export interface PageException {
  message: string;
  stack: string;
  filename: string;
  /** From 1; 0 when unknown. */
  lineno: number;
  /** From 1; 0 when unknown. */
  colno: number;
  frame: number;
}

/**
 * What the page itself is not told: a resource that could not be loaded, what a script of another origin threw, a feature that is not
 * implemented, or a recording that ended early.
 */
export interface PageProblem {
  kind: string;
  text: string;
  /** The resource, if the problem is about one. */
  url: string;
  frame: number;
}

/** The events of a {@link Page}, with the parameters of their listeners. */
export interface PageEventMap {
  console: [ConsoleMessage];
  /** An uncaught exception. (An event named `error` would end a Node program that has no listener for it.) */
  pageerror: [PageException];
  problem: [PageProblem];
  navigated: [url: string];
  domcontentloaded: [];
  load: [];
  /** The page's thread was terminated, because it ran out of memory or did not respond. The page can be navigated again. */
  crash: [Error];
  close: [];
}

/** A page. It is an `EventEmitter` of Node. */
export class Page {
  private constructor();
  on<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;
  once<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;
  off<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;

  /** The URL of the document. */
  readonly url: string;
  readonly closed: boolean;

  /**
   * Loads a document.
   *
   * @param url a URL, or a path on disk
   * @throws Error named `NetworkError` when there is no response
   * @throws TimeoutError
   */
  navigate(url: string | URL, options?: NavigateOptions): Promise<PageResponse>;

  /**
   * Runs a function, or a script as text, in the page and returns its awaited result. Arguments and result are cloned as by
   * `structuredClone`. A function is sent as source text, so it cannot use variables of the code around it.
   *
   * @throws PageError when the script throws, or when its result cannot be cloned
   * @throws TimeoutError when it takes longer than the host's timeout; a page that does not respond is then terminated
   * @throws Error when the page ends first; its `code` is `ERR_WORKER_OUT_OF_MEMORY` if it exceeded its memory limit, `ERR_PAGE_STACK_FULL` if it made
   * V8 fill the stack, and `ERR_PAGE_V8_FAILED` if V8 ended it because of an internal error
   */
  evaluate<P extends unknown[], R>(script: (...parameters: P) => R, ...parameters: P): Promise<Awaited<R>>;
  // biome-ignore lint/suspicious/noExplicitAny: the type of a script's result is unknown, and `unknown` would make every caller cast
  evaluate(script: string): Promise<any>;

  /** As {@link evaluate}, with a timeout of its own, or in a frame or worker of the page. */
  evaluateIn<P extends unknown[], R>(
    options: { timeout?: number; frame?: number },
    script: (...parameters: P) => R,
    ...parameters: P
  ): Promise<Awaited<R>>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  evaluateIn(options: { timeout?: number; frame?: number }, script: string): Promise<any>;

  /** The windows of the page: the page itself, which is number 0, and its frames. */
  frames(): { frame: number; parent: number | undefined; url: string; origin: string }[];

  /**
   * The dedicated workers of the page, of its frames, and of workers. They are numbered like frames: {@link evaluateIn} and
   * {@link forceSample} take these numbers.
   */
  workers(): { frame: number; parent: number; url: string; name: string; type: 'classic' | 'module' }[];

  /**
   * Makes each running profiler of a frame (by default of the page itself) take one sample, as soon as the page's thread is free. Resolves
   * when the samples have been taken. Profilers that are paused or stopped, and profilers of other frames, take none.
   *
   * https://wicg.github.io/js-self-profiling/#force-sample
   *
   * @throws TimeoutError after which a page that does not respond is terminated
   */
  forceSample(options?: { frame?: number; timeout?: number }): Promise<void>;

  /** Whether the page is in the foreground, as it is when opened. */
  readonly visible: boolean;

  /**
   * Moves the page to the background, or back to the foreground. In the background, its documents and their frames are hidden, which
   * fires `visibilitychange`, and its profilers are paused. A profiler that is started in the background takes its first sample and is
   * then paused. Resolves when all of this has happened.
   *
   * @throws TimeoutError after which a page that does not respond is terminated
   */
  setVisible(isVisible: boolean, options?: { timeout?: number }): Promise<void>;

  /**
   * Ends the recording that the option `profile` of {@link navigate} started. The trace shows what a profiler of the document itself would
   * show: functions of its window, but neither functions of frames nor of cross-origin scripts that were loaded without CORS. Samples
   * taken while other code ran, or no code, have no stack. If the functions took more than 16 MiB with their names, it ends there, and the
   * page emits `problem`.
   *
   * @throws Error when no recording was started, or its trace has already been taken
   * @throws TimeoutError after which a page that does not respond is terminated
   */
  takeProfile(options?: { timeout?: number }): Promise<ProfilerTrace>;

  /** Closes the page, whatever it is doing. The listeners of `pagehide` and `unload` of its documents get a second. */
  close(): Promise<void>;
  /** Closes the page, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens pages. The pages of a host share nothing, unless its option `cookies` says so. An open page does not keep the program alive, whatever it
 * does; the promises of methods do until they are settled.
 */
export class PageHost {
  /** @throws Error when jsdom is not found, is not a supported version, or does not support this version of Node */
  constructor(options?: PageHostOptions);
  /** The pages that are open. */
  readonly pages: Page[];
  /** Opens a page. Without a URL it shows an empty document. */
  open(url?: string | URL, options?: OpenOptions): Promise<Page>;
  /** Closes all pages. */
  close(): Promise<void>;
  /** Closes all pages, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A script in a page threw. */
export class PageError extends Error {
  /** The name of the error in the page. */
  readonly errorName: string;
  /** The stack of the error in the page. */
  readonly pageStack: string;
}

/** Something took longer than its timeout. */
export class TimeoutError extends Error {}
