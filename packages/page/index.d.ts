/// <reference lib="esnext.disposable" />

/**
 * Pages without a browser: documents on jsdom, in another process, with `Profiler` and `performance` on their windows.
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
   * Where jsdom is: its folder, or a file or folder from which it is resolved. By default it is resolved from the main
   * script of the process, then from the working directory, then from this package.
   */
  jsdom?: string | URL | undefined;
  /** How long loading and scripts may take, in milliseconds; 0 for no limit. Default: 30,000. */
  timeout?: number | undefined;
  /**
   * The maximum size of each page thread's heap, in megabytes, at least 64. A page, frame or worker that exceeds it is
   * terminated. Default: 1,024.
   */
  memoryLimit?: number | undefined;
  /**
   * How much memory the process of the pages may take, in megabytes, at least 256. When it takes more, it ends, and all
   * pages emit `crash`. Default: half of the memory of the machine or the container.
   */
  processMemoryLimit?: number | undefined;
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
   * Whose the cookies and localStorage are. Each `page` has its own, which are gone when it is closed; or all pages of
   * the `host` share them, and a document has the localStorage that the others had left when it was opened.
   * Default: `'page'`.
   */
  cookies?: 'page' | 'host' | undefined;
}

/**
 * How far a document is loaded: it has replaced the previous one (`commit`), the event `DOMContentLoaded` or `load` was
 * fired, or the page has been idle for half a second after `load`, with no pending requests and little work
 * (`networkidle`, or `idle`).
 */
export type LoadState = 'commit' | 'domcontentloaded' | 'load' | 'networkidle' | 'idle';

/** What a method that loads a document waits for. */
export interface WaitOptions {
  /** Default: `'load'`. */
  waitUntil?: LoadState | undefined;
  /** In milliseconds; 0 for no limit. Default: the host's. */
  timeout?: number | undefined;
}

/** How a document is loaded. */
export interface NavigateOptions extends WaitOptions {
  /** The URL that `document.referrer` and the header `Referer` give. */
  referrer?: string | undefined;
  /**
   * For a document on disk: the folder whose files it may load; they all have the same origin. Default: the document's
   * folder.
   */
  root?: string | undefined;
  /** For a document on disk: headers as a server would send them, such as `{ 'Document-Policy': 'js-profiling' }`. */
  headers?: Record<string, string> | Iterable<[name: string, value: string]> | undefined;
  /**
   * Records the document from before its first script, and the documents that it navigates to. {@link Page.takeProfile}
   * ends the recording. It needs no permission from the page, which can notice it by times alone, and it does not count
   * as one of the page's profilers.
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

/** How an action finds its element, and how long it waits. */
export interface ActionOptions {
  /** In milliseconds; 0 for no limit. Default: the host's. */
  timeout?: number | undefined;
  /**
   * Whether it is an error that the selector finds several elements; otherwise, the first one is meant. Default: false,
   * and true for locators.
   */
  strict?: boolean | undefined;
  /** The number of the frame, see {@link Page.frames}. Default: 0, the page itself. */
  frame?: number | undefined;
  /** Whether the action is done to elements that are not visible, or disabled. Default: false. */
  force?: boolean | undefined;
}

/** How an element is clicked. */
export interface ClickOptions extends ActionOptions {
  /** Default: `'left'`. */
  button?: 'left' | 'right' | 'middle' | undefined;
  /** Default: 1. */
  clickCount?: number | undefined;
  /** Keys that are held down meanwhile. `ControlOrMeta` is Control. */
  modifiers?: ('Alt' | 'Control' | 'ControlOrMeta' | 'Meta' | 'Shift')[] | undefined;
  /** `clientX` and `clientY` of the events. There is no layout, so they are not relative to the element. Default: 0. */
  position?: { x: number; y: number } | undefined;
}

/** An option of a select: its value or its label; or all that is given. */
export type OptionChoice = string | { value?: string; label?: string; index?: number };

/**
 * Which URLs are meant: a glob, in which `*` is any part of a path, `**` any text and `{a,b}` one of several; a regular
 * expression; or a function. A glob that begins with `/` is relative to the origin of the page.
 */
export type UrlPattern = string | RegExp | ((url: URL) => boolean);

/** The response that {@link Route.fulfill} gives. A request with CORS may read it, unless its headers say otherwise. */
export interface FulfillOptions {
  /** Default: 200. */
  status?: number | undefined;
  headers?: Record<string, string> | Iterable<[name: string, value: string]> | undefined;
  /** Sets the header `Content-Type`. */
  contentType?: string | undefined;
  body?: string | Uint8Array | undefined;
  /** A value whose JSON is the body. */
  json?: unknown;
  /** A file whose content is the body. The type of the content is that of its extension. */
  path?: string | undefined;
}

/** What {@link Route.continue} changes. The page does not see it. */
export interface ContinueOptions {
  url?: string | undefined;
  method?: string | undefined;
  /** In place of those of the request. */
  headers?: Record<string, string> | undefined;
  /** A value that is neither text nor bytes is sent as JSON. */
  postData?: unknown;
}

/** A request that a route matches. */
export interface RoutedRequest {
  url(): string;
  method(): string;
  /** By their names in lower case. */
  headers(): Record<string, string>;
  postData(): string | null;
  postDataBuffer(): Uint8Array | null;
  postDataJSON(): unknown;
  /** Such as `document`, `script`, `stylesheet`, `image` or `fetch`. */
  resourceType(): string;
  /** Whether it is for a document of the page or of a frame. */
  isNavigationRequest(): boolean;
}

/** A request that waits for one of these methods. */
export interface Route {
  request(): RoutedRequest;
  /** Answers it, without a server. */
  fulfill(options?: FulfillOptions): Promise<void>;
  /** Has it fail. */
  abort(): Promise<void>;
  /** Sends it. */
  continue(options?: ContinueOptions): Promise<void>;
  /** Leaves it to the route that was added before, or sends it. */
  fallback(): Promise<void>;
}

export type RouteHandler = (route: Route, request: RoutedRequest) => unknown;

export interface Cookie {
  name: string;
  value: string;
  /** With a dot at its beginning if it is sent to subdomains, too. */
  domain: string;
  path: string;
  /** In seconds since 1970; -1 for a cookie of the session. */
  expires: number;
  httpOnly: boolean;
  secure: boolean;
  sameSite: 'Strict' | 'Lax' | 'None';
}

/** A cookie that is added: with a `url`, or with a `domain` and a `path`. Default: the page's URL. */
export interface CookieInit extends Partial<Cookie> {
  name: string;
  value: string;
  url?: string;
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
 * What the page itself is not told: a resource that could not be loaded, what a script of another origin threw, a
 * feature that is not implemented, or a recording that ended early.
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
  /**
   * The page's thread was terminated, because it ran out of memory or did not respond: the page can be navigated again.
   * Or the process of all pages has ended: then the page is closed.
   */
  crash: [Error];
  close: [];
}

/** A page. It is an `EventEmitter` of Node. */
export class Page {
  private constructor();
  on<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;
  once<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;
  off<K extends keyof PageEventMap>(type: K, listener: (...event: PageEventMap[K]) => void): this;

  /** The URL of the document, also of one that has changed it with `history.pushState()` or its fragment. */
  readonly url: string;
  readonly closed: boolean;

  /**
   * Loads a document.
   *
   * @param url a URL, or a path on disk
   * @throws Error named `NetworkError` when there is no response
   * @throws TimeoutError
   */
  goto(url: string | URL, options?: NavigateOptions): Promise<PageResponse>;
  /** The same as {@link goto}. */
  navigate(url: string | URL, options?: NavigateOptions): Promise<PageResponse>;
  /** Loads the document again. */
  reload(options?: WaitOptions): Promise<PageResponse | null>;
  /**
   * Goes back in the history. Resolves with null when there is nothing to go back to, or the document stays the same.
   */
  goBack(options?: WaitOptions): Promise<PageResponse | null>;
  /** Goes forward in the history, see {@link goBack}. */
  goForward(options?: WaitOptions): Promise<PageResponse | null>;
  /** Shows a new document with this HTML, at the URL of the current one. */
  setContent(html: string, options?: WaitOptions): Promise<void>;
  /** The HTML of the document. */
  content(): Promise<string>;
  title(): Promise<string>;

  /**
   * Runs a script in each document of the page and of its frames, before their own scripts. It does not run in the
   * document that is already there.
   *
   * @param script a function, a script as text, or where it is
   * @param argument of the function, which is sent as JSON
   */
  addInitScript<Argument>(
    script: string | ((argument: Argument) => unknown) | { path?: string; content?: string },
    argument?: Argument,
  ): Promise<void>;

  /**
   * Runs a function, or a script as text, in the page and returns its awaited result. Arguments and result are cloned
   * as by `structuredClone`. A function is sent as source text, so it cannot use variables of the code around it.
   *
   * @throws PageError when the script throws, or when its result cannot be cloned
   * @throws TimeoutError when it takes longer than the host's timeout; a page that does not respond is then terminated
   * @throws Error when the page ends first; its `code` is `ERR_WORKER_OUT_OF_MEMORY` if it exceeded its memory limit
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

  /** Runs a script, as {@link evaluate} does, again and again until its result is true. Resolves with that result. */
  waitForFunction<Argument, R>(
    script: ((argument: Argument) => R) | string,
    argument?: Argument,
    options?: { timeout?: number /** In milliseconds. Default: 25. */; polling?: number; frame?: number },
  ): Promise<Awaited<R>>;
  /** Waits for an event for which the predicate, if there is one, returns true. Resolves with its parameter. */
  waitForEvent<K extends keyof PageEventMap>(
    type: K,
    options?:
      | ((event: PageEventMap[K][0]) => unknown)
      | { predicate?: (event: PageEventMap[K][0]) => unknown; timeout?: number },
  ): Promise<PageEventMap[K][0]>;
  /** Waits until the document is loaded so far; one that the page is navigating to, too. Default: `'load'`. */
  waitForLoadState(state?: LoadState, options?: { timeout?: number }): Promise<void>;
  /** Waits until the URL of the page matches, and its document is loaded. */
  waitForURL(url: UrlPattern, options?: WaitOptions): Promise<void>;
  /**
   * Waits until an element is in the document or visible (the default), or no more. Resolves with a locator, or null if
   * the element is gone.
   */
  waitForSelector(
    selector: string,
    options?: ActionOptions & { state?: 'attached' | 'detached' | 'visible' | 'hidden' },
  ): Promise<Locator | null>;

  /**
   * Elements of the page. A selector is one of CSS; `xpath=…`, or an XPath that begins with `//`; `text=…`, for a part
   * of a text in any case; or `text="…"`, for the whole text. `>>` finds elements within elements, and `nth=0` picks
   * one.
   */
  locator(selector: string): Locator;

  // The methods below wait until there is such an element. Those that act on it also wait until it is visible and
  // enabled.

  /**
   * Clicks the element, with the events of the mouse. A navigation that this starts has its document when the promise
   * resolves.
   */
  click(selector: string, options?: ClickOptions): Promise<void>;
  /** Clicks it twice. */
  dblclick(selector: string, options?: Omit<ClickOptions, 'clickCount'>): Promise<void>;
  /** Moves the mouse over it. */
  hover(selector: string, options?: Pick<ClickOptions, 'modifiers' | 'position'> & ActionOptions): Promise<void>;
  /** Replaces the value of an input, or the text of an editable element, and fires `input` and `change`. */
  fill(selector: string, value: string, options?: ActionOptions): Promise<void>;
  /** Types text, a key after the other, with `delay` milliseconds between them. */
  type(selector: string, text: string, options?: ActionOptions & { delay?: number }): Promise<void>;
  /** Presses a key, such as `a`, `Enter` or `ArrowLeft`, or several at once: `Control+Shift+T`. */
  press(selector: string, key: string, options?: ActionOptions): Promise<void>;
  /** Checks a checkbox or a radio button by a click, unless it is checked. */
  check(selector: string, options?: ActionOptions): Promise<void>;
  /** Unchecks a checkbox by a click, unless it is not checked. */
  uncheck(selector: string, options?: ActionOptions): Promise<void>;
  setChecked(selector: string, isChecked: boolean, options?: ActionOptions): Promise<void>;
  /**
   * Selects options of a select, as soon as they are there, and none for null. Resolves with the values that are
   * selected.
   */
  selectOption(
    selector: string,
    values: OptionChoice | OptionChoice[] | null,
    options?: ActionOptions,
  ): Promise<string[]>;
  focus(selector: string, options?: ActionOptions): Promise<void>;
  blur(selector: string, options?: ActionOptions): Promise<void>;
  /** Fires an event, which bubbles. */
  dispatchEvent(selector: string, type: string, init?: object, options?: ActionOptions): Promise<void>;

  textContent(selector: string, options?: ActionOptions): Promise<string | null>;
  /** The text that is visible. */
  innerText(selector: string, options?: ActionOptions): Promise<string>;
  innerHTML(selector: string, options?: ActionOptions): Promise<string>;
  /** The value of an input, a textarea or a select. */
  inputValue(selector: string, options?: ActionOptions): Promise<string>;
  getAttribute(selector: string, name: string, options?: ActionOptions): Promise<string | null>;
  /** Whether there is an element that its style makes visible. Does not wait for it. */
  isVisible(selector: string, options?: ActionOptions): Promise<boolean>;
  /** The opposite of {@link isVisible}. */
  isHidden(selector: string, options?: ActionOptions): Promise<boolean>;
  isChecked(selector: string, options?: ActionOptions): Promise<boolean>;
  isDisabled(selector: string, options?: ActionOptions): Promise<boolean>;
  isEnabled(selector: string, options?: ActionOptions): Promise<boolean>;
  isEditable(selector: string, options?: ActionOptions): Promise<boolean>;
  /**
   * Has a handler decide about the requests whose URLs match, of the page, its frames and its workers, over HTTP and
   * HTTPS. The route that was added last comes first.
   */
  route(
    url: UrlPattern,
    handler: RouteHandler,
    options?: { /** Of how many requests. */ times?: number },
  ): Promise<void>;
  /** Removes the routes with this URL, and with this handler if there is one. */
  unroute(url: UrlPattern, handler?: RouteHandler): Promise<void>;
  unrouteAll(): Promise<void>;

  /** The cookies that are sent to URLs, by default to that of the page. */
  cookies(urls?: string | string[]): Promise<Cookie[]>;
  addCookies(cookies: CookieInit[]): Promise<void>;
  /** The same as {@link addCookies}. */
  setCookies(...cookies: CookieInit[]): Promise<void>;

  /** The windows of the page: the page itself, which is number 0, and its frames. */
  frames(): Promise<{ frame: number; parent: number | undefined; url: string; origin: string }[]>;

  /**
   * The dedicated workers of the page, of its frames, and of workers. They are numbered like frames: {@link evaluateIn}
   * and {@link forceSample} take these numbers.
   */
  workers(): Promise<{ frame: number; parent: number; url: string; name: string; type: 'classic' | 'module' }[]>;

  /**
   * Makes each running profiler of a frame (by default of the page itself) take one sample, as soon as the page's
   * thread is free. Resolves when the samples have been taken. Profilers that are paused or stopped, and profilers of
   * other frames, take none.
   *
   * https://wicg.github.io/js-self-profiling/#force-sample
   *
   * @throws TimeoutError after which a page that does not respond is terminated
   */
  forceSample(options?: { frame?: number; timeout?: number }): Promise<void>;

  /** Whether the page is in the foreground, as it is when opened. */
  readonly visible: boolean;

  /**
   * Moves the page to the background, or back to the foreground. In the background, its documents and their frames are
   * hidden, which fires `visibilitychange`, and its profilers are paused. A profiler that is started in the background
   * takes its first sample and is then paused. Resolves when all of this has happened.
   *
   * @throws TimeoutError after which a page that does not respond is terminated
   */
  setVisible(isVisible: boolean, options?: { timeout?: number }): Promise<void>;

  /**
   * Ends the recording that the option `profile` of {@link goto} started. The trace shows what a profiler of the
   * document itself would show: functions of its window, but neither functions of frames nor of cross-origin scripts
   * that were loaded without CORS. Samples taken while other code ran, or no code, have no stack. If the functions took
   * more than 16 MiB with their names, it ends there, and the page emits `problem`.
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
 * A way to find elements of a page: they are looked for at each call. Its methods are those of {@link Page}, of which
 * each means one element.
 */
export interface Locator {
  page(): Page;
  /** Elements within these. */
  locator(selector: string): Locator;
  /** One of the elements, from 0; from the last one for negative numbers. */
  nth(index: number): Locator;
  first(): Locator;
  last(): Locator;
  /** How many elements there are. Does not wait. */
  count(): Promise<number>;
  /** A locator for each element. Does not wait. */
  all(): Promise<Locator[]>;
  allTextContents(): Promise<string[]>;
  allInnerTexts(): Promise<string[]>;
  /** See {@link Page.waitForSelector}. */
  waitFor(options?: ActionOptions & { state?: 'attached' | 'detached' | 'visible' | 'hidden' }): Promise<void>;
  /** Fills it with nothing. */
  clear(options?: ActionOptions): Promise<void>;
  /** See {@link Page.type}. */
  pressSequentially(text: string, options?: ActionOptions & { delay?: number }): Promise<void>;

  /**
   * Clicks the element, with the events of the mouse. A navigation that this starts has its document when the promise
   * resolves.
   */
  click(options?: ClickOptions): Promise<void>;
  /** Clicks it twice. */
  dblclick(options?: Omit<ClickOptions, 'clickCount'>): Promise<void>;
  /** Moves the mouse over it. */
  hover(options?: Pick<ClickOptions, 'modifiers' | 'position'> & ActionOptions): Promise<void>;
  /** Replaces the value of an input, or the text of an editable element, and fires `input` and `change`. */
  fill(value: string, options?: ActionOptions): Promise<void>;
  /** Types text, a key after the other, with `delay` milliseconds between them. */
  type(text: string, options?: ActionOptions & { delay?: number }): Promise<void>;
  /** Presses a key, such as `a`, `Enter` or `ArrowLeft`, or several at once: `Control+Shift+T`. */
  press(key: string, options?: ActionOptions): Promise<void>;
  /** Checks a checkbox or a radio button by a click, unless it is checked. */
  check(options?: ActionOptions): Promise<void>;
  /** Unchecks a checkbox by a click, unless it is not checked. */
  uncheck(options?: ActionOptions): Promise<void>;
  setChecked(isChecked: boolean, options?: ActionOptions): Promise<void>;
  /**
   * Selects options of a select, as soon as they are there, and none for null. Resolves with the values that are
   * selected.
   */
  selectOption(values: OptionChoice | OptionChoice[] | null, options?: ActionOptions): Promise<string[]>;
  focus(options?: ActionOptions): Promise<void>;
  blur(options?: ActionOptions): Promise<void>;
  /** Fires an event, which bubbles. */
  dispatchEvent(type: string, init?: object, options?: ActionOptions): Promise<void>;

  textContent(options?: ActionOptions): Promise<string | null>;
  /** The text that is visible. */
  innerText(options?: ActionOptions): Promise<string>;
  innerHTML(options?: ActionOptions): Promise<string>;
  /** The value of an input, a textarea or a select. */
  inputValue(options?: ActionOptions): Promise<string>;
  getAttribute(name: string, options?: ActionOptions): Promise<string | null>;
  /** Whether there is an element that its style makes visible. Does not wait for it. */
  isVisible(options?: ActionOptions): Promise<boolean>;
  /** The opposite of {@link isVisible}. */
  isHidden(options?: ActionOptions): Promise<boolean>;
  isChecked(options?: ActionOptions): Promise<boolean>;
  isDisabled(options?: ActionOptions): Promise<boolean>;
  isEnabled(options?: ActionOptions): Promise<boolean>;
  isEditable(options?: ActionOptions): Promise<boolean>;
}

/**
 * Opens pages. The pages of a host share nothing, unless its option `cookies` says so. An open page does not keep the
 * program alive, whatever it does; the promises of methods do until they are settled.
 *
 * The pages are in another process, which is started with the first page, and ends with this one. If it ends before,
 * all pages emit `crash` and are closed, and the next page that is opened is in a new process.
 */
export class PageHost {
  /** @throws Error when jsdom is not found, is not a supported version, or does not support this version of Node */
  constructor(options?: PageHostOptions);
  /** The pages that are open. */
  readonly pages: Page[];
  /** Opens a page. Without a URL it shows an empty document. */
  open(url?: string | URL, options?: OpenOptions): Promise<Page>;
  /** Closes all pages, and ends their process. */
  close(): Promise<void>;
  /** The same, for `await using`. */
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
