'use strict';

// Jobs of Node's decoders keep a thread alive, and those of many bodies would follow each other without a break. So that a program ends when it has
// nothing else to do, all of its decoders rest now and then.

const { setTimeout } = require('node:timers');

const now = performance.now.bind(performance);

/** How long they work, in milliseconds. */
const WORK = 50;

let working = 0;
/** When the first one began after the last rest; 0 if none has. */
let begun = 0;
/** The rest for which those that begin now wait. @type {PromiseWithResolvers<void> | undefined} */
let rest;

/**
 * Has decoders work, after a rest if it is time for one.
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
    if (now() - begun > WORK) rest ??= Promise.withResolvers();
    if (working === 0 && rest !== undefined) setTimeout(endRest, 0).unref();
  }
}

function endRest() {
  begun = 0;
  rest?.resolve();
  rest = undefined;
}

module.exports = { withRests };
