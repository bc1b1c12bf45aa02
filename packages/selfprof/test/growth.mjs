// What a program keeps that repeats something many times: memory, threads, files, handles.

import assert from 'node:assert/strict';

import { REGISTER, runProgram } from './program.mjs';

/**
 * @typedef {object} Growth
 * @property {number} megabytes memory of the process
 * @property {number} heap JavaScript's part of it, in megabytes
 * @property {number} threads
 * @property {number} files
 * @property {number} handles of Node
 */

/**
 * Runs a program, and returns by how much the process has grown between its call of `warm()` and its end.
 *
 * @param {string} source the body of an async function; `gc` and `Profiler` are global
 * @returns {Promise<Growth>}
 */
export async function growthOf(source) {
  const { stdout, stderr, code } = await runProgram(
    `
    const { readdirSync } = require('node:fs');
    const measure = () => {
      gc();
      const { rss, heapUsed } = process.memoryUsage();
      return {
        megabytes: rss / 2 ** 20,
        heap: heapUsed / 2 ** 20,
        threads: readdirSync('/proc/self/task').length,
        files: readdirSync('/proc/self/fd').length,
        handles: process.getActiveResourcesInfo().length,
      };
    };
    let before;
    const warm = () => (before = measure());
    (async () => {
      ${source}
      // V8's profiles are freed in a task of their own.
      await new Promise((resolve) => setTimeout(resolve, 200));
      const after = measure();
      console.log(JSON.stringify(Object.fromEntries(Object.keys(after).map((key) => [key, after[key] - before[key]]))));
    })();
  `,
    {
      execArgv: ['--expose-gc', '--require', REGISTER],
      // Otherwise glibc moves V8's large buffers to its heap, and keeps hundreds of megabytes of free memory.
      env: { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' },
      patience: 300_000,
    },
  );
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}
