'use strict';

// Work that pages cause in sum: messages of their threads, and the cookies of requests and responses that come together. A thread does it in slices of
// time, and other things in between.

const { AsyncResource } = require('node:async_hooks');
const { setTimeout } = require('node:timers');

const { TimeShares } = require('./time-shares.cjs');

const now = performance.now.bind(performance);

/** How long a slice lasts, and until the next one begins, in milliseconds. */
const SLICE = 10;
const PAUSE = 1;

/** A piece of work; whether there is more. @typedef {() => boolean} Job */

/** What is to be done. @type {TimeShares<Job>} */
const jobs = new TimeShares();

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
      if (!jobs.isEmpty) work();
    }, PAUSE).unref();
  }
  isWorking = true;
  try {
    let begun = now();
    for (let next = jobs.next(); next !== undefined && begun < end; next = jobs.next()) {
      const [owner, job] = next;
      // At the end, also if a listener of the user throws.
      jobs.putLast(owner, job);
      if (!job()) jobs.remove(owner, job);
      const time = now();
      jobs.charge(owner, time - begun);
      begun = time;
    }
  } finally {
    isWorking = false;
  }
}

/**
 * Does a job, beginning now if the slice has time. It is no other job if it waits already.
 *
 * @param {Job} job
 * @param {object} [owner] such as the page for which it is done
 */
function add(job, owner = NOBODY) {
  jobs.add(owner, job);
  work();
}

/** @param {Job} job that is not done any more @param {object} [owner] */
function remove(job, owner = NOBODY) {
  jobs.remove(owner, job);
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
  // In a slice, it would have the async context of whatever has begun that.
  const inContext = AsyncResource.bind(call);
  return new Promise((resolve, reject) => {
    add(() => {
      try {
        resolve(inContext());
      } catch (error) {
        reject(error);
      }
      return false;
    }, owner);
  });
}

module.exports = { add, inSlices, remove };
