'use strict';

// Numbers that all threads of a page share, and read and write by `Atomics`.

/** Where each of them is. */
const PAGE_STATE = {
  /** 1 when a thread of the page has made a resizable buffer. */
  hasResizable: 0,
  /** The page's number in this process. */
  number: 1,
  /** How many types of WebAssembly the page was the first in the process to use. */
  wasmTypes: 2,
  /** 1 while the page's user decides about requests. */
  isIntercepted: 3,
};

/** @param {number} number of the page */
function newPageState(number) {
  const state = new Int32Array(new SharedArrayBuffer(4 * Object.keys(PAGE_STATE).length));
  state[PAGE_STATE.number] = number;
  return state;
}

module.exports = { PAGE_STATE, newPageState };
