'use strict';

// What is noted of an event when it is made. `timeStamp` is a time of the window's clock: jsdom's constructor assigns
// milliseconds since the Unix epoch.
// https://dom.spec.whatwg.org/#dom-event-timestamp

const { implementation: EventImpl } = require('jsdom/lib/jsdom/living/events/Event-impl.js');

const { thread } = require('../thread/thread.cjs');
const { countEvent } = require('./event-counts.cjs');

Object.defineProperty(EventImpl.prototype, 'timeStamp', {
  configurable: true,
  /** @this {Jsdom.Impl} */
  get() {
    return this._time;
  },
  /** @this {Jsdom.Impl} */
  set() {
    this._time = thread.windows.find(this._globalObject)?.now() ?? 0;
    if (this.isTrusted) countEvent(this._globalObject, this.type);
  },
});
