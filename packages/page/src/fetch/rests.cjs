'use strict';

// Jobs of Node's decoders keep a thread alive, and so do reads of files. Those of many bodies would follow each other without a break. So that a program
// ends when it has nothing else to do, all of them rest now and then.

const { setTimeout } = require('node:timers');

const now = performance.now.bind(performance);

/** How long they work, in milliseconds. */
const WORK = 50;

/** How long a rest is waited for, in milliseconds. */
const MAX_WAIT = 1_000;

let working = 0;
/** When the first one began after the last rest; 0 if none has. */
let begun = 0;
/** The rest for which those that begin now wait. @type {PromiseWithResolvers<void> | undefined} */
let rest;

/**
 * Has decoders work, or a file read, after a rest if it is time for one.
 *
 * @template Value
 * @param {() => Promise<Value>} work
 * @returns {Promise<Value>}
 */
async function withRests(work) {
  while (rest !== undefined) await rest.promise;
  if (begun === 0) begun = now();
  working += 1;
  try {
    return await work();
  } finally {
    working -= 1;
    if (now() - begun > WORK && rest === undefined) {
      rest = Promise.withResolvers();
      // One that takes long keeps the others no longer.
      setTimeout(endRest, MAX_WAIT).unref();
    }
    if (working === 0 && rest !== undefined) setTimeout(endRest, 0).unref();
  }
}

function endRest() {
  begun = 0;
  rest?.resolve();
  rest = undefined;
}

module.exports = { withRests };
