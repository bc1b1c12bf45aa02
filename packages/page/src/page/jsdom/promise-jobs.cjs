'use strict';

// When a listener of a page returns to the host, the promise jobs are run that are due. In jsdom that happens only when
// the host's task ends. https://html.spec.whatwg.org/multipage/webappapis.html#clean-up-after-running-script

const { thread } = require('../thread/thread.cjs');
const { implementation: EventImpl } = require('jsdom/lib/jsdom/living/events/Event-impl.js');

// jsdom clears this flag when a listener has returned. A function around each listener would be one more frame on its
// stack, of which V8 shows the innermost ten.
Object.defineProperty(EventImpl.prototype, '_inPassiveListenerFlag', {
  configurable: true,
  /** @this {Jsdom.Impl} */
  get() {
    return this._isPassive;
  },
  /** @this {Jsdom.Impl} @param {boolean} isPassive */
  set(isPassive) {
    this._isPassive = isPassive;
    // The page itself dispatches events that are not trusted, so its code is on the stack.
    if (!isPassive && this._dispatchFlag === true && this.isTrusted) thread.runPromiseJobs();
  },
});
