// Every door between realms that trust each other differently: what it takes from the side that a page may have taken over, what it gives
// back, and which tests attack it. doors.test.mjs checks that the list is complete and that the tests exist, and tries hostile values at each
// door of the main realm.
//
// A page can reach every object of its windows' realms and of the DOM realm, so there is no door between these two. The main realms and the
// user's thread are out of its reach.

const COOKIES = ['border.test.mjs: cannot be read or written through the jar of a document'];
const RESPONSES = [
  'border.test.mjs: are not in what it gets for requests that claim to be for an image, a style sheet or anything else',
  'border.test.mjs: need a preflight when they are not simple, whatever the DOM realm says',
];
const REFERRERS = ['border.test.mjs: carry no forged referrer, by elements, scripts, modules, frames or navigations'];
const REASONS = ['border.test.mjs: is told to the user and not to the page'];
const NO_SCRIPTS = [
  'border.test.mjs: is not reached through handlers, links and modules of a document that may not run scripts',
];
const OBJECTS = ["attack.test.mjs: are so also when the host's functions returned or threw them"];
const LATER = ['border.test.mjs: tells nothing by what it throws later'];
const CLONES = ['platform.test.mjs: calls nothing that a page has replaced or added'];
const TRACES = [
  'secrets.test.mjs: does not see muted scripts or host code while its trace is built',
  'poisoned.test.mjs: gets no object of the main realm',
];
const FLOODS = ['host-memory.test.mjs: is not filled by what a page throws, logs, or asks for'];
const WORKERS = [
  'limits.test.mjs: are limited as in windows',
  'host-memory.test.mjs: of the names and URLs of frames and workers is limited',
  ...REASONS,
];
const CLOCK = [
  'border.test.mjs: is not in the times that animation frames, events and loading get',
  'takeover.test.mjs: tick together, so that many of them tell no finer time than one',
];
const ANYTHING = ['thread-messages.test.mjs: may be anything'];

/**
 * Functions of the main realm that the DOM realm calls (main-realm/dom-bridge.cjs). `call` is an example of its parameters, as an array
 * literal in the page.
 */
export const FROM_DOM_REALM = {
  timeOrigin: { takes: 'nothing', gives: 'when the thread was started', attacks: CLOCK },
  now: { takes: 'nothing', gives: 'the coarse time since then', call: '[]', attacks: CLOCK },
  postToHost: {
    takes: 'JSON of a message, and the record of a value; messages are listed below',
    gives: "whether there was room for the message, of which the user's thread gets a copy",
    call: `[JSON.stringify({ type: 'post', from: 0, to: { thread: 1, frame: 0 }, targetOrigin: '*' }), { bytes: new ArrayBuffer(4), tag: 'tag', buffers: [], ports: [], objects: [] }]`,
    attacks: [...ANYTHING, ...FLOODS, 'thread-messages.test.mjs: may have any record'],
  },
  enter: { takes: 'a function, which it calls', gives: 'nothing', call: '[() => {}]', attacks: OBJECTS },
  setTimer: { takes: 'a function and a delay', gives: 'a number', call: '[() => {}, 1, false]', attacks: OBJECTS },
  clearTimer: { takes: 'a number', gives: 'nothing', call: '[1]', attacks: OBJECTS },
  setImmediate: { takes: 'a function', gives: 'nothing', call: '[() => {}]', attacks: OBJECTS },
  runPromiseJobs: {
    takes: 'nothing',
    gives: 'nothing',
    call: '[]',
    attacks: [...OBJECTS, 'events.test.mjs: are not run in the middle of a script, whatever it calls'],
  },
  decode: {
    takes: 'bytes and a label',
    gives: 'text',
    call: "['utf-8', true, true, new Uint8Array(2)]",
    attacks: OBJECTS,
  },
  encodeInto: {
    takes: 'text and memory to fill',
    gives: 'nothing',
    call: "['x', new Uint8Array(2)]",
    attacks: OBJECTS,
  },
  utf8Length: { takes: 'text', gives: 'a number', call: "['x']", attacks: OBJECTS },
  atob: { takes: 'text', gives: 'text', call: "['eA==']", attacks: OBJECTS },
  btoa: { takes: 'text', gives: 'text', call: "['x']", attacks: OBJECTS },
  randomFill: { takes: 'memory to fill', gives: 'nothing', call: '[new Uint8Array(2)]', attacks: OBJECTS },
  randomUUID: { takes: 'nothing', gives: 'text', call: '[]', attacks: OBJECTS },
  kindOf: { takes: 'a value', gives: 'the name of its internal slots', call: '[{}]', attacks: CLONES },
  writeValue: {
    takes: 'a value and functions that describe platform objects',
    gives: 'its bytes with a tag',
    call: '[{}, () => false, () => {}, () => {}, () => {}, []]',
    attacks: CLONES,
  },
  readValue: {
    takes: 'bytes with their tag',
    gives: 'the value, in the realm of the last parameter',
    call: "[new ArrayBuffer(4), 'tag', [], [], [], {}]",
    attacks: ['realm/structured-clone.test.mjs: memory is the memory that was written, or the bytes are refused'],
  },
  apply: {
    takes: 'a function, what it is called on, and an array, as a function of the DOM realm',
    gives: 'what the function returns',
    attacks: [...OBJECTS, ...LATER],
  },
  takeMuted: {
    takes: 'a window and what was thrown',
    gives: 'whether a muted script threw it',
    call: "[globalThis, 'text']",
    attacks: [...OBJECTS, ...LATER],
  },
  syntaxErrorPosition: {
    takes: 'what was thrown',
    gives: 'a line and a column',
    call: '[new Error()]',
    attacks: OBJECTS,
  },
  createContext: {
    takes: 'the number of a document that the main realm has, once; 0 is the empty one',
    gives: 'a global object',
    call: '[0, 1]',
    attacks: ['frames.test.mjs: cannot be nested without limit'],
  },
  newNamedProperties: {
    takes: 'a window, an object that inherits from another, and the names that the other is asked for',
    gives: "an object of the window's realm, among its prototypes",
    call: '[window, {}, {}, new Set()]',
    attacks: ['border.test.mjs: tells no names in it, whatever a page puts among the prototypes of its window'],
  },
  enterWindow: {
    takes: 'a window, once',
    gives: "our code's functions in it",
    call: '[window, {}]',
    attacks: [...CLONES, 'takeover.test.mjs: reads no file through the function that our modules are loaded by'],
  },
  runScript: {
    takes: 'a window and text',
    gives: 'its completion value, if the document may run scripts',
    call: "[window, '1', 'x', 0, 0, '']",
    attacks: NO_SCRIPTS,
  },
  runUserScript: {
    takes: "a window and text of the page's user",
    gives: 'its completion value',
    call: "[window, '1', 'x', 0, '']",
    attacks: NO_SCRIPTS,
  },
  checkFunctionBody: {
    takes: 'a window and text',
    gives: 'nothing, or a SyntaxError of the window',
    call: "[window, 'event', '1']",
    attacks: NO_SCRIPTS,
  },
  runFetchedScript: {
    takes: 'a window and the handle of a script, once',
    gives: 'its completion value; of a muted script, only whether it has thrown',
    call: '[window, 1]',
    attacks: [
      ...NO_SCRIPTS,
      'secrets.test.mjs: that its page redirects to',
      'border.test.mjs: tells nothing by what it throws or returns, even if it is no script',
    ],
  },
  loadModule: {
    takes: 'a window and JSON of a request',
    gives: 'a handle, or that it failed',
    call: "[window, JSON.stringify({ url: location.href, referrer: '', window: 0 }), () => {}]",
    attacks: [...REFERRERS, ...REASONS],
  },
  runModule: {
    takes: 'a window and the handle of a module, once',
    gives: 'nothing',
    call: '[window, 1]',
    attacks: NO_SCRIPTS,
  },
  registerImportMap: {
    takes: 'a window, the text of an import map and a base URL',
    gives: 'what is wrong with it',
    call: "[window, '{}', location.href]",
    attacks: OBJECTS,
  },
  closeWindow: { takes: 'a window', gives: 'nothing', call: '[{}]', attacks: OBJECTS },
  fetchScript: {
    takes: 'JSON of a request',
    gives: 'a handle and whether the script is muted, or that it failed; never its text',
    call: "[JSON.stringify({ url: location.href, mode: 'no-cors', window: 0 }), () => {}]",
    attacks: [...REFERRERS, ...REASONS],
  },
  fetchFrame: {
    takes:
      'JSON of a request: the URL, the sandbox attribute and the document of about:srcdoc, or a ticket of the main realm',
    gives: 'the document if it has the origin of the thread, the address of a window otherwise, or that it failed',
    call: "[JSON.stringify({ url: location.href, window: 0, frame: 1, sandbox: null, initiator: 'iframe' }), () => {}]",
    attacks: [
      ...REFERRERS,
      'border.test.mjs: is not that of frames in a sandboxed frame, however they are opened',
      'border.test.mjs: of a frame by itself are its own requests, without the cookies of the page around',
      'host-memory.test.mjs: is not filled by frames that load for ever',
    ],
  },
  callingWindow: {
    takes: 'nothing',
    gives: 'the global object of the window whose script is on the stack',
    call: '[]',
    attacks: [...OBJECTS, 'windows.test.mjs: says which window sent it'],
  },
  describeWindow: {
    takes: 'a window',
    gives: 'JSON of what its document may know of itself',
    call: '[window]',
    attacks: CLOCK,
  },
  useDocument: {
    takes: 'a window and the number of a document that the main realm has, once',
    gives: 'nothing',
    call: '[window, 99]',
    attacks: ['profiler.test.mjs: is decided for each frame by its own headers'],
  },
  fetch: {
    takes: 'JSON of a request, and bytes',
    gives: 'the response as the page may see it, the size of an image, the text of a style sheet, or that it failed',
    call: "[JSON.stringify({ url: location.href, mode: 'cors', destination: 'image', window: 0 }), new Uint8Array(1), () => {}]",
    attacks: [...RESPONSES, ...REFERRERS, ...REASONS],
  },
  abortFetch: { takes: 'a number', gives: 'nothing', call: '[1]', attacks: OBJECTS },
  createObjectUrl: {
    takes: 'bytes and a type',
    gives: 'a URL',
    call: "[new Uint8Array(1), 'text/plain']",
    attacks: ['platform.test.mjs: cannot be used by other origins'],
  },
  revokeObjectUrl: {
    takes: 'a URL',
    gives: 'nothing',
    call: "['blob:x']",
    attacks: ['platform.test.mjs: cannot be used by other origins'],
  },
  newPipes: {
    takes: 'a function',
    gives: 'two ports of the DOM realm, to that function',
    call: '[() => {}]',
    attacks: [...OBJECTS, 'thread-messages.test.mjs: have nothing of Node but three methods'],
  },
  startWorker: {
    takes: 'a window and JSON of a request',
    gives: 'a port of the DOM realm, and later that it failed',
    call: "[window, JSON.stringify({ url: '/none' }), () => {}, () => {}]",
    attacks: WORKERS,
  },
  endWorker: { takes: 'a number', gives: 'nothing', call: '[1]', attacks: WORKERS },
  importScript: {
    takes: 'a URL',
    gives: 'a handle and whether the script is muted, or that it failed',
    call: "['http://127.0.0.1:1/']",
    attacks: ['secrets.test.mjs: shows nothing of muted scripts that it imports', ...REASONS],
  },
  closeWorker: {
    takes: 'nothing',
    gives: 'nothing; the thread of a worker ends',
    call: '[]',
    attacks: ['workers.test.mjs: closes itself', 'takeover.test.mjs: is not ended as if it were a worker'],
  },
  getCookies: {
    takes: 'a window, and a URL of its origin',
    gives: 'the cookies that scripts of the document may read',
    call: '[window, location.href]',
    attacks: COOKIES,
  },
  setCookie: {
    takes: 'a window, a URL of its origin, and the text of a cookie',
    gives: 'nothing',
    call: "[window, location.href, 'a=1']",
    attacks: [
      ...COOKIES,
      'limits.test.mjs: of a domain are limited in number and size, whether scripts or responses set them',
    ],
  },
};

/** Functions of the main realm that our code in a window calls (main-realm/window-native.cjs). A page cannot get them. */
export const FROM_WINDOW_REALM = {
  timelineMethods: { takes: 'nothing', gives: 'JSON of names', attacks: TRACES },
  listen: { takes: 'two functions', gives: 'nothing', attacks: TRACES },
  listenToLongTasks: {
    takes: 'a function',
    gives: 'whole milliseconds, to that function',
    attacks: ['observers.test.mjs: long tasks'],
  },
  listenToResources: {
    takes: 'a function',
    gives: 'JSON of how long a resource took, to that function',
    attacks: [
      'resource-timing.test.mjs: of another origin show only how long they took, unless the origin allows more',
    ],
  },
  heapSizes: {
    takes: 'nothing',
    gives: 'JSON of three numbers, which are coarse',
    attacks: ['windows.test.mjs: tell the size of the heap in steps, and rarely'],
  },
  offers: { takes: 'nothing', gives: 'JSON of what profilers can do', attacks: TRACES },
  newChunks: { takes: 'nothing', gives: 'a number', attacks: TRACES },
  openSession: {
    takes: 'the options of a profiler',
    gives: 'JSON of the session, or why there is none',
    attacks: [
      'profiler.test.mjs: more than a hundred profilers at once',
      'profiler.test.mjs: more memory for samples than its host allows',
    ],
  },
  closeSession: {
    takes: 'a session of this window, and marks and measures that it has collected',
    gives: 'the trace, as objects of the window',
    attacks: [...TRACES, 'border.test.mjs: are not seen or broken by a page that replaces what promises are made of'],
  },
  takeChunk: { takes: 'a session and its chunks', gives: 'a chunk, as objects of the window', attacks: TRACES },
  abandon: { takes: 'a session of this window', gives: 'nothing', attacks: TRACES },
  releaseReadProfiles: { takes: 'nothing', gives: 'nothing', attacks: TRACES },
  newTimeline: { takes: 'a time, a resolution and two limits', gives: 'a number', attacks: CLOCK },
  timelineCalls: {
    takes: 'a timeline of this window',
    gives: "the addon's functions for each entry",
    attacks: OBJECTS,
  },
  callTimeline: {
    takes: 'a timeline of this window, a method and its parameters',
    gives: 'data of the window',
    attacks: OBJECTS,
  },
};

/** Functions of the DOM realm that the main realm calls (dom-realm/dom-program.cjs): what they return is not to be trusted. */
export const INTO_DOM_REALM = {
  allocate: { takes: 'memory to fill', gives: 'a length', attacks: CLONES },
  receive: { takes: 'nothing', gives: "a message of the user's thread", attacks: OBJECTS },
  open: { takes: 'nothing', gives: 'JSON of a document, and its bytes or a port', attacks: OBJECTS },
  start: { takes: 'nothing', gives: 'nothing', attacks: OBJECTS },
  setVisible: { takes: 'nothing', gives: 'whether the page is in the foreground', attacks: OBJECTS },
  unload: {
    takes: 'nothing',
    gives: 'nothing',
    attacks: [...OBJECTS, 'unloading.test.mjs: cannot keep its page from leaving'],
  },
  navigateFrame: {
    takes: 'nothing',
    gives: "a frame's number and a ticket",
    attacks: [
      'border.test.mjs: of a frame by itself are its own requests, without the cookies of the page around',
      'border.test.mjs: of a frame by itself do not tell their URLs to the page around',
    ],
  },
  report: { takes: 'nothing', gives: 'what code of the page threw', attacks: OBJECTS },
  reject: { takes: 'nothing', gives: 'what a promise of the page was rejected with', attacks: OBJECTS },
};

/** Messages of a DOM realm to the user's thread, by type (host/thread-handle.cjs, host/agent-threads.cjs, host/page-events.cjs). */
export const MESSAGES_OF_DOM_REALM = {
  evaluated: {
    takes: 'the outcome of a script: a record, JSON, or an error',
    gives: "the result of the user's `evaluate`",
    attacks: ['loading.test.mjs: works in a page that replaced its intrinsics'],
  },
  post: {
    takes: 'a record for a window of another thread, and the origin that it is for',
    gives: "the message, with the sender and its origin as the user's thread knows them",
    attacks: ['frames.test.mjs: exchanges messages with its page, with correct origins', ...ANYTHING],
  },
  window: {
    takes: 'the number of a window, its parent and its URL',
    gives: 'an entry of `page.frames()`',
    attacks: FLOODS,
  },
  'window at': { takes: 'the number of a window and its URL', gives: 'the same', attacks: [...FLOODS, ...ANYTHING] },
  'window closed': { takes: 'the number of a window', gives: 'the same', attacks: [...FLOODS, ...ANYTHING] },
  'close remote': {
    takes: 'the number of a frame element of the thread',
    gives: 'nothing',
    attacks: [...FLOODS, ...ANYTHING],
  },
  navigate: {
    takes: 'a URL and a referrer',
    gives: 'a navigation in the name of the document that the thread was started for',
    attacks: [
      ...REFERRERS,
      'border.test.mjs: of a page from disk cannot be reached by a frame of the network in it',
      'loading.test.mjs: lets no page from the network navigate to a file',
      'thread-messages.test.mjs: of a worker do not navigate the page',
      ...ANYTHING,
    ],
  },
  storage: {
    takes: 'an item of localStorage or sessionStorage',
    gives: 'the item to later documents of the origin that the thread has',
    attacks: [
      'storage.test.mjs: is not that of other origins, whoever claims it',
      'storage.test.mjs: counts against what the page may buffer',
      ...FLOODS,
      ...ANYTHING,
    ],
  },
  DOMContentLoaded: {
    takes: 'the number of a window',
    gives: 'an event of the page',
    attacks: [...FLOODS, ...ANYTHING],
  },
  load: { takes: 'the number of a window', gives: 'an event of the page', attacks: [...FLOODS, ...ANYTHING] },
  console: {
    takes: 'two texts',
    gives: 'an event of the page',
    attacks: ['loading.test.mjs: does not let a page flood its user', ...FLOODS],
  },
  exception: { takes: 'texts and numbers', gives: 'an event of the page', attacks: [...FLOODS, ...ANYTHING] },
  problem: { takes: 'texts', gives: 'an event of the page', attacks: [...FLOODS, ...ANYTHING] },
};
