'use strict';

// Work that pages cause in sum: messages of their threads, and the cookies of requests and responses that come together. A thread does it in slices of
// time, and other things in between.

const { setTimeout } = require('node:timers');

const now = performance.now.bind(performance);

/** How long a slice lasts, and until the next one begins, in milliseconds. */
const SLICE = 10;
const PAUSE = 1;

/** A piece of work; whether there is more. @typedef {() => boolean} Job */

/**
 * Whose work it is: of those who wait, the one whose jobs have taken least has the next turn.
 *
 * @typedef {object} Share
 * @property {Set<Job>} jobs the one that has waited longest is the first
 * @property {number} taken in milliseconds, as long as there are jobs
 */

/** What is to be done, by owner. @type {Map<object, Share>} */
const shares = new Map();

/** Owns what nobody does. */
const NOBODY = {};

/** When the slice ends; 0 before the next one. */
let end = 0;
let isWorking = false;

/** Does a piece of each job after the other, until there is none or the slice ends. */
function work() {
  if (isWorking) return;
  if (end === 0) {
    end = now() + SLICE;
    // A page does not keep the program alive. An immediate that does not either would wait until the program has something to do.
    setTimeout(() => {
      end = 0;
      if (shares.size > 0) work();
    }, PAUSE).unref();
  }
  isWorking = true;
  try {
    for (let begun = now(); begun < end && shares.size > 0; ) {
      const [owner, share] = nextShare();
      const [job] = share.jobs;
      share.jobs.delete(job);
      // At the end, also if a listener of the user throws.
      share.jobs.add(job);
      if (!job()) remove(job, owner);
      const time = now();
      share.taken += time - begun;
      begun = time;
    }
  } finally {
    isWorking = false;
  }
}

/** @returns {[owner: object, share: Share]} */
function nextShare() {
  let [next] = shares;
  for (const entry of shares) if (entry[1].taken < next[1].taken) next = entry;
  return next;
}

/**
 * Does a job, beginning now if the slice has time. It is no other job if it waits already.
 *
 * @param {Job} job
 * @param {object} [owner] such as the page for which it is done
 */
function add(job, owner = NOBODY) {
  let share = shares.get(owner);
  if (share === undefined) {
    // What it did not use before does not count.
    const taken = Array.from(shares.values(), (other) => other.taken);
    share = { jobs: new Set(), taken: taken.length === 0 ? 0 : Math.min(...taken) };
    shares.set(owner, share);
  }
  share.jobs.add(job);
  work();
}

/** @param {Job} job that is not done any more @param {object} [owner] */
function remove(job, owner = NOBODY) {
  const share = shares.get(owner);
  share?.jobs.delete(job);
  if (share?.jobs.size === 0) shares.delete(owner);
}

/**
 * Calls a function, now or in a later slice.
 *
 * @template Value
 * @param {() => Value} call
 * @param {object} [owner]
 * @returns {Promise<Value>}
 */
function inSlices(call, owner) {
  return new Promise((resolve, reject) => {
    add(() => {
      try {
        resolve(call());
      } catch (error) {
        reject(error);
      }
      return false;
    }, owner);
  });
}

module.exports = { add, inSlices, remove };
