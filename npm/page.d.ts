/**
 * Pages without a browser: documents on jsdom, each in a thread and a realm of its own, with `Profiler` and `performance`
 * on their windows.
 *
 * What a page runs is typed by `lib: ['dom']`, and `Profiler` by `import type {} from 'selfprof/register'`.
 *
 * Needs jsdom 31, which is installed beside selfprof: `npm install --save-dev jsdom@31.0.1`.
 */

import type { ProfilerTrace } from './index.js';

/** What a {@link PageHost} is made with. */
export interface PageHostOptions {
  /**
   * Where jsdom is: its folder, or a file or folder from which it can be required. By default it is looked for from the
   * program that Node runs, then from the working directory, then beside this package.
   */
  jsdom?: string | URL;
  /** How long loading and scripts may take, in milliseconds; `Infinity` for no limit. Default: 30,000. */
  timeout?: number;
  /**
   * The heap that each thread of a page may have, in megabytes, and the same again for its buffers. A page, frame or worker
   * that needs more is ended. Default: 1,024.
   */
  memoryLimit?: number;
  /**
   * How many samples the profilers of a page may keep at once, those of frames of another origin counted apart. Of several
   * profilers, the n-th gets an n-th of it. Default: 1,000,000, which is a quarter of an hour at 1 ms.
   */
  sampleBudget?: number;
  /**
   * How many threads a page may have: one for its document and the frames of the same origin, and one for each frame of
   * another and for each worker. Frames beyond that stay empty, and workers fire `error`. Default: 16.
   */
  threadLimit?: number;
  /** `navigator.userAgent`, and what servers are told. */
  userAgent?: string;
  /** Addresses by host name, as in /etc/hosts. */
  hosts?: Record<string, string>;
  /** Certificates of authorities to trust, as PEM, instead of Node's. */
  ca?: string | string[];
  /** Whether https is spoken with whoever answers. */
  ignoreCertificateErrors?: boolean;
  /** How large a response may be, in bytes. Default: 256 MiB. */
  bodyLimit?: number;
}

/** How a document is loaded. */
export interface NavigateOptions {
  /**
   * What to wait for: that the document takes the place of the old one, `DOMContentLoaded`, the `load` event (the default), or
   * that for half a second after it nothing is on its way and little is done.
   */
  waitUntil?: 'idle' | 'load' | 'domcontentloaded' | 'commit';
  /** In milliseconds, instead of the host's. */
  timeout?: number;
  /** The URL that the server, and the document, are told to come from. */
  referrer?: string;
  /**
   * For a document on disk, the folder whose files it may load: its own, by default. All of them are of one origin.
   */
  root?: string;
  /**
   * For a document on disk, the headers that a server would send with it, such as `{ 'Document-Policy': 'js-profiling' }`.
   */
  headers?: Record<string, string> | Iterable<[name: string, value: string]>;
  /**
   * Records the document from before its first script, and those that it leads to. {@link Page.takeProfile} ends it. The page
   * need not allow that; it is not told, and its own profilers are not counted with it.
   */
  profile?: ProfileOptions;
}

/** What the load of a page is recorded with. */
export interface ProfileOptions {
  /** In milliseconds, rounded up to whole ones. Default: 1. */
  sampleInterval?: number;
  /** After how many samples it ends. Default: 1,000,000. */
  maxBufferSize?: number;
  /** Whether functions of frames of the same origin show, too. Default: false. */
  includeSameOriginFrames?: boolean;
}

/** How a page is opened. */
export interface OpenOptions extends NavigateOptions {
  /** Listeners that hear what happens from the start. */
  on?: { [K in keyof PageEventMap]?: (...event: PageEventMap[K]) => void };
}

/** The answer to a navigation. */
export interface PageResponse {
  /** After redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: [name: string, value: string][];
}

/** What a page wrote to its console. */
export interface ConsoleMessage {
  /** The method of `console`. */
  method: string;
  /** Its arguments as text. */
  text: string;
  /** The frame it comes from, 0 for the page itself. */
  frame: number;
}

/** An exception that nothing in the page handled. */
export interface PageException {
  message: string;
  stack: string;
  filename: string;
  /** From 1, or 0 when it is not known. */
  lineno: number;
  colno: number;
  frame: number;
}

/** Something that is not the fault of a script: a resource that did not load, a feature that is missing. */
export interface PageProblem {
  kind: string;
  text: string;
  /** The resource, if it is about one. */
  url: string;
  frame: number;
}

/** The events of a {@link Page}, with what listeners get. */
export interface PageEventMap {
  console: [ConsoleMessage];
  pageerror: [PageException];
  problem: [PageProblem];
  navigated: [url: string];
  domcontentloaded: [];
  load: [];
  /** The page's thread ended: its memory was full, or it did not answer. The page can be navigated elsewhere. */
  crash: [Error];
  close: [];
}

/** A page, which is an `EventEmitter` of Node's. */
export class Page {
  private constructor();
  on<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;
  once<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;
  off<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;

  /** The URL of its document. */
  readonly url: string;
  readonly closed: boolean;

  /**
   * Loads a document.
   *
   * @param url a URL, or a path on disk
   * @throws NetworkError when there is no answer, TimeoutError
   */
  navigate(url: string | URL, options?: NavigateOptions): Promise<PageResponse>;

  /**
   * Runs a function, or the text of a script, in the page and gives its result, which is awaited there. Arguments and result
   * are cloned as `structuredClone` does. A function is taken over as text: it sees nothing of where it was written.
   *
   * @throws PageError what the script threw, or why its result cannot be cloned
   * @throws TimeoutError when it takes longer than the host's timeout; a page that does not answer then is ended
   */
  evaluate<P extends unknown[], R>(script: (...parameters: P) => R, ...parameters: P): Promise<Awaited<R>>;
  evaluate(script: string): Promise<any>;

  /** As {@link evaluate}, with a timeout of its own, or in a frame of the page. */
  evaluateIn<P extends unknown[], R>(
    options: { timeout?: number; frame?: number },
    script: (...parameters: P) => R,
    ...parameters: P
  ): Promise<Awaited<R>>;
  evaluateIn(options: { timeout?: number; frame?: number }, script: string): Promise<any>;

  /** The windows of the page: itself, which is 0, and its frames. */
  frames(): { frame: number; parent: number | undefined; url: string; origin: string }[];

  /**
   * The dedicated workers of the page, of its frames, and of workers. Each has a number as frames have, with which a script is
   * run in it ({@link evaluateIn}) or a sample forced.
   */
  workers(): { frame: number; parent: number; url: string; name: string; type: 'classic' | 'module' }[];

  /**
   * Has each started profiler of a frame (by default of the page itself) take one sample, as soon as the page's thread is
   * free; resolves when it is taken. Profilers that are paused or stopped, and those of other frames, take none.
   *
   * https://wicg.github.io/js-self-profiling/#force-sample
   *
   * @throws TimeoutError when it takes longer than the timeout; a page that does not answer then is ended
   */
  forceSample(options?: { frame?: number; timeout?: number }): Promise<void>;

  /** Whether the page is in the foreground, as it is when it is opened. */
  readonly visible: boolean;

  /**
   * Takes the page to the background, or back. Its documents, and those in its frames, become hidden and fire
   * `visibilitychange`; its profilers are paused until it is back. A profiler that is made meanwhile takes its first sample
   * and is then paused, too. It resolves when all of this has happened.
   *
   * @throws TimeoutError when it takes longer than the timeout; a page that does not answer then is ended
   */
  setVisible(isVisible: boolean, options?: { timeout?: number }): Promise<void>;

  /**
   * Ends the recording of the page's document that `profile` asked for. It shows what a profiler of the document's own would:
   * the functions of its window, but not those of frames, nor of scripts of other origins that are loaded without CORS. Samples
   * in which others ran, or nobody, have no stack.
   *
   * @throws Error when none was asked for, or it was taken; TimeoutError when the page does not answer, which ends the page
   */
  takeProfile(options?: { timeout?: number }): Promise<ProfilerTrace>;

  /** Ends the page, whatever it is doing. `await using` does so, too. */
  close(): Promise<void>;
}

/** Opens pages. They share their cookies, and nothing else. No page keeps a program alive that does not wait for it. */
export class PageHost {
  /** @throws Error when jsdom is not there, is not a known version, or cannot run on this Node */
  constructor(options?: PageHostOptions);
  /** The pages that are open. */
  readonly pages: Page[];
  /** Opens a page; an empty one, when there is no URL. */
  open(url?: string | URL, options?: OpenOptions): Promise<Page>;
  /** Closes all pages. `await using` does so, too. */
  close(): Promise<void>;
}

/** What a script in a page threw. */
export class PageError extends Error {
  /** The error's name in the page. */
  readonly errorName: string;
  /** Its stack in the page. */
  readonly pageStack: string;
}

/** Something took longer than it may. */
export class TimeoutError extends Error {}
