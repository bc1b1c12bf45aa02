'use strict';

// Work that pages cause in sum: messages of their threads, and the cookies of requests and responses that come together. A thread does it in slices of
// time, and other things in between.

const { setTimeout } = require('node:timers');

const now = performance.now.bind(performance);

/** How long a slice lasts, and until the next one begins, in milliseconds. */
const SLICE = 10;
const PAUSE = 1;

/** A piece of work; whether there is more. @typedef {() => boolean} Job */

/** What is to be done: the one that has waited longest is the first. @type {Set<Job>} */
const jobs = new Set();

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
      if (jobs.size > 0) work();
    }, PAUSE).unref();
  }
  isWorking = true;
  try {
    while (now() < end && jobs.size > 0) {
      const [job] = jobs;
      jobs.delete(job);
      // At the end, also if a listener of the user throws.
      jobs.add(job);
      if (!job()) jobs.delete(job);
    }
  } finally {
    isWorking = false;
  }
}

/** Does a job, beginning now if the slice has time. It is no other job if it waits already. @param {Job} job */
function add(job) {
  jobs.add(job);
  work();
}

/** @param {Job} job that is not done any more */
function remove(job) {
  jobs.delete(job);
}

/**
 * Calls a function, now or in a later slice.
 *
 * @template Value
 * @param {() => Value} call
 * @returns {Promise<Value>}
 */
function inSlices(call) {
  return new Promise((resolve, reject) => {
    add(() => {
      try {
        resolve(call());
      } catch (error) {
        reject(error);
      }
      return false;
    });
  });
}

module.exports = { add, inSlices, remove };
