// What tests of pages that have taken over the DOM realm share.

/**
 * Runs in a window or a worker. Gets a channel of the DOM realm's, and a function that sends a message to the user's thread.
 */
export function takeOver() {
  let root = Headers.prototype;
  for (let next = root; next !== null; next = Object.getPrototypeOf(next)) root = next;
  const DomObject = root.constructor;
  const DomArray = DomObject.keys({}).constructor;
  const iterator = DomArray.prototype[Symbol.iterator];
  let channels;
  DomArray.prototype[Symbol.iterator] = function () {
    if (this[0]?.pipe !== undefined) channels = [this[0], this[1]];
    return iterator.call(this);
  };
  new MessageChannel();
  DomArray.prototype[Symbol.iterator] = iterator;
  const [{ pipe }] = channels;
  const prototype = Object.getPrototypeOf(pipe);
  const post = (message) => {
    // The message is replaced where its JSON is made.
    DomObject.prototype.toJSON = function () {
      return this.type === 'console' ? message : this;
    };
    console.log('replaced');
    delete DomObject.prototype.toJSON;
  };
  return { DomObject, channels, pipe, prototype, post };
}

/** What reaches nobody but the process until the test ends. @returns {unknown[]} */
export function uncaught(t) {
  const thrown = [];
  const note = (error) => thrown.push(error);
  process.on('uncaughtException', note);
  t.after(() => process.off('uncaughtException', note));
  return thrown;
}
