// Programs of their own, for tests of how a program ends.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { jsdom } from './server.mjs';

/**
 * Runs a program that has `PageHost`, and the folder of `jsdom`.
 *
 * @param {string} source
 * @param {{ timeout?: number, flags?: string[], env?: NodeJS.ProcessEnv }} [options] when it is killed, in
 *   milliseconds, flags of Node, and its environment
 * @returns {Promise<{ code: number | null, signal?: string | null, stdout: string, stderr: string }>}
 */
export function runProgram(source, { timeout = 0, flags = [], env } = {}) {
  const program = `
    import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
    const jsdom = ${JSON.stringify(jsdom)};
    ${source}`;
  return promisify(execFile)(process.execPath, [...flags, '--input-type=module', '-e', program], {
    timeout,
    env,
    killSignal: 'SIGKILL',
  }).then(
    (result) => ({ code: 0, ...result }),
    (error) => error,
  );
}
