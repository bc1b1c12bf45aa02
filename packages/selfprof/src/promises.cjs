'use strict';

// Waiting for promises without the properties of `Promise` that a page can replace: `then`, `finally`, `constructor`,
// `Symbol.species`. `await` reads some of them, too.

const { apply, defineProperty, deleteProperty } = Reflect;
const { then } = Promise.prototype;
/** Without a prototype, it does not inherit what a page has put on `Object.prototype`. @type {PropertyDescriptor} */
const ORDINARY = Object.assign(Object.create(null), { value: undefined, configurable: true });

/**
 * Calls back when a promise is settled. What the functions return is ignored, and they do not throw.
 *
 * @template Value
 * @param {Promise<Value>} promise
 * @param {(value: Value) => void} onFulfilled
 * @param {(reason: unknown) => void} onRejected
 */
function whenSettled(promise, onFulfilled, onRejected) {
  // `then` reads the promise's `constructor` to make another promise. When it is undefined, that is an ordinary one.
  const isOwn = defineProperty(promise, 'constructor', ORDINARY);
  apply(then, promise, [onFulfilled, onRejected]);
  if (isOwn) deleteProperty(promise, 'constructor');
}

module.exports = { whenSettled };
