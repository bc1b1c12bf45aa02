'use strict';

// V8 gives each realm more functions when the program has flags that its developers test with, whenever they are set: with `--expose-gc`, that
// function writes snapshots of the heap to any file. So a realm of a page has the global names of ECMAScript and WebAssembly alone.

const vm = require('node:vm');

const STANDARD = [
  'AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date',
  'DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array',
  'Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set',
  'SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array Uint32Array Uint8Array',
  'Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly console decodeURI decodeURIComponent encodeURI encodeURIComponent escape',
  'eval globalThis isFinite isNaN parseFloat parseInt undefined unescape',
].flatMap((line) => line.split(' '));

// Some can be deleted, and all be replaced.
const script = new vm.Script(
  `Reflect.ownKeys(globalThis).every((name) => {
    // By --expose-gc-as, V8 gives its function any name. Of the functions of the language, none has a prototype that can be replaced.
    const isAdded = Object.getOwnPropertyDescriptor(Object(globalThis[name]), 'prototype')?.writable === true;
    if (${JSON.stringify(STANDARD)}.includes(name)) return !isAdded;
    if (delete globalThis[name]) return true;
    globalThis[name] = undefined;
    return globalThis[name] === undefined;
  })`,
  { filename: __filename },
);

/** Removes what V8's flags have added. @param {object} context in which no page has run */
function removeV8Extensions(context) {
  if (script.runInContext(context) !== true)
    throw new Error('a realm keeps functions that V8 has added to it, as by --expose-gc-as');
}

module.exports = { removeV8Extensions };
